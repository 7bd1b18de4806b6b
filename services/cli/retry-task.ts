import { z } from 'zod';
import { readAnswer } from './read-answer.ts';
import type { RunContext } from './run-context.ts';

const reopenedSchema = z.object({ id: z.string(), status: z.string() });

/** `muster retry`: opens a task again that failed for good. */
export async function retryTask(id: string, { json }: { json?: boolean }, context: RunContext): Promise<void> {
  const { terminal } = context;
  const answer = await context.connect().post(`/v1/tasks/${encodeURIComponent(id)}/retry`);
  if (json === true) return terminal.json(answer);
  const { status } = readAnswer(reopenedSchema, answer);
  terminal.line(`It is ${status} again, with all its attempts. Look at it with npx muster task ${id}`);
}
