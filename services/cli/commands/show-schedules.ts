import { formatTable, pageSchema, showNextCursor, showTable } from '../output/table.ts';
import { oneLine, plainText } from '../output/text.ts';
import { readAnswer } from '../client/api-client.ts';
import type { CommandContext } from '../command-context.ts';
import {
  runLines,
  runPageSchema,
  schedulePath,
  type ScheduleView,
  scheduleViewSchema,
  showUpcoming,
  wallTime,
  zonedTime,
} from './schedule-view.ts';

export interface ListSchedulesOptions {
  status?: string;
  agent?: string;
  limit?: string;
  cursor?: string;
  json?: boolean;
}

const RULE_WIDTH = 28;
const MESSAGE_WIDTH = 160;
const HEADING = ['#', 'STATUS', 'AGENT', 'RULE', 'NEXT', 'ZONE', 'RUNS', 'MESSAGE'];

/** Lists one schedule per line, with its next time by the clock of its zone. */
export async function runScheduleList({ json, ...query }: ListSchedulesOptions, context: CommandContext): Promise<void> {
  const { terminal } = context;
  const answer = await context.connect().get('/v1/schedules', query);
  if (json === true) return terminal.json(answer);
  const { items, nextCursor } = readAnswer(pageSchema(scheduleViewSchema), answer);
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
