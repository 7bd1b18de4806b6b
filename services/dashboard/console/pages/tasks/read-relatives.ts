import type { Task, TaskWithProgress } from '#shared/client/openapi.gen.ts';
import { answerOf, api } from '../../api/api.ts';
import { toTask, type TaskRef } from '../../api/task-ref.ts';

const CHILDREN_SHOWN = 50;

/** The newest tasks that a task delegated, oldest first. */
export async function readChildren(taskRef: TaskRef, signal: AbortSignal): Promise<{ items: Task[]; hasMore: boolean }> {
  const { headers } = toTask(taskRef);
  const query = { parent: taskRef.id, limit: CHILDREN_SHOWN };
  const { items, nextCursor } = await answerOf(api.GET('/v1/tasks', { params: { query }, headers, signal }));
  return { items: items.toReversed(), hasMore: nextCursor !== null };
}

/** Ancestors that one page shows: delegations have a bound in the configuration, which may be large. */
export const MAX_ANCESTORS = 6;

/** The last tasks that led to a task, the first one first. An ancestor that is not kept any more ends the line. */
export async function readAncestors(
  { parentTaskId }: Pick<Task, 'parentTaskId'>,
  tenant: string | null,
  signal: AbortSignal,
): Promise<TaskWithProgress[]> {
  const ancestors: TaskWithProgress[] = [];
  for (let id = parentTaskId; id !== null && ancestors.length < MAX_ANCESTORS;) {
    const parent = await answerOf(api.GET('/v1/tasks/{id}', { ...toTask({ id, tenant }), signal })).catch(() => null);
    if (parent === null) break;
    ancestors.unshift(parent);
    id = parent.parentTaskId;
  }
  return ancestors;
}
