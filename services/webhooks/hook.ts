import { z } from 'zod';
import { eventPriority, type PriorityInput, prioritySchema } from '#shared/tasks/index.ts';
import { MusterError } from '#shared/errors/index.ts';
import { agentIdSchema, lineSchema } from '#shared/config/index.ts';
import { eventNameSchema } from '#shared/waits/index.ts';
import { givenOptionsSchema, hookOptionsSchema, optionsProblems, PROVIDER_NAMES, secretProblem } from './providers/registry.ts';
import { parseProblem } from './templates/parse-template.ts';

const pattern = z.string().regex(/^[\w.*:/-]{1,100}$/, 'expected an event type, with * for any characters');

/** One priority for all events, or one per event type: `{ "payment*": 8, "pull_request": "low" }`. */
export const hookPrioritySchema = z.union([
  prioritySchema,
  z.record(pattern, prioritySchema).refine((rules) => Object.keys(rules).length <= 50, 'expected at most 50 rules'),
]);
type HookPriority = z.infer<typeof hookPrioritySchema>;

/** Mustache over `{ event, delivery, payload }`. What is too long is not parsed. */
const template = (maxCharacters: number): z.ZodString =>
  z
    .string()
    .min(1)
    .max(maxCharacters, { abort: true, error: `expected at most ${maxCharacters} characters` });

/** Checks templates of requests; stored ones were checked before. */
function checkTemplate(text: string | null, context: z.RefinementCtx): void {
  const problem = text === null ? null : parseProblem(text);
  if (problem) context.addIssue({ code: 'custom', message: problem });
}

const fields = {
  /** For people. */
  name: z.string().min(1).max(120).nullable(),
  /** The sender's service, which decides the proof. `none` accepts every request to the address. */
  provider: z.enum(PROVIDER_NAMES),
  /** Written, never read back. For `standard` in its own form, `whsec_...`. */
  secret: z.string().min(1).max(1024).regex(/\S/, 'expected more than spaces').nullable(),
  /** For `hmac` how it is signed; for `hmac` and `none` which headers name event and delivery; for `github` and `hmac` what equal bodies are. */
  options: hookOptionsSchema.nullable(),
  /** Runs the tasks. Null only with an `event`. */
  agent: agentIdSchema.nullable(),
  event: eventNameSchema
    .nullable()
    .describe(
      'Instead of making tasks, sends events of this name to the runs that wait for them, with the payload as data. Null: it makes tasks.',
    ),
  /** Becomes the task's input. Null: the event's name and the payload. */
  template: template(16_384).nullable(),
  /** Becomes the task's session. Null, or a template that renders to nothing or of which a value is missing: no session. */
  session: template(500).nullable(),
  priority: hookPrioritySchema.nullable(),
  /** Whether `/schedule` lines in answers to its events are applied. False: its senders give no orders. */
  directives: z.boolean(),
  /** A disabled hook answers like an unknown one. */
  enabled: z.boolean(),
};

const written = {
  ...fields,
  name: lineSchema.min(1).max(120).nullable(),
  options: givenOptionsSchema.nullable(),
  template: fields.template.superRefine(checkTemplate),
  session: fields.session.superRefine(checkTemplate),
};

const draft = z.strictObject({
  ...written,
  name: written.name.default(null),
  secret: fields.secret.default(null),
  agent: fields.agent.default(null),
  event: fields.event.default(null),
  options: written.options.default(null),
  template: written.template.default(null),
  session: written.session.default(null),
  priority: fields.priority.default(null),
  directives: fields.directives.default(false),
  enabled: fields.enabled.default(true),
});

/** A hook in a request; a changed hook has to fit it, too. */
export const hookDraftSchema = draft.superRefine((hook, context) => {
  const secret = secretProblem(hook.provider, hook.secret, hook.options);
  if (secret !== null) context.addIssue({ code: 'custom', path: ['secret'], message: secret });
  if (hook.agent === null && hook.event === null)
    context.addIssue({ code: 'custom', path: ['agent'], message: 'expected an agent, or the event that it sends' });
  for (const { path, message } of optionsProblems(hook.provider, hook.options))
    context.addIssue({ code: 'custom', path: ['options', ...path], message });
});

/** The fields of a hook that a request gives, with the defaults of its options. */
export type HookDraft = Omit<z.infer<typeof draft>, 'options'> & Pick<Hook, 'options'>;

export function readDraft(given: z.infer<typeof draft>): HookDraft {
  return { ...given, options: fields.options.parse(given.options) };
}

