import type { TaskRequest } from '#shared/client/openapi.gen.ts';
import { answerOf, api } from '../../api/api.ts';

/** Makes a task, and resolves to its id. Repeated under the same key it makes one task. */
export async function createTask(task: Pick<TaskRequest, 'agent' | 'input'>, key?: string): Promise<string> {
  const headers = key === undefined ? {} : { 'Idempotency-Key': key };
  return (await answerOf(api.POST('/v1/tasks', { body: task, headers }))).id;
}
