import { formatTable } from './format-table.ts';
import { plainText } from './plain-text.ts';
import { readAnswer } from './read-answer.ts';
import type { RunContext } from './run-context.ts';
import { runLines, runPageSchema } from './run-lines.ts';
import { schedulePath, scheduleViewSchema, showUpcoming, zonedTime, type ScheduleView } from './schedule-view.ts';

const LATEST_RUNS = '5';

/** `muster schedule show`: one schedule, when it fires, and its latest runs. */
export async function showSchedule(name: string, { json }: { json?: boolean }, context: RunContext): Promise<void> {
  const { terminal } = context;
  const api = context.connect();
  const path = schedulePath(name);
  const [schedule, runs] = await Promise.all([api.get(path), api.get(`${path}/runs`, { limit: LATEST_RUNS })]);
  if (json === true) return terminal.json({ schedule, runs });
  const view = readAnswer(scheduleViewSchema, schedule);
  const { items } = readAnswer(runPageSchema, runs);
  terminal.line(`${terminal.paint(`#${view.number}`, 'bold')}  ${view.status}  ${view.id}`);
  showUpcoming(view, context);
  for (const line of formatTable(rowsOf(view))) terminal.line(line);
  if (items.length === 0) return;
  terminal.line(`\n${terminal.paint('Runs', 'dim')}`);
  for (const line of runLines(items, view.tz)) terminal.line(line);
}

/** The server writes what is no whole number of seconds in milliseconds. */
function durationText(given: ScheduleView['jitter']): string | null {
  return typeof given === 'number' ? `${given} ms` : (given ?? null);
}

function rowsOf(view: ScheduleView): string[][] {
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
