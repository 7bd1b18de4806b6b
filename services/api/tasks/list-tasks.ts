import { z } from 'zod';
import { rankTasks, TASK_RANKS } from '#shared/actions/index.ts';
import { pageLimitSchema, route, type Route } from '#shared/http/index.ts';
import { countFacets, type FacetName, FACETS, type Ledger, listTasks, type TaskFilter, type TaskSearch } from '#shared/ledger/index.ts';
import { unreadableOf, unreadableSchema } from '#shared/redis/index.ts';
import { acceptedAt, TASK_ID, taskRecord } from '#shared/tasks/index.ts';
import { toIso } from '#shared/time/index.ts';
import { answerCsv, formatSchema } from '../money/csv.ts';
import { answerList, cursorSchema, nextCursorSchema } from '../lists.ts';
import { filterOf, taskFilterQuery } from './task-filter.ts';
import { taskViewSchema } from './task-view.ts';

const searchSchema = z
  .strictObject({
    scanned: z.int().min(0).meta({ description: 'Tasks that this page checked.' }),
    back: z.iso.datetime().nullable().meta({ description: 'When the last of them was accepted; `nextCursor` continues before it.' }),
  })
  .optional()
  .meta({ description: 'How far this page searched; absent where an index answered it.' });

const taskListSchema = z
  .strictObject({
    items: z.array(taskViewSchema).meta({ description: 'Newest first. A task whose id is `q` comes first.' }),
    nextCursor: nextCursorSchema,
    unreadable: unreadableSchema,
    search: searchSchema,
  })
  .meta({ id: 'TaskList' });

const sortSchema = z
  .enum(TASK_RANKS)
  .optional()
  .meta({ description: 'The largest first, among the newest `limits.maxPreviewed` tasks, on one page; by default the newest first.' });

/** `GET /v1/tasks`, newest first. A page may be short, even empty, while `nextCursor` says that there is more. */
export function getTasks({ ledger }: { readonly ledger: Ledger }): Route {
  return route({
    method: 'get',
    path: '/v1/tasks',
    operationId: 'listTasks',
    summary: 'List tasks, newest first',
    description:
      'A page may be short while `nextCursor` says that there is more: texts, metadata and workers are searched for in up to `search.maxScanned` tasks per page and up to `search.maxMs`, and long tasks take several pages.',
    scope: 'read',
    // Strict, because a filter with a typing error would otherwise find everything.
    request: {
      query: z.strictObject({
        ...taskFilterQuery,
        sort: sortSchema,
        format: formatSchema,
        limit: pageLimitSchema,
        cursor: cursorSchema(TASK_ID),
      }),
    },
    responses: { 200: taskListSchema },
    handle: async ({ query: { limit, cursor, sort, format, ...filter } }, { tenant }) => {
      if (sort !== undefined) {
        const ranked = await rankTasks(ledger, tenant, { selection: rankedOf(filterOf(filter)), by: sort, limit, now: Date.now() });
        const records = ranked.map((task) => taskRecord(task));
        return format === 'csv' ? answerCsv('tasks', records.map(rowOf)) : answerList(records);
      }
      const { items, next, unreadable, search } = await listTasks(ledger, tenant, filterOf(filter), { limit, before: cursor });
      const found = { items: items.map((task) => taskRecord(task)), nextCursor: next, ...unreadableOf(unreadable) };
      if (format === 'csv') return answerCsv('tasks', found.items.map(rowOf));
      return { status: 200, body: { ...found, ...(search === null ? {} : { search: viewSearch(search) }) } };
    },
  });
}

/** The filter of a list as a selection of its tasks. */
function rankedOf({ status, skipped: _skipped, ...rest }: TaskFilter): Parameters<typeof rankTasks>[2]['selection'] {
  if (status === undefined) return rest;
  return { ...rest, statuses: typeof status === 'string' ? [status] : status };
}

/** The columns of an export. */
const COLUMNS = [
  'id',
  'agent',
  'source',
  'session',
  'scheduleId',
  'keyId',
  'status',
  'priority',
  'attempt',
  'createdAt',
  'startedAt',
  'completedAt',
] as const;

function rowOf(record: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const usage = usageSchema.parse(record['usage']);
  const error = errorSchema.parse(record['error']);
  return {
    ...Object.fromEntries(COLUMNS.map((column) => [column, record[column]])),
    inputTokens: usage?.inputTokens,
    outputTokens: usage?.outputTokens,
    costMicroUsd: usage?.costMicroUsd,
    errorCode: error?.code,
  };
}

const usageSchema = z.object({ inputTokens: z.number(), outputTokens: z.number(), costMicroUsd: z.number().nullable() }).nullable();
const errorSchema = z.object({ code: z.string() }).nullable();

function viewSearch({ scanned, last }: TaskSearch): z.infer<typeof searchSchema> {
  return { scanned, back: last === null ? null : toIso(acceptedAt(last)) };
}

const valuesSchema = (what: string) =>
  z
    .array(
      z.strictObject({
        value: z.string().meta({ description: 'A value that the filter of the same name takes.' }),
        count: z.int().min(1).meta({ description: 'Tasks with this value that fit the rest of the filter.' }),
      }),
    )
    .meta({ description: `${what}; the most frequent first, at most \`search.maxValues\`.` });

const facetsSchema = z
  .strictObject({
    total: z.int().min(0).meta({ description: 'Tasks that fit the filter.' }),
    isLowerBound: z.boolean().meta({
      description: 'Whether there may be more: only the newest tasks were counted, up to `search.maxScanned` and `search.maxMs`.',
    }),
    status: valuesSchema('By status'),
    agent: valuesSchema('By agent'),
    source: valuesSchema('By source'),
    code: valuesSchema('By the code of the last failure'),
  } satisfies Record<FacetName | 'total' | 'isLowerBound', z.ZodType>)
  .meta({ id: 'TaskFacets' });

/** `GET /v1/tasks/facets`: how many tasks fit a filter, and how many with each other value of its facets. */
export function getTaskFacets({ ledger }: { readonly ledger: Ledger }): Route {
  return route({
    method: 'get',
    path: '/v1/tasks/facets',
    operationId: 'countTaskFacets',
    summary: `Count tasks by ${FACETS.join(', ')}`,
    description: 'Takes the filter of `GET /v1/tasks`. Each facet leaves out its own filter, so that its other values are counted too.',
    scope: 'read',
    request: { query: z.strictObject(taskFilterQuery) },
    responses: { 200: facetsSchema },
    handle: async ({ query }, { tenant }) => ({ status: 200, body: await countFacets(ledger, tenant, filterOf(query)) }),
  });
}
