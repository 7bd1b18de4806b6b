import { z } from 'zod';
import { agentIdSchema } from '#shared/config/agent-definitions.ts';
import { SOURCES } from '#shared/config/settings.ts';
import { route, type Route } from '#shared/http/route.ts';
import { listTasks, type TaskFilter } from '#shared/ledger/list-tasks.ts';
import type { Parts } from '#shared/lifecycle/open-parts.ts';
import { TASK_ID } from '#shared/tasks/task-id.ts';
import { taskRecord } from '#shared/tasks/task-record.ts';
import { instantSchema } from '#shared/time/instant-schema.ts';
import { pageLimitSchema } from '#shared/http/page-limit.ts';
import { taskStatusSchema, taskViewSchema } from './task-view.ts';

const text = z.string().min(1).max(200);

/** Strict, because a filter with a typing error would otherwise find everything. */
const querySchema = z.strictObject({
  status: taskStatusSchema.optional(),
  agent: agentIdSchema.optional(),
  source: z.enum(SOURCES).optional(),
  session: text.optional(),
  schedule: text.optional(),
  correlation: text.optional(),
  parent: text.optional(),
  since: instantSchema.optional().meta({ description: 'Accepted at or after.' }),
  until: instantSchema.optional().meta({ description: 'Accepted before.' }),
  q: text.optional().meta({ description: 'Text in the input, output, id, session or error.' }),
  limit: pageLimitSchema,
  cursor: z.string().regex(TASK_ID, 'expected the nextCursor of the page before').optional(),
});

/** `GET /v1/tasks`, newest first. A page may be short, even empty, while `nextCursor` says that there is more. */
export function getTasks({ ledger }: Parts): Route {
  return route({
    method: 'get',
    path: '/v1/tasks',
    summary: 'List tasks, newest first',
    description: 'A page may be short while `nextCursor` says that there is more: rare matches, and long tasks, take several pages.',
    scope: 'read',
    request: { query: querySchema },
    responses: { 200: z.strictObject({ items: z.array(taskViewSchema), nextCursor: z.string().nullable() }) },
    handle: async ({ query: { limit, cursor, ...filter } }, { tenant }) => {
      const { items, next } = await listTasks(ledger, tenant, filterOf(filter), { limit, before: cursor });
      return { status: 200, body: { items: items.map((task) => taskRecord(task)), nextCursor: next } };
    },
  });
}

function filterOf({ since, until, ...rest }: Omit<z.infer<typeof querySchema>, 'limit' | 'cursor'>): TaskFilter {
  const filter: TaskFilter = {};
  if (since !== undefined) filter.since = Date.parse(since);
  if (until !== undefined) filter.until = Date.parse(until);
  return Object.assign(filter, rest);
}
