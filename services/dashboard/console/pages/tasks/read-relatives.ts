import type { Task, TaskTreeNode, TaskWithProgress } from '#shared/client/openapi.gen.ts';
import { answerOf, api } from '../../api/api.ts';
import { toTask, type TaskRef } from '../../api/task-ref.ts';

/** Tasks of one tree that are read: more than are drawn, so that those that failed or run are found among them. */
const TREE_READ = 500;

/** A task with all below it. */
export async function readTree(taskRef: TaskRef, signal: AbortSignal): Promise<TaskTreeNode> {
  const { params, headers } = toTask(taskRef);
  const query = { limit: TREE_READ };
  return (await answerOf(api.GET('/v1/tasks/{id}/tree', { params: { ...params, query }, headers, signal }))).root;
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
