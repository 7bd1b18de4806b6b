import { z } from 'zod';
import { readAnswer } from './read-answer.ts';
import type { RunContext } from './run-context.ts';
import { resolveTaskId } from './task-id.ts';

const reopenedSchema = z.object({ id: z.string(), status: z.string() });

/** `muster retry`: opens a task again that failed for good, and starts one now that waits for a retry. */
export async function retryTask(given: string, { json }: { json?: boolean }, context: RunContext): Promise<void> {
  const { terminal } = context;
  const api = context.connect();
  const id = await resolveTaskId(api, given);
  const answer = await api.post(`/v1/tasks/${encodeURIComponent(id)}/retry`);
  if (json === true) return terminal.json(answer);
  const { status } = readAnswer(reopenedSchema, answer);
  terminal.line(`It is ${status} again. Look at it with npx muster task ${id}`);
}
