import { z } from 'zod';
import { SOURCES } from '../config/index.ts';
import { isTerminal, TASK_STATUSES, type TaskStatus } from '../tasks/index.ts';

/** What can be done to many tasks: each does to every one of them what the endpoint of the same name does to one. */
export const ACTION_NAMES = ['retry', 'cancel', 'discard'] as const;
export type ActionName = (typeof ACTION_NAMES)[number];

/** `cancelling`: no further step begins; a worker finishes the one under way. */
export const ACTION_STATUSES = ['pending', 'running', 'cancelling', 'completed', 'cancelled', 'failed'] as const;

/** Statuses of tasks that an action applies to. */
export const APPLICABLE: Readonly<Record<ActionName, readonly TaskStatus[]>> = {
  retry: ['permanently_failed', 'failed', 'timeout'],
  cancel: TASK_STATUSES.filter((status) => !isTerminal(status)),
  discard: TASK_STATUSES.filter((status) => isTerminal(status)),
};

/** The statuses that an action selects when its filter names none. */
export const DEFAULT_STATUSES: Readonly<Record<ActionName, readonly TaskStatus[]>> = {
  ...APPLICABLE,
  retry: ['permanently_failed'],
  // Ended tasks that nobody named may be wanted.
  discard: ['permanently_failed'],
};

const text = z.string();

const plainSelectionSchema = z.object({
  statuses: z.array(z.enum(TASK_STATUSES)),
  agent: text.exactOptional(),
  source: z.enum(SOURCES).exactOptional(),
  session: text.exactOptional(),
  schedule: text.exactOptional(),
  correlation: text.exactOptional(),
  parent: text.exactOptional(),
  sourceId: text.exactOptional(),
  since: z.number().exactOptional(),
  until: z.number().exactOptional(),
  q: text.exactOptional(),
  code: text.exactOptional(),
});

const fullSelectionSchema = plainSelectionSchema.extend({
  /** Only these tasks. */
  ids: z.array(text).exactOptional(),
  worker: text.exactOptional(),
  release: text.exactOptional(),
  metadata: z.array(z.object({ key: text, value: text })).exactOptional(),
});
export type ActionFilter = z.infer<typeof fullSelectionSchema>;

/** A worker of a release that knows no `ids` would apply the action to all tasks: it cannot read this form, and leaves it to others. */
const narrowedSchema = z.object({ narrowed: fullSelectionSchema }).transform(({ narrowed }) => narrowed);
/** The same for a worker that knows these, and no `release`. */
const releaseSchema = z.object({ ofRelease: fullSelectionSchema }).transform(({ ofRelease }) => ofRelease);
const selectionSchema: z.ZodType<ActionFilter> = z.union([narrowedSchema, releaseSchema, plainSelectionSchema]);

/** An action in the form that is stored. */
export function storedForm({ filter, ...action }: Action): object {
  return { ...action, filter: storedFilter(filter) };
}

function storedFilter(filter: ActionFilter): object {
  const { ids, worker, release, metadata } = filter;
  if (release !== undefined) return { ofRelease: filter };
  const isPlain = ids === undefined && worker === undefined && metadata === undefined;
  return isPlain ? filter : { narrowed: filter };
}

/** An action as it is stored. Times are milliseconds since the epoch by Redis's clock. */
export const actionSchema = z.object({
  id: z.string(),
  tenant: z.string(),
  action: z.enum(ACTION_NAMES),
  status: z.enum(ACTION_STATUSES),
  filter: selectionSchema,
  reason: z.string().nullable(),
  /** Id of the key that requested it. */
  by: z.string().nullable(),
  /** Tasks that fit; at least so many until `isExact`. */
  matched: z.number(),
  isExact: z.boolean(),
  /** Tasks that it was applied to. */
  done: z.number(),
  /** Tasks that had changed, so that it did not apply to them any more. */
  skipped: z.number(),
  failed: z.number(),
  /** Why the last of `failed` failed. */
  error: z.string().nullable(),
  /** Where the next step continues: behind this task; null at the beginning. */
  cursor: z.string().nullable(),
  /** The step under way: its tasks, and where the one after it continues. A worker that takes over repeats it. */
  step: z.object({ ids: z.array(z.string()), next: z.string().nullable() }).nullable(),
  /** Steps in a row that broke off. */
  faults: z.number(),
  createdAt: z.number(),
  startedAt: z.number().nullable(),
  updatedAt: z.number(),
  completedAt: z.number().nullable(),
});
export type Action = z.infer<typeof actionSchema>;

export function hasEnded({ completedAt }: Pick<Action, 'completedAt'>): boolean {
  return completedAt !== null;
}

/** What events say of an action. */
export function summaryOf({ id, action, status, matched, done, skipped, failed }: Action): Record<string, string | number> {
  return { actionId: id, action, status, matched, done, skipped, failed };
}
