import { z } from 'zod';
import { FAILURE_GROUPINGS, type FailureFilter, type FailureGroup, listFailures } from '#shared/actions/index.ts';
import { agentIdSchema } from '#shared/config/index.ts';
import { pageLimitSchema, route, type Route } from '#shared/http/index.ts';
import type { Ledger } from '#shared/ledger/index.ts';
import { TASK_ID } from '#shared/tasks/index.ts';
import { instantSchema, toIso } from '#shared/time/index.ts';
import { cursorSchema, nextCursorSchema } from './lists.ts';

const text = z.string().min(1).max(200);

/** Strict, because a filter with a typing error would otherwise find everything. */
const querySchema = z.strictObject({
  groupBy: z
    .enum(FAILURE_GROUPINGS)
    .optional()
    .meta({ description: 'What the tasks of a group have in common: the error, the agent, or the release. By default error and agent.' }),
  agent: agentIdSchema.optional().meta({ description: 'Run by this agent.' }),
  code: text.optional().meta({ description: 'Failed with this code.' }),
  release: text.optional().meta({ description: 'Whose last attempt a worker of this release ran.' }),
  schedule: text.optional().meta({ description: 'Made by this schedule.' }),
  since: instantSchema.optional().meta({ description: 'Accepted at or after.' }),
  until: instantSchema.optional().meta({ description: 'Accepted before.' }),
  limit: pageLimitSchema,
  cursor: cursorSchema(TASK_ID),
});

const failureSchema = z
  .strictObject({
    code: z.string().nullable().meta({ description: 'The code of the failure; null when not grouped by errors.' }),
    agent: z.string().nullable().meta({ description: 'The agent that ran them; null when not grouped by agents.' }),
    release: z.string().nullable().meta({
      description: 'By `groupBy=release`: the release that ran the last attempts; null for workers of an earlier version of Muster.',
    }),
    count: z.int().meta({ description: 'How many of the tasks failed so; where a page reads tasks, of those.' }),
    firstAt: z.iso.datetime().meta({ description: 'When the first accepted of them failed for good.' }),
    lastAt: z.iso.datetime().meta({ description: 'When the last accepted of them failed for good.' }),
    example: z
      .strictObject({
        taskId: z.string().meta({ description: 'Its task.' }),
        message: z.string().meta({ description: 'Why it failed, for people.' }),
      })
      .meta({ description: 'One of them.' }),
  })
  .meta({
    id: 'Failure',
    examples: [
      {
        code: 'NETWORK_ERROR',
        agent: 'writer',
        release: null,
        count: 12,
        firstAt: '2026-05-01T09:00:00.000Z',
        lastAt: '2026-05-01T09:20:00.000Z',
        example: { taskId: '01KQS1C8ZV0G3P5T7W9X1Y2Z3A', message: 'The connection failed: connect ECONNREFUSED' },
      },
    ],
  });

const failureListSchema = z
  .strictObject({
    items: z.array(failureSchema).meta({ description: 'The largest group first.' }),
    times: z
      .array(
        z.strictObject({
          at: z.iso.datetime().meta({ description: 'When the five minutes began.' }),
          code: z.string().meta({ description: 'The code of the failures.' }),
          count: z.int().meta({ description: 'How many of them failed so in that time.' }),
        }),
      )
      .meta({ description: 'When the newest 1,000 of the tasks failed, oldest first; times without a failure are left out.' }),
    workers: z
      .array(
        z.strictObject({
          worker: z.string().meta({ description: 'The worker that ran the last attempt.' }),
          count: z.int().meta({ description: 'How many of them failed there.' }),
        }),
      )
      .meta({ description: 'Where these tasks failed, at most 50 workers, the most failures first.' }),
    releases: z
      .array(
        z.strictObject({
          release: z.string().meta({ description: 'The release (`MUSTER_RELEASE`) of the worker that ran the last attempt.' }),
          count: z.int().meta({ description: 'How many of them failed there.' }),
        }),
      )
      .meta({ description: 'Under what these tasks failed, at most 50 releases, the most failures first.' }),
    nextCursor: nextCursorSchema,
  })
  .meta({ id: 'FailureList' });

/** `GET /v1/failures`: the permanently failed tasks, in groups. */
export function getFailures({ ledger }: { readonly ledger: Ledger }): Route {
  return route({
    method: 'get',
    path: '/v1/failures',
    operationId: 'listFailures',
    summary: 'Permanently failed tasks in groups of one error, agent or release',
    description:
      'An index counts all tasks of a filter. For a `schedule` or a `release`, by releases, or for more than `limit` groups, a page reads tasks, newest first, up to `actions.maxRead` and for `search.maxMs`; `nextCursor` continues with older ones, whose groups may be the same.',
    scope: 'read',
    request: { query: querySchema },
    responses: { 200: failureListSchema },
    handle: async ({ query: { groupBy: by, limit, cursor, ...filter } }, { tenant }) => {
      const { items, times, workers, releases, next } = await listFailures(ledger, tenant, filterOf(filter), { by, limit, before: cursor });
      return {
        status: 200,
        body: {
          items: items.map(viewFailure),
          times: times.map(({ at, code, count }) => ({ at: toIso(at), code, count })),
          workers,
          releases,
          nextCursor: next,
        },
      };
    },
  });
}

function filterOf({ since, until, ...rest }: Omit<z.infer<typeof querySchema>, 'groupBy' | 'limit' | 'cursor'>): FailureFilter {
  const filter: FailureFilter = {};
  if (since !== undefined) filter.since = Date.parse(since);
  if (until !== undefined) filter.until = Date.parse(until);
  return Object.assign(filter, rest);
}

function viewFailure({ firstAt, lastAt, ...rest }: FailureGroup): Record<string, unknown> {
  return { ...rest, firstAt: toIso(firstAt), lastAt: toIso(lastAt) };
}
