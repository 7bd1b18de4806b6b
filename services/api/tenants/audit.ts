import { Readable } from 'node:stream';
import { z } from 'zod';
import {
  actorKinds,
  type AuditFilter,
  auditOrigins,
  auditOutcomes,
  type AuditPorts,
  describeAction,
  isAuditId,
  iterateAudit,
  type StoredAuditEntry,
} from '#shared/audit/index.ts';
import { type Answer, pageLimitSchema, route, type Route } from '#shared/http/index.ts';
import { instantSchema } from '#shared/time/index.ts';
import { answerList, nextCursorSchema } from '../lists.ts';

const EXAMPLE = {
  id: '1777626000000-0',
  at: '2026-05-01T09:00:00.000Z',
  actor: { kind: 'key' as const, id: 'key_3f9c2a', name: 'ci', tenant: null },
  via: 'cli' as const,
  from: '192.0.2.7',
  action: 'cancelTask',
  actionText: 'cancelled a task',
  object: 'tasks/01KQS1C8ZV0G3P5T7W9X1Y2Z3A',
  fields: ['reason'],
  outcome: 'done' as const,
  code: null,
};

const entrySchema = z
  .strictObject({
    id: z.string().meta({ description: 'Orders the entries of a tenant.' }),
    at: z.iso.datetime().meta({ description: 'When it was done.' }),
    actor: z
      .strictObject({
        kind: z
          .enum(actorKinds)
          .meta({ description: 'An API key, a person of the identity provider, a visitor, a person in a chat, or an agent.' }),
        id: z
          .string()
          .meta({ description: 'Of the key, the person, the visitor, of the person at the platform, or of the task of the agent.' }),
        name: z.string().meta({ description: 'For people.' }),
        tenant: z.string().nullable().meta({ description: "The actor's own tenant, where it acted for this one; else null." }),
      })
      .meta({ id: 'AuditActor', description: 'Who.' }),
    via: z.enum(auditOrigins).meta({ description: 'By what.' }),
    from: z.string().nullable().meta({ description: 'The address that it came from, the surface of a chat, or the task of an agent.' }),
    action: z.string().meta({ description: 'The `operationId`, or a name such as `signIn`, `boardRetry`, `chatStop`, `agentSchedule`.' }),
    actionText: z.string().meta({ description: 'The same for people, as in `cancelled a task`.' }),
    object: z.string().nullable().meta({ description: 'What it was done to, as in the path of the API.' }),
    fields: z.array(z.string()).meta({ description: 'Names of the fields that were sent; their values are not kept.' }),
    outcome: z.enum(auditOutcomes).meta({ description: '`refused` by a rule, `failed` by a fault.' }),
    code: z.string().nullable().meta({ description: 'Code of the refusal.' }),
  })
  .meta({ id: 'AuditEntry', examples: [EXAMPLE] });

const listSchema = z
  .strictObject({
    items: z.array(entrySchema).meta({ description: 'Newest first. A page may be empty and have a cursor, where few entries fit.' }),
    nextCursor: nextCursorSchema,
  })
  .meta({ id: 'AuditList' });

const text = z.string().min(1).max(200).optional();
const querySchema = z.strictObject({
  who: text.meta({ description: 'Id of who acted, or part of the name.' }),
  action: text.meta({ description: 'The action, such as `cancelTask`.' }),
  object: text.meta({ description: 'What the object begins with, such as `tasks/` or `schedules/01K`.' }),
  outcome: z.enum(auditOutcomes).optional().meta({ description: 'Only of this outcome.' }),
  q: text.meta({ description: 'Part of the actor, action (also as people read it), object, address, code or field names.' }),
  since: instantSchema.optional().meta({ description: 'Done at or after.' }),
  until: instantSchema.optional().meta({ description: 'Done before.' }),
  limit: pageLimitSchema,
  cursor: z
    .string()
    .max(50)
    .refine(isAuditId, 'expected the nextCursor of the page before')
    .optional()
    .meta({ description: '`nextCursor` of the page before.' }),
  format: z.enum(['json', 'ndjson']).optional().meta({ description: '`ndjson`: all entries that fit, one a line, without pages.' }),
});

/** Entries that one page looks at. */
const MAX_LOOKED_AT = 5000;
const PAGE = 500;

/** `GET /v1/audit`. */
export function getAudit(ports: AuditPorts): Route {
  return route({
    method: 'get',
    path: '/v1/audit',
    operationId: 'listAudit',
    summary: 'Who changed what, when, from where',
    description: 'Entries of your tenant. With `format=ndjson` the answer is `application/x-ndjson`: the export.',
    scope: 'admin',
    request: { query: querySchema },
    responses: { 200: listSchema },
    handle: async ({ query: { format, limit, cursor, since, until, ...rest } }, { tenant }) => {
      const times = {
        since: since === undefined ? undefined : Date.parse(since),
        until: until === undefined ? undefined : Date.parse(until),
      };
      const filter = { ...rest, ...times, before: cursor };
      return format === 'ndjson' ? exportAudit(ports, tenant, filter) : await answerPage(ports, tenant, { filter, limit });
    },
  });
}

async function answerPage(ports: AuditPorts, tenant: string, { filter, limit }: { filter: AuditFilter; limit: number }): Promise<Answer> {
  const found: AuditView[] = [];
  let lookedAt = 0;
  for await (const { entries, lastId } of iterateAudit(ports, tenant, filter)) {
    found.push(...entries.map((entry) => viewEntry(entry)));
    lookedAt += PAGE;
    if (found.length > limit) break;
    if (lookedAt >= MAX_LOOKED_AT) return answerList(found, { next: lastId });
  }
  const next = found.length > limit ? (found[limit - 1]?.id ?? null) : null;
  return answerList(found.slice(0, limit), { next });
}

function exportAudit(ports: AuditPorts, tenant: string, filter: AuditFilter): Answer {
  const headers = { 'Content-Type': 'application/x-ndjson; charset=utf-8', 'Content-Disposition': 'attachment; filename="audit.ndjson"' };
  return { status: 200, headers, stream: Readable.from(linesOf(ports, tenant, filter)) };
}

async function* linesOf(ports: AuditPorts, tenant: string, filter: AuditFilter): AsyncGenerator<string> {
  for await (const { entries } of iterateAudit(ports, tenant, filter)) {
    yield entries.map((entry) => `${JSON.stringify(viewEntry(entry))}\n`).join('');
  }
}

type AuditView = z.infer<typeof entrySchema>;
function viewEntry({ at, actor, ...entry }: StoredAuditEntry): AuditView {
  return {
    ...entry,
    actionText: describeAction(entry.action),
    at: new Date(at).toISOString(),
    actor: { ...actor, tenant: actor.tenant ?? null },
  };
}
