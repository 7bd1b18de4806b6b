import { z } from 'zod';
import { readAnswer } from './read-answer.ts';
import type { RunContext } from './run-context.ts';
import { resolveTaskId } from './task-id.ts';

const cancelledSchema = z.object({ status: z.string(), stopping: z.boolean().optional(), subTasks: z.number().optional() });

/** `muster cancel`: stops a task and what it delegated. */
export async function cancelTask(given: string, { reason, json }: { reason?: string; json?: boolean }, context: RunContext): Promise<void> {
  const { terminal } = context;
  const body = reason === undefined ? {} : { reason };
  const api = context.connect();
  const id = await resolveTaskId(api, given);
  const answer = await api.post(`/v1/tasks/${encodeURIComponent(id)}/cancel`, { body });
  if (json === true) return terminal.json(answer);
  const { stopping, subTasks = 0 } = readAnswer(cancelledSchema, answer);
  terminal.line(stopping === true ? 'It runs and is being stopped.' : 'It is cancelled.');
  if (subTasks > 0) terminal.line(subTasks === 1 ? 'So is a task that it delegated.' : `So are ${subTasks} tasks that it delegated.`);
}
