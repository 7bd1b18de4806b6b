import { formatTable, pageSchema, showNextCursor, showTable } from '../../output/table.ts';
import { oneLine, plainText } from '../../output/terminal.ts';
import { readAnswer } from '../../client/api-client.ts';
import type { CommandContext } from '../../command-context.ts';
import { z } from 'zod';

export interface ListSchedulesOptions {
  status?: string;
  agent?: string;
  q?: string;
  limit?: string;
  cursor?: string;
  json?: boolean;
}

const searchSchema = z.object({ search: z.object({ searched: z.number(), total: z.number() }).optional() });

const RULE_WIDTH = 28;
const MESSAGE_WIDTH = 160;
const HEADING = ['#', 'STATUS', 'AGENT', 'RULE', 'NEXT', 'ZONE', 'RUNS', 'MESSAGE'];

/** Lists one schedule per line, with its next time by the clock of its zone. */
export async function runScheduleList({ json, ...query }: ListSchedulesOptions, context: CommandContext): Promise<void> {
  const { terminal } = context;
  const answer = await context.connect().get('/v1/schedules', query);
  if (json === true) return terminal.json(answer);
  const { items, nextCursor } = readAnswer(pageSchema(scheduleViewSchema), answer);
  const { search } = readAnswer(searchSchema, answer);
  if (nextCursor !== null && search) terminal.note(`Searched ${search.searched} of ${search.total} schedules.`);
  if (items.length === 0 && nextCursor !== null) return showNextCursor(nextCursor, terminal);
  if (items.length === 0 && query.q !== undefined) return terminal.note('No schedule fits.');
  if (items.length === 0) return terminal.note('There is no schedule. Create one: npx muster schedule "every day at 9" "Hello"');
  const rows = items.map(({ number, status, agent, kind, rule, nextFireAt, tz, runCount, message }) => [
    String(number),
    status,
    agent,
    // The rule of a one-time schedule is its time, which is in the next column until it has passed.
    kind === 'once' ? 'once' : oneLine(rule, RULE_WIDTH),
    nextFireAt ? wallTime(nextFireAt, tz) : '-',
    tz,
    String(runCount),
    oneLine(message, MESSAGE_WIDTH),
  ]);
  showTable({ heading: HEADING, rows, nextCursor }, terminal);
}

const LATEST_RUNS = '5';

