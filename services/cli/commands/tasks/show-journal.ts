import { z } from 'zod';
import { durationText } from '#shared/time/index.ts';
import { readAnswer } from '../../client/api-client.ts';
import type { CommandContext } from '../../command-context.ts';
import { formatCost } from '../../output/format-cost.ts';
import { formatTable } from '../../output/table.ts';
import { oneLine, plainText, pointInTime } from '../../output/terminal.ts';
import { resolveTaskId } from './task-view.ts';

const usageSchema = z.object({ inputTokens: z.number(), outputTokens: z.number(), costMicroUsd: z.number().nullable() });
const entrySchema = z.object({
  seq: z.number(),
  kind: z.string(),
  name: z.string(),
  status: z.string(),
  attempt: z.number(),
  startedAt: z.string(),
  endedAt: z.string().nullish(),
  until: z.string().nullish(),
  usage: usageSchema.nullish(),
  error: z.object({ code: z.string(), message: z.string() }).nullish(),
  replays: z.number(),
});
type Entry = z.infer<typeof entrySchema>;

const NAME_WIDTH = 60;

/** Prints what the run of a task has done, an entry a line: steps, waits and messages. */
export async function runJournal(given: string, { json }: { json?: boolean }, context: CommandContext): Promise<void> {
  const { terminal, clock } = context;
  const api = context.connect();
  const id = await resolveTaskId(api, given);
  const answer = await api.get(`/v1/tasks/${encodeURIComponent(id)}/journal`);
  if (json === true) return terminal.json(answer);
  const { items } = readAnswer(z.object({ items: z.array(entrySchema) }), answer);
  if (items.length === 0) return terminal.note('The run has no journal: its agent takes no steps and waits for nothing.');
  const heading = ['SEQ', 'KIND', 'NAME', 'STATUS', 'ATTEMPT', 'TOOK', 'REPLAYED', 'USED'];
  const rows = items.map((entry) => rowOf(entry, clock.now()));
  for (const line of formatTable([heading, ...rows])) terminal.line(line);
  for (const { seq, error } of items) if (error) terminal.line(`${seq}: ${plainText(error.message)} [${error.code}]`);
}

function rowOf(entry: Entry, now: number): string[] {
  const { seq, kind, name, status, attempt, replays, usage } = entry;
  const used = usage ? `${usage.inputTokens + usage.outputTokens} tokens, ${formatCost(usage.costMicroUsd)}` : '';
  return [
    `${seq}`,
    kind,
    oneLine(name, NAME_WIDTH),
    status,
    `${attempt}`,
    timeOf(entry, now),
    replays === 0 ? '' : `${replays} times`,
    used,
  ];
}

function timeOf({ status, startedAt, endedAt, until }: Entry, now: number): string {
  if (status === 'waiting') return until ? `until ${pointInTime(until)}` : 'without end';
  return durationText((endedAt ? Date.parse(endedAt) : now) - Date.parse(startedAt));
}
