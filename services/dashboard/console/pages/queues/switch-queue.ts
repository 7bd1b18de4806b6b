import { answerOf, api } from '../../api/api.ts';

/** Pauses or resumes a queue. */
export async function switchQueue(name: string, isPaused: boolean): Promise<void> {
  const queue = { params: { path: { name } } };
  await answerOf(isPaused ? api.POST('/v1/queues/{name}/pause', queue) : api.POST('/v1/queues/{name}/resume', queue));
}
