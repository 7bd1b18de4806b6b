import { z } from 'zod';
import { MusterError } from '#shared/errors/index.ts';
import { type Ledger, readState, readTask, listTasks, type TaskFilter } from '#shared/ledger/index.ts';
import { type Task, TASK_ID, type TaskState, type TaskStatus, TASK_STATUSES, taskRecord } from '#shared/tasks/index.ts';
import { agentIdSchema, SOURCES } from '#shared/config/index.ts';
import { pageLimitSchema, route, type Route } from '#shared/http/index.ts';
import { unreadableSchema } from '#shared/redis/index.ts';
import { instantSchema } from '#shared/time/index.ts';
import { answerList, cursorSchema, nextCursorSchema } from '../lists.ts';
import { taskStatusSchema, taskViewSchema } from './task-view.ts';

/** Path of everything about one task. Any text is taken: what cannot be an id is no task, and answers 404 like one. */
export const taskPathSchema = z.object({ id: z.string().meta({ description: "The task's id." }) });

/** The tenant's task. Errors: `task.not-found`, also for another tenant's. */
export async function findTask(ledger: Ledger, tenant: string, id: string): Promise<Task> {
  const task = TASK_ID.test(id) ? await readTask(ledger, tenant, id) : null;
  if (!task) throw taskNotFound(id);
  return task;
}

/** Its state, without its input and output. Errors: `task.not-found`, also for another tenant's. */
export async function findState(ledger: Ledger, tenant: string, id: string): Promise<TaskState> {
  const state = TASK_ID.test(id) ? await readState(ledger, tenant, id) : null;
  if (!state) throw taskNotFound(id);
  return state;
}

export function taskNotFound(id: string): MusterError {
  return new MusterError('task.not-found', 'There is no such task', { details: { id: id.slice(0, 100) } });
}

/** `task.wrong-state`, 409: the status of the task does not allow this. */
export function wrongState(status: TaskStatus, why: string): MusterError {
  return new MusterError('task.wrong-state', `The task ${why}: it is ${status}`, { details: { status } });
}

const text = z.string().min(1).max(200);

/** `status=failed,timeout`, or `status=failed&status=timeout`. */
const statusesSchema = z
  .union([z.string(), z.array(z.string()).max(TASK_STATUSES.length)])
  .transform((given) => (typeof given === 'string' ? [given] : given).flatMap((each) => each.split(',')))
  .pipe(z.array(taskStatusSchema))
  .meta({ description: `One or several of ${TASK_STATUSES.join(', ')}; several are separated by commas, or repeated.` });

/** What tasks are selected by, besides their status. */
export const taskFilterFields = {
  agent: agentIdSchema.optional().meta({ description: 'Run by this agent.' }),
  source: z.enum(SOURCES).optional().meta({ description: 'From this source.' }),
  session: text.optional().meta({ description: 'Of this session.' }),
  schedule: text.optional().meta({ description: 'Made by this schedule.' }),
  correlation: text.optional().meta({ description: 'With this correlation id.' }),
  parent: text.optional().meta({ description: 'Delegated by this task.' }),
  sourceId: text.optional().meta({ description: 'Made by this trigger, hook or schedule.' }),
  code: text.optional().meta({ description: 'Whose last attempt failed with this code.' }),
  since: instantSchema.optional().meta({ description: 'Accepted at or after.' }),
  until: instantSchema.optional().meta({ description: 'Accepted before.' }),
  q: text.optional().meta({ description: 'Text in the input, output, id, session or error.' }),
};

/** Strict, because a filter with a typing error would otherwise find everything. */
const querySchema = z.strictObject({
  status: statusesSchema.optional(),
  skipped: z
    .stringbool()
    .optional()
    .meta({ description: 'Whether skipped occurrences are among them; by default only when `status` names them.' }),
  ...taskFilterFields,
  limit: pageLimitSchema,
  cursor: cursorSchema(TASK_ID),
});

const taskListSchema = z
  .strictObject({
    items: z.array(taskViewSchema).meta({ description: 'Newest first.' }),
    nextCursor: nextCursorSchema,
    unreadable: unreadableSchema,
  })
  .meta({ id: 'TaskList' });

/** `GET /v1/tasks`, newest first. A page may be short, even empty, while `nextCursor` says that there is more. */
export function getTasks({ ledger }: { ledger: Ledger }): Route {
  return route({
    method: 'get',
    path: '/v1/tasks',
    operationId: 'listTasks',
    summary: 'List tasks, newest first',
    description: 'A page may be short while `nextCursor` says that there is more: rare matches, and long tasks, take several pages.',
    scope: 'read',
    request: { query: querySchema },
    responses: { 200: taskListSchema },
    handle: async ({ query: { limit, cursor, ...filter } }, { tenant }) => {
      const { items, next, unreadable } = await listTasks(ledger, tenant, filterOf(filter), { limit, before: cursor });
      return answerList(
        items.map((task) => taskRecord(task)),
        { next, unreadable },
      );
    },
  });
}

function filterOf({ since, until, skipped = false, ...rest }: Omit<z.infer<typeof querySchema>, 'limit' | 'cursor'>): TaskFilter {
  const filter: TaskFilter = { skipped };
  if (since !== undefined) filter.since = Date.parse(since);
  if (until !== undefined) filter.until = Date.parse(until);
  return Object.assign(filter, rest);
}
