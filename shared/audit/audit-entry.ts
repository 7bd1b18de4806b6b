import { z } from 'zod';
import { type ApiKey, publicTenantId } from '../tenants/index.ts';

export const actorKinds = ['key', 'person', 'visitor', 'chat', 'agent', 'configuration'] as const;
export const auditOrigins = ['api', 'console', 'cli', 'board', 'chat', 'sign-in', 'agent', 'configuration'] as const;
/** `refused`: by a rule, as for a scope that is missing; `failed`: by a fault. */
export const auditOutcomes = ['done', 'refused', 'failed'] as const;

const actorSchema = z.object({
  kind: z.enum(actorKinds),
  id: z.string(),
  name: z.string(),
  /** The actor's own tenant, where it is another than the one that is changed. */
  tenant: z.string().optional(),
});
export type AuditActor = z.infer<typeof actorSchema>;

export const auditEntrySchema = z.object({
  actor: actorSchema,
  via: z.enum(auditOrigins),
  /** The address that the change came from, the platform of a chat, the task of an agent, or the configuration before. */
  from: z.string().nullable(),
  /** What was done: the `operationId` of the API, or a name such as `signIn`, `boardRetry`, `chatStop`. */
  action: z.string(),
  /** What it was done to: a path such as `tasks/01ARZ...`. */
  object: z.string().nullable(),
  /** Names of the fields that were sent, without their values. */
  fields: z.array(z.string()),
  outcome: z.enum(auditOutcomes),
  /** Of the refusal. */
  code: z.string().nullable(),
});
export type AuditEntry = z.infer<typeof auditEntrySchema>;

const MAX_TEXT = 300;
const MAX_FIELDS = 20;
const MAX_FIELD = 60;
/** Keys, visitors' tokens, daemons' tokens and links, should one be where an id belongs. */
const SECRET = /\bm[a-z]_[\w-]{20,}/g;

/** An entry within its bounds, without what looks like a secret. */
export function boundEntry(entry: AuditEntry): AuditEntry {
  const { actor, from, object, fields, action } = entry;
  return {
    ...entry,
    actor: { ...actor, id: bound(actor.id), name: bound(actor.name) },
    from: from === null ? null : bound(from),
    action: bound(action),
    object: object === null ? null : bound(object),
    fields: fields.slice(0, MAX_FIELDS).map((field) => bound(field).slice(0, MAX_FIELD)),
  };
}

function bound(text: string): string {
  return text.slice(0, MAX_TEXT).replaceAll(SECRET, '[redacted]');
}

/** Who acts with a key, in the tenant that is changed. `own`: the tenant of the key itself. */
export function actorOf({ id, name, session, person, tenant }: ApiKey, own = tenant): AuditActor {
  const kind = person ? 'person' : session === undefined ? 'key' : 'visitor';
  return { kind, id, name, ...(own === tenant ? {} : { tenant: publicTenantId(own) }) };
}
