import { z } from 'zod';
import { agentIdSchema } from '#shared/config/index.ts';
import { hookPrioritySchema } from './hook-priority.ts';
import { hookOptionsSchema, optionsProblem, PROVIDER_NAMES, secretProblem } from './providers/registry.ts';
import { parseProblem } from './templates/parse-template.ts';

/** Mustache over `{ event, delivery, payload }`. What is too long is not parsed. */
const template = (maxCharacters: number): z.ZodString =>
  z
    .string()
    .min(1)
    .max(maxCharacters, { abort: true, error: `expected at most ${maxCharacters} characters` });

/** For templates as they are written: what Redis has was checked then. */
function checkTemplate(text: string | null, context: z.RefinementCtx): void {
  const problem = text === null ? null : parseProblem(text);
  if (problem) context.addIssue({ code: 'custom', message: problem });
}

const fields = {
  /** For people. */
  name: z.string().min(1).max(120).nullable(),
  /** Who sends, and so how it proves it. `none` takes everything from anybody who knows the address. */
  provider: z.enum(PROVIDER_NAMES),
  /** Written, never read back. For `standard` in its own form, `whsec_...`. */
  secret: z.string().min(1).max(1024).regex(/\S/, 'expected more than spaces').nullable(),
  /** For `hmac` how it is signed; for `hmac` and `none` which headers name event and delivery; for `github` and `hmac` what equal bodies are. */
  options: hookOptionsSchema.nullable(),
  agent: agentIdSchema,
  /** Becomes the task's input. Null: the event's name and the payload. */
  template: template(16_384).nullable(),
  /** Becomes the task's session. Null, or a template that renders to nothing: no session. */
  session: template(500).nullable(),
  priority: hookPrioritySchema.nullable(),
  /** A disabled hook answers like one that does not exist. */
  enabled: z.boolean(),
};

const written = {
  ...fields,
  template: fields.template.superRefine(checkTemplate),
  session: fields.session.superRefine(checkTemplate),
};

const draft = z.strictObject({
  ...written,
  name: fields.name.default(null),
  secret: fields.secret.default(null),
  options: fields.options.default(null),
  template: written.template.default(null),
  session: written.session.default(null),
  priority: fields.priority.default(null),
  enabled: fields.enabled.default(true),
});
export type HookDraft = z.infer<typeof draft>;

/** A hook as its maker writes it; also what a hook has to be after a change. */
export const hookDraftSchema = draft.superRefine((hook, context) => {
  const problems = { secret: secretProblem(hook.provider, hook.secret), options: optionsProblem(hook.provider, hook.options) };
  const [path, message] = Object.entries(problems).find(([, problem]) => problem !== null) ?? [];
  if (path && message) context.addIssue({ code: 'custom', path: [path], message });
});

/** What may change, each part by itself. With another `provider` comes its `secret`. */
export const hookPatchSchema = z.strictObject(written).partial();
export type HookPatch = z.infer<typeof hookPatchSchema>;

/** What every id of a hook looks like; anything else cannot be one. */
export const HOOK_ID: RegExp = /^[0-9A-HJKMNP-TV-Z]{26}$/;

const stamps = { createdAt: z.iso.datetime(), updatedAt: z.iso.datetime() };

/** A hook as Redis keeps it. */
export const hookSchema = z.object({ ...fields, id: z.string().regex(HOOK_ID), tenant: z.string(), ...stamps });
export type Hook = z.infer<typeof hookSchema>;

/** A hook as callers see it. */
export const hookViewSchema = z
  .object({
    ...fields,
    id: z.string(),
    /** Where its sender posts to, on this installation. */
    path: z.string(),
    ...stamps,
  })
  .omit({ secret: true });
export type HookView = z.infer<typeof hookViewSchema>;

/** The hook without its secret and without its tenant, which the caller's key says already. */
export function viewHook({ secret: _secret, tenant: _tenant, ...rest }: Hook): HookView {
  return { ...rest, path: `/hooks/${rest.id}` };
}
