import { z } from 'zod';
import { duration, plainText } from '../output/text.ts';
import { readAnswer } from '../client/api-client.ts';
import type { CommandContext } from '../command-context.ts';
import { resolveTaskId } from './task-view.ts';

const reasonSchema = z.object({
  gate: z.string(),
  detail: z.string(),
  since: z.string().nullish(),
  until: z.string().nullish(),
  taskId: z.string().nullish(),
});

const whySchema = z.object({ status: z.string(), reasons: z.array(reasonSchema), estimatedStartMs: z.number().nullish() });

const WITHOUT_REASON: Readonly<Record<string, string>> = {
  scheduled: 'It has a worker and starts now.',
  running: 'It runs.',
  completed: 'It has completed.',
  cancelled: 'It was cancelled.',
  stale: 'Its deadline passed before it could start.',
  skipped: 'It was held back.',
  permanently_failed: 'It failed, and no attempt follows.',
};

/** Prints a sentence for each thing that a task waits for. */
export async function runWhy(given: string, { json }: { json?: boolean }, context: CommandContext): Promise<void> {
  const { terminal, clock } = context;
  const api = context.connect();
  const id = await resolveTaskId(api, given);
  const answer = await api.get(`/v1/tasks/${encodeURIComponent(id)}/why`);
  if (json === true) return terminal.json(answer);
  const { status, reasons, estimatedStartMs } = readAnswer(whySchema, answer);
  if (reasons.length === 0) terminal.line(WITHOUT_REASON[status] ?? `It is ${status}, and nothing holds it back.`);
  if (status === 'permanently_failed') terminal.note(`Retry it with npx muster retry ${id}`);
  for (const reason of reasons) terminal.line(describeReason(reason, clock.now()));
  if (estimatedStartMs !== null && estimatedStartMs !== undefined) terminal.line(`It should start in about ${duration(estimatedStartMs)}.`);
}

function describeReason({ detail, since, until }: z.infer<typeof reasonSchema>, now: number): string {
  const text = plainText(detail).replace(/\.$/, '');
  const waitedMs = since ? now - Date.parse(since) : 0;
  const waited = waitedMs >= 1000 ? `, for ${duration(waitedMs)}` : '';
  const left = until && Date.parse(until) > now ? `; ${duration(Date.parse(until) - now)} to go` : '';
  return `It waits: ${text}${waited}${left}.`;
}
