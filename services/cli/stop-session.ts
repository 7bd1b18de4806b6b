import { z } from 'zod';
import { readAnswer } from './read-answer.ts';
import type { RunContext } from './run-context.ts';

const stoppedSchema = z.object({ withdrawn: z.number(), stopped: z.number() });

/** `muster sessions stop`: withdraws what waits in a session, then stops what runs. */
export async function stopSession(id: string, { json }: { json?: boolean }, context: RunContext): Promise<void> {
  const { terminal } = context;
  const answer = await context.connect().post(`/v1/sessions/${encodeURIComponent(id)}/stop`);
  if (json === true) return terminal.json(answer);
  const { withdrawn, stopped } = readAnswer(stoppedSchema, answer);
  if (withdrawn + stopped === 0) return terminal.line('Nothing runs and nothing waits.');
  if (withdrawn > 0) terminal.line(`${withdrawn} that had not started ${withdrawn === 1 ? 'is' : 'are'} withdrawn.`);
  if (stopped > 0) terminal.line('The task that runs is being stopped.');
}
