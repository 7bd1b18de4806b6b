import { z } from 'zod';
import { shortHashes } from '#shared/text/index.ts';
import { durationText } from '#shared/time/index.ts';
import { readAnswer } from '../../client/api-client.ts';
import type { CommandContext } from '../../command-context.ts';
import { formatTable } from '../../output/table.ts';
import { oneLine, plainText, type Terminal } from '../../output/terminal.ts';
import { resolveTaskId } from './task-view.ts';

const reasonSchema = z.object({
  gate: z.string(),
  detail: z.string(),
  since: z.string().nullish(),
  until: z.string().nullish(),
  taskId: z.string().nullish(),
});

const gateSchema = z.object({ gate: z.string(), state: z.string(), detail: z.string(), helps: z.string().nullish() });
type Gate = z.infer<typeof gateSchema>;

export const whySchema = z.object({
  status: z.string(),
  reasons: z.array(reasonSchema),
  /** An older server has none. */
  gates: z.array(gateSchema).default([]),
  estimatedStartMs: z.number().nullish(),
  interruptions: z.number().default(0),
});

const WITHOUT_REASON: Readonly<Record<string, string>> = {
  scheduled: 'It has a worker and starts now.',
  running: 'It runs.',
  completed: 'It has completed.',
  cancelled: 'It was cancelled.',
  stale: 'Its deadline passed before it could start.',
  skipped: 'It was held back.',
  permanently_failed: 'It failed, and no attempt follows.',
};

/** Prints a sentence for each thing that a task waits for, what would help, and all gates on its path to a start. */
export async function runWhy(given: string, { json }: { json?: boolean }, context: CommandContext): Promise<void> {
  const { terminal, clock } = context;
  const api = context.connect();
  const id = await resolveTaskId(api, given);
  const answer = await api.get(`/v1/tasks/${encodeURIComponent(id)}/why`);
  if (json === true) return terminal.json(answer);
  const { status, reasons, gates, estimatedStartMs, interruptions } = readAnswer(whySchema, answer);
  if (reasons.length === 0) terminal.line(WITHOUT_REASON[status] ?? `It is ${status}, and waits at no gate.`);
  if (status === 'permanently_failed') terminal.note(`Retry it with npx muster retry ${id}`);
  if (interruptions > 0) terminal.line(`Workers that shut down interrupted it ${timesInARow(interruptions)}, and it started over.`);
  for (const reason of reasons) terminal.line(describeWait(reason, clock.now()));
  await showHelp(id, { reasons, gates }, context);
  if (estimatedStartMs !== null && estimatedStartMs !== undefined)
    terminal.line(`It should start in about ${durationText(estimatedStartMs)}.`);
  showGates(gates, terminal);
}

const questionsSchema = z.object({ items: z.array(z.object({ id: z.string(), choices: z.array(z.string()).nullish() })) });

async function showHelp(
  id: string,
  { reasons, gates }: Pick<z.infer<typeof whySchema>, 'reasons' | 'gates'>,
  context: CommandContext,
): Promise<void> {
  for (const sentence of helpFor(reasons, gates)) context.terminal.line(plainText(sentence));
  if (reasons.some(({ gate }) => gate === 'question')) await showHowToAnswer(id, context);
}

/** The command that answers each open question of a task. */
async function showHowToAnswer(id: string, context: CommandContext): Promise<void> {
  const { items } = readAnswer(questionsSchema, await context.connect().get('/v1/questions', { taskId: id, status: 'open' }));
  for (const { id: question, choices } of items) {
    const answer = choices ? `<${choices.map((each) => plainText(each)).join('|')}>` : '<answer>';
    context.terminal.line(`Answer it with npx muster answer ${question} ${answer}`);
  }
}

function timesInARow(count: number): string {
  return count === 1 ? 'once' : `${count} times in a row`;
}

/** As `It waits: queue "tasks" is paused, for 12 s.` */
export function describeWait({ detail, since, until }: z.infer<typeof reasonSchema>, now: number): string {
  const text = shortHashes(plainText(detail)).replace(/\.$/, '');
  const waitedMs = since ? now - Date.parse(since) : 0;
  const waited = waitedMs >= 1000 ? `, for ${durationText(waitedMs)}` : '';
  const left = until && Date.parse(until) > now ? `; ${durationText(Date.parse(until) - now)} to go` : '';
  return `It waits: ${text}${waited}${left}.`;
}

/** What helps at the gates that it waits at now, each once. */
function helpFor(reasons: readonly { gate: string }[], gates: readonly Gate[]): string[] {
  const names = new Set(reasons.map(({ gate }) => gate));
  return [...new Set(gates.flatMap(({ gate, helps }) => (names.has(gate) && helps ? [helps] : [])))];
}

const DETAIL_WIDTH = 120;

function showGates(gates: readonly Gate[], terminal: Terminal): void {
  if (gates.length === 0) return;
  terminal.line(`\n${terminal.paint('Gates', 'bold')}`);
  const rows = gates.map(({ gate, state, detail }) => ['', state, gate, oneLine(detail, DETAIL_WIDTH)]);
  for (const [at, line] of formatTable(rows).entries()) {
    terminal.line(terminal.paint(line, gates[at]?.state === 'closed' ? 'yellow' : 'dim'));
  }
}