/** Shows one schedule, its next times and its latest runs. */
export async function runScheduleShow(name: string, { json }: { json?: boolean }, context: CommandContext): Promise<void> {
  const { terminal } = context;
  const api = context.connect();
  const path = schedulePath(name);
  const [schedule, runs] = await Promise.all([api.get(path), api.get(`${path}/runs`, { limit: LATEST_RUNS })]);
  if (json === true) return terminal.json({ schedule, runs });
  const view = readAnswer(scheduleViewSchema, schedule);
  const { items } = readAnswer(runPageSchema, runs);
  terminal.line(`${terminal.paint(`#${view.number}`, 'bold')}  ${view.status}  ${view.id}`);
  showUpcoming(view, context);
  for (const line of formatTable(scheduleRows(view))) terminal.line(line);
  if (items.length === 0) return;
  terminal.line(`\n${terminal.paint('Runs', 'dim')}`);
  for (const line of runLines(items, view.tz)) terminal.line(line);
}

/** The server sends a duration that is no integer number of seconds in milliseconds. */
function durationText(given: ScheduleView['jitter']): string | null {
  return typeof given === 'number' ? `${given} ms` : (given ?? null);
}

function scheduleRows(view: ScheduleView): string[][] {
  const rows: [string, string | null | undefined][] = [
    ['name', view.name],
    ['agent', view.agent],
    ['message', view.message],
    ['made by', makerText(view.madeBy)],
    ['paused', view.pausedReason],
    ['channel', [view.platform, view.channel].filter(Boolean).join(' ')],
    ['callback', view.callbackUrl],
    ['missed', view.missed],
    ['max lateness', durationText(view.maxLateness)],
    ['overlap', view.overlap],
    ['jitter', durationText(view.jitter)],
    ['until', view.until ? zonedTime(view.until, view.tz) : null],
    ['runs', `${view.runCount}${view.maxRuns ? ` of ${view.maxRuns}` : ''}`],
    ['last run', view.lastRunAt ? `${zonedTime(view.lastRunAt, view.tz)}  ${view.lastRunId ?? ''}` : null],
  ];
  return rows.flatMap(([name, value]) => (value ? [['', name, plainText(value)]] : []));
}

function makerText(maker: ScheduleView['madeBy']): string | null {
  if (!maker) return null;
  const { agent, hook, untrusted } = maker;
  return `${agent}${hook === null ? '' : `, for the hook ${hook}`}${untrusted ? ', from words of people outside' : ''}`;
}

export interface ListRunsOptions {
  limit?: string;
  cursor?: string;
  json?: boolean;
}

/** Lists the runs of a schedule, newest first. */
export async function runScheduleRuns(name: string, { json, ...query }: ListRunsOptions, context: CommandContext): Promise<void> {
  const { terminal } = context;
  const api = context.connect();
  const answer = await api.get(`${schedulePath(name)}/runs`, query);
  if (json === true) return terminal.json(answer);
  const { items, nextCursor } = readAnswer(runPageSchema, answer);
  if (items.length === 0) return terminal.note('It has not run yet.');
  const { tz } = readAnswer(scheduleViewSchema, await api.get(schedulePath(name)));
  for (const line of runLines(items, tz)) terminal.line(line);
  showNextCursor(nextCursor, terminal);
}

const text = z.string().nullish();
const durationSchema = z.union([z.string(), z.number()]).nullish();

/** The fields of a schedule that the commands show; the server sends more. */
export const scheduleViewSchema = z.object({
  id: z.string(),
  number: z.number(),
  name: text,
  kind: z.string(),
  rule: z.string(),
  sentence: z.string(),
  tz: z.string(),
  agent: z.string(),
  message: z.string(),
  status: z.string(),
  pausedReason: text,
  priority: z.union([z.number(), z.string()]).nullish(),
  channel: text,
  platform: text,
  callbackUrl: text,
  missed: text,
  maxLateness: durationSchema,
  overlap: text,
  jitter: durationSchema,
  until: text,
  maxRuns: z.number().nullish(),
  nextFireAt: text,
  next: z.array(z.string()),
  lastRunAt: text,
  lastRunId: text,
  runCount: z.number(),
  madeBy: z.object({ agent: z.string(), hook: z.string().nullable(), untrusted: z.boolean() }).nullish(),
});

type ScheduleView = z.infer<typeof scheduleViewSchema>;

/** A person names a schedule by its number, with or without `#`, or by its id. */
export function schedulePath(name: string): string {
  return `/v1/schedules/${encodeURIComponent(name.replace(/^#/, ''))}`;
}

/** Shows the rule in words, its zone and the next times. */
export function showUpcoming(shown: Pick<ScheduleView, 'rule' | 'sentence' | 'tz' | 'next'>, { terminal }: CommandContext): void {
  const { rule, sentence, tz, next } = shown;
  terminal.line(`${sentence} (${tz})  ${terminal.paint(rule, 'dim')}`);
  for (const at of next) terminal.line(`  ${zonedTime(at, tz)}`);
}

/** An ISO time by the clock of a zone, as `2026-05-11 09:00`. Unchanged when this machine does not know the zone. */
function wallTime(iso: string, tz: string): string {
  const at = new Date(iso);
  try {
    const timeStyle = at.getUTCSeconds() === 0 ? 'short' : 'medium';
    // This locale writes dates as ISO 8601 does.
    return new Intl.DateTimeFormat('sv-SE', { timeZone: tz, dateStyle: 'short', timeStyle }).format(at);
  } catch {
    return iso;
  }
}

/** The same with the zone behind it: `2026-05-11 09:00 Europe/Berlin`. */
export function zonedTime(iso: string, tz: string): string {
  return `${wallTime(iso, tz)} ${tz}`;
}

/** The fields of a run that the commands show; the server sends more. */
const runViewSchema = z.object({
  id: z.string(),
  status: z.string(),
  occurrence: z.string().nullish(),
  startedAt: z.string().nullish(),
  reason: z.string().nullish(),
  resultSummary: z.string().nullish(),
  error: z.object({ code: z.string(), message: z.string() }).nullish(),
});

const runPageSchema = pageSchema(runViewSchema);

const SUMMARY_WIDTH = 80;

/** Formats a line per run: its time by the clock of the zone, its status, and its result or reason. */
function runLines(runs: readonly z.infer<typeof runViewSchema>[], tz: string): string[] {
  return formatTable(
    runs.map(({ id, status, occurrence, startedAt, reason, resultSummary, error }) => {
      const at = occurrence ?? startedAt;
      const summary = error ? `${error.message} [${error.code}]` : (reason ?? resultSummary ?? '');
      return ['', at ? zonedTime(at, tz) : '-', status, id, oneLine(summary, SUMMARY_WIDTH)];
    }),
  );
}
