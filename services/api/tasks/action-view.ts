import { z } from 'zod';
import { type Action, ACTION_NAMES, ACTION_STATUSES, type ActionFilter } from '#shared/actions/index.ts';
import { unreadableSchema } from '#shared/redis/index.ts';
import { TASK_ID, TASK_STATUSES } from '#shared/tasks/index.ts';
import { toIso } from '#shared/time/index.ts';
import { nextCursorSchema } from '../lists.ts';
import { taskFilterFields } from './task-filter.ts';
import { taskStatusSchema } from './task-view.ts';

const statusesSchema = z
  .union([taskStatusSchema, z.array(taskStatusSchema).min(1).max(TASK_STATUSES.length)])
  .transform((given) => (typeof given === 'string' ? [given] : given))
  .meta({ description: 'One or several statuses.' });

/** Strict, because a filter with a typing error would otherwise select everything. */
const filterSchema = z.strictObject({ status: statusesSchema.optional(), ...taskFilterFields }).meta({ id: 'ActionFilter' });

const actionNameSchema = z.enum(ACTION_NAMES).meta({ description: '`retry`, `cancel`, or `discard`: remove the records of ended tasks.' });
const countSchema = (description: string): z.ZodInt => z.int().meta({ description });
const matchedSchema = countSchema('Tasks that fit the filter.');
const exactSchema = z.boolean().meta({ description: 'Whether `matched` is exact; otherwise it is a lower bound.' });
const instant = (description: string): z.ZodISODateTime => z.iso.datetime().meta({ description });

const idsSchema = z.array(z.string().regex(TASK_ID, 'expected the id of a task')).min(1).meta({
  description: 'Only these tasks, `actions.maxIds` at most, in each status that the action applies to unless `filter` says more.',
});

const namedBodySchema = z.strictObject({
  action: actionNameSchema,
  ids: idsSchema,
  reason: z.string().min(1).max(500).optional().meta({ description: 'For the records of cancelled tasks.' }),
  dryRun: z.boolean().optional().meta({ description: 'Only count the tasks.' }),
});

const filteredBodySchema = namedBodySchema.extend({
  ids: idsSchema.optional(),
  filter: filterSchema.meta({
    description:
      'As for `GET /v1/tasks`. Without `status`: `retry` and `discard` select permanently failed tasks, `cancel` all that have not ended.',
  }),
});

/** What `POST /v1/tasks/actions` takes. An action on all tasks has to be requested by an empty filter. */
export const actionBodySchema = z
  .union([filteredBodySchema, namedBodySchema])
  .meta({ id: 'ActionRequest', examples: [{ action: 'retry', filter: { code: 'NETWORK_ERROR', since: '2026-05-01T00:00:00Z' } }] });

export const actionSchema = z
  .strictObject({
    id: z.string().meta({ description: "The action's id; sorts by time." }),
    action: actionNameSchema,
    status: z.enum(ACTION_STATUSES).meta({ description: 'Where it is; `cancelling` until the step under way has ended.' }),
    named: z.int().nullable().meta({ description: 'How many tasks `ids` named; null without.' }),
    filter: z.record(z.string(), z.unknown()).meta({ description: 'Which tasks it selects, of all or of the named ones.' }),
    reason: z.string().nullable().meta({ description: 'For the records of cancelled tasks.' }),
    by: z.string().nullable().meta({ description: 'Id of the key that requested it.' }),
    matched: matchedSchema,
    exact: exactSchema,
    done: countSchema('Tasks that it was applied to.'),
    skipped: countSchema('Tasks that had changed, so that it did not apply to them any more.'),
    failed: countSchema('Tasks that it could not be applied to.'),
    error: z.string().nullable().meta({ description: 'Why the last of these failed.' }),
    createdAt: instant('When it was requested.'),
    startedAt: instant('When its first step began.').nullable(),
    updatedAt: instant('When its progress was stored last.'),
    completedAt: instant('When it ended.').nullable(),
  })
  .meta({
    id: 'Action',
    examples: [
      {
        id: '01KQS1C8ZV0G3P5T7W9X1Y2Z3A',
        action: 'retry',
        status: 'running',
        named: null,
        filter: { status: ['permanently_failed'], code: 'NETWORK_ERROR' },
        reason: null,
        by: 'k1',
        matched: 300,
        exact: true,
        done: 200,
        skipped: 0,
        failed: 0,
        error: null,
        createdAt: '2026-05-01T09:00:00.000Z',
        startedAt: '2026-05-01T09:00:01.000Z',
        updatedAt: '2026-05-01T09:00:02.000Z',
        completedAt: null,
      },
    ],
  });

const countedSchema = z
  .strictObject({ action: actionNameSchema, matched: matchedSchema, exact: exactSchema })
  .meta({ id: 'ActionCount', examples: [{ action: 'retry', matched: 300, exact: true }] });

/** Answers to a known key, and to a dry run. */
export const knownOrCountedSchema = z
  .union([actionSchema, countedSchema])
  .meta({ id: 'ActionOrCount', description: 'The key came before, or it was a dry run.' });

export const actionListSchema = z
  .strictObject({
    items: z.array(actionSchema).meta({ description: 'Newest first.' }),
    nextCursor: nextCursorSchema,
    unreadable: unreadableSchema,
  })
  .meta({ id: 'ActionList' });

/** An action as callers see it. */
export function viewAction(stored: Action): z.infer<typeof actionSchema> {
  const { id, action, status, filter, reason, by, matched, isExact, done, skipped, failed, error, ...times } = stored;
  return {
    id,
    action,
    status,
    named: filter.ids?.length ?? null,
    filter: viewFilter(filter),
    reason,
    by,
    matched,
    exact: isExact,
    done,
    skipped,
    failed,
    error,
    createdAt: new Date(times.createdAt).toISOString(),
    startedAt: toIso(times.startedAt),
    updatedAt: new Date(times.updatedAt).toISOString(),
    completedAt: toIso(times.completedAt),
  };
}

/** Without the ids, of which there may be many: `named` counts them. */
function viewFilter(filter: ActionFilter): Record<string, unknown> {
  const { statuses, since, until, metadata, ...rest } = filter;
  delete rest.ids;
  return {
    status: statuses,
    ...rest,
    ...(metadata === undefined ? {} : { metadata: metadata.map(({ key, value }) => `${key}:${value}`) }),
    ...(since === undefined ? {} : { since: toIso(since) }),
    ...(until === undefined ? {} : { until: toIso(until) }),
  };
}
