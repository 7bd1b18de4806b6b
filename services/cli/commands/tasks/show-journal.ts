import { z } from 'zod';
import { isTerminal, TASK_STATUSES } from '#shared/tasks/index.ts';
import { durationText, wait } from '#shared/time/index.ts';
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
  bytes: z.number().nullish(),
  value: z.unknown().optional(),
});
type Entry = z.infer<typeof entrySchema>;

const NAME_WIDTH = 60;
const VALUE_WIDTH = 40;

export interface JournalOptions {
  json?: boolean;
  entry?: number;
  follow?: boolean;
}

/** Prints what the run of a task has done, an entry a line: steps, waits and messages. */
export async function runJournal(given: string, { json, entry, follow }: JournalOptions, context: CommandContext): Promise<void> {
  const { terminal, clock } = context;
  const api = context.connect();
  const id = await resolveTaskId(api, given);
  if (entry !== undefined) return terminal.json(await api.get(`/v1/tasks/${encodeURIComponent(id)}/journal/${entry}`));
  if (follow === true) return await followJournal(id, { json: json === true }, context);
  const answer = await api.get(`/v1/tasks/${encodeURIComponent(id)}/journal`);
  if (json === true) return terminal.json(answer);
  const { items } = readAnswer(z.object({ items: z.array(entrySchema) }), answer);
  if (items.length === 0) return terminal.note('The run has no journal: its agent takes no steps and waits for nothing.');
  const heading = ['SEQ', 'KIND', 'NAME', 'STATUS', 'ATTEMPT', 'TOOK', 'REPLAYED', 'USED', 'GAVE'];
  const rows = items.map((item) => rowOf(item, clock.now()));
  for (const line of formatTable([heading, ...rows])) terminal.line(line);
  for (const { seq, error } of items) if (error) terminal.line(`${seq}: ${plainText(error.message)} [${error.code}]`);
}

/** Between two reads of a journal that grows. */
const FOLLOW_MS = 1000;
const FIELD_BREAK = '  ';

/** Prints each entry when it began and when its status changed, until the run has ended. */
async function followJournal(id: string, { json }: { json: boolean }, context: CommandContext): Promise<void> {
  const { terminal, clock } = context;
  const api = context.connect();
  const path = `/v1/tasks/${encodeURIComponent(id)}`;
  const seen = new Map<number, string>();
  for (;;) {
    // The status first: what was written before an end is in the journal that is read after it.
    const { status } = readAnswer(z.object({ status: z.string() }), await api.get(path));
    const { items } = readAnswer(z.object({ items: z.array(entrySchema) }), await api.get(`${path}/journal`));
    for (const item of items) {
      if (seen.get(item.seq) === item.status) continue;
      seen.set(item.seq, item.status);
      const fields = rowOf(item, clock.now()).filter((field) => field !== '');
      terminal.line(json ? JSON.stringify(item) : [...fields, ...errorOf(item)].join(FIELD_BREAK));
    }
    if (TASK_STATUSES.some((each) => each === status && isTerminal(each))) return;
    await wait(FOLLOW_MS);
  }
}

function errorOf({ error }: Entry): string[] {
  return error ? [`${plainText(error.message)} [${error.code}]`] : [];
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
    replays === 0 ? '' : replays === 1 ? 'once' : `${replays} times`,
    used,
    gaveOf(entry),
  ];
}

/** Its value where that is shown and short; else how large it is. */
function gaveOf({ kind, value, bytes }: Entry): string {
  if (typeof bytes !== 'number') return '';
  return value === undefined || value === null ? `${bytes} bytes` : oneLine(shortOf(kind, value), VALUE_WIDTH);
}

const saidSchema = z.object({ text: z.string(), calls: z.array(z.object({ name: z.string() })) });

/** Of a model what it said and called; of anything else its JSON. */
function shortOf(kind: string, value: unknown): string {
  const said = kind === 'model' ? saidSchema.safeParse(value).data : undefined;
  if (!said) return JSON.stringify(value);
  const calls = said.calls.map(({ name }) => `calls ${name}`);
  return [said.text, ...calls].filter((part) => part !== '').join(' ');
}

function timeOf({ status, startedAt, endedAt, until }: Entry, now: number): string {
  if (status === 'waiting') return until ? `until ${pointInTime(until)}` : 'without end';
  return durationText((endedAt ? Date.parse(endedAt) : now) - Date.parse(startedAt));
}