/** The fields that may change. A new `provider` needs its own `secret`. */
export const hookPatchSchema = z
  .strictObject({
    ...written,
    /** Whether a changed secret leaves the former one valid for `webhooks.secretOverlapMs`; `false` ends all former ones at once. */
    keepFormerSecret: z.boolean(),
  })
  .partial();
export type HookPatch = z.infer<typeof hookPatchSchema>;

/** The form of each id of a hook. */
export const HOOK_ID: RegExp = /^[0-9A-HJKMNP-TV-Z]{26}$/;

const stamps = { createdAt: z.iso.datetime(), updatedAt: z.iso.datetime() };

export function hookNotFound(id: string): MusterError {
  return new MusterError('hook.not-found', 'There is no such hook', { details: { hook: id } });
}

/** A secret that another one replaced, and that proves senders until it ends: senders change theirs later. */
const formerSecretSchema = z.strictObject({ secret: z.string(), endsAtMs: z.number() });

/** A hook as Redis keeps it. */
export const hookSchema = z.object({
  ...fields,
  /** Sealed it is longer. */
  secret: z.string().min(1).nullable(),
  directives: fields.directives.default(false),
  event: fields.event.default(null),
  /** Oldest first. */
  formerSecrets: z.array(formerSecretSchema).default([]),
  id: z.string().regex(HOOK_ID),
  tenant: z.string(),
  ...stamps,
});
export type Hook = z.infer<typeof hookSchema>;

/** A hook as callers see it. */
export const hookViewSchema = z
  .object({
    ...fields,
    id: z.string(),
    /** Where its sender posts to, on this installation. */
    path: z.string(),
    /** Until when a former secret is valid too; null for none. */
    formerSecretUntil: z.iso.datetime().nullable(),
    ...stamps,
  })
  .omit({ secret: true })
  .meta({ id: 'Hook' });
type HookView = z.infer<typeof hookViewSchema>;

/** The hook without its secret and without its tenant, which the caller's key says already. */
export function viewHook({ secret: _secret, formerSecrets, tenant: _tenant, ...rest }: Hook, nowMs: number): HookView {
  const endsAtMs = Math.max(...formerSecrets.map((each) => each.endsAtMs));
  return { ...rest, path: `/hooks/${rest.id}`, formerSecretUntil: endsAtMs > nowMs ? new Date(endsAtMs).toISOString() : null };
}

/** The secrets that prove a hook's sender now, the newest first. */
export function validSecrets({ secret, formerSecrets }: Pick<Hook, 'secret' | 'formerSecrets'>, nowMs: number): string[] {
  const former = formerSecrets.filter(({ endsAtMs }) => endsAtMs > nowMs).toReversed();
  return [...(secret === null ? [] : [secret]), ...former.map((each) => each.secret)];
}

/** Each costs a pass over the body. */
const MAX_FORMER = 2;

/** The former secrets of a hook after its secret was changed. The oldest is what senders know; of the others the newest may be in use. */
export function keepFormerSecrets({ secret, formerSecrets }: Hook, nowMs: number, overlapMs: number): Hook['formerSecrets'] {
  const valid = formerSecrets.filter(({ endsAtMs }) => endsAtMs > nowMs);
  const all = secret === null ? valid : [...valid, { secret, endsAtMs: nowMs + overlapMs }];
  return all.filter((_, at) => at === 0 || at > all.length - MAX_FORMER);
}

/**
 * The priority of an event under a hook's rules. The rule with the most literal characters wins. Without a rule that
 * fits, types that name security are `critical`, payment 8, and all others 5.
 */
export function choosePriority(rules: HookPriority | null, eventType: string): PriorityInput {
  if (rules === null) return eventPriority(eventType);
  if (typeof rules !== 'object') return rules;
  const [best] = Object.entries(rules)
    .filter(([key]) => matchesPattern(key, eventType))
    .toSorted(([a], [b]) => literals(b) - literals(a) || (a < b ? -1 : 1));
  return best?.[1] ?? eventPriority(eventType);
}

function literals(key: string): number {
  return key.replaceAll('*', '').length;
}

/** Without `*` a pattern stands for the type and what is below it: `pull_request` for `pull_request.opened`. */
function matchesPattern(key: string, eventType: string): boolean {
  const [first = '', ...rest] = key.split('*');
  const last = rest.pop();
  if (last === undefined) return eventType === key || eventType.startsWith(`${key}.`);
  if (!eventType.startsWith(first)) return false;
  let position = first.length;
  for (const part of rest) {
    const found = eventType.indexOf(part, position);
    if (found === -1) return false;
    position = found + part.length;
  }
  return eventType.length - last.length >= position && eventType.endsWith(last);
}
