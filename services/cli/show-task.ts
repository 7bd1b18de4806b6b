import { z } from 'zod';
import type { ApiClient } from './api-client.ts';
import { CliProblem } from './cli-problem.ts';
import { EXIT } from './exit-codes.ts';
import { formatTable } from './format-table.ts';
import { oneLine, plainText } from './plain-text.ts';
import { readAnswer } from './read-answer.ts';
import type { RunContext } from './run-context.ts';
import { duration } from './short-time.ts';
import { styleOfStatus } from './style-of-status.ts';
import { resolveTaskId } from './task-id.ts';
import { showDiagnostics, taskLogLines, taskLogSchema, type TaskLog } from './task-log-view.ts';
import { attemptsSchema, taskViewSchema, type TaskView } from './task-view.ts';
import type { Terminal } from './terminal.ts';

const timelineSchema = z.object({ items: z.array(z.object({ status: z.string(), at: z.string(), note: z.string().nullish() })) });

const NOTE_WIDTH = 100;

/** `muster task`: the record of one task, its attempts, and every step it took. */
export async function showTask(given: string, { json }: { json?: boolean }, context: RunContext): Promise<void> {
  const { terminal } = context;
  const api = context.connect();
  const id = await resolveTaskId(api, given);
  const path = `/v1/tasks/${encodeURIComponent(id)}`;
  const [task, attempts, timeline, log] = await Promise.all([
    api.get(path),
    api.get(`${path}/attempts`),
    api.get(`${path}/timeline`),
    readLog(api, path),
  ]);
  const parts = {
    task: readAnswer(taskViewSchema, task),
    attempts: readAnswer(attemptsSchema, attempts).items,
    timeline: readAnswer(timelineSchema, timeline).items,
  };
  if (json === true) return terminal.json({ task, attempts, timeline, log: { items: log } });
  showRecord(parts.task, terminal);
  showAttempts(parts.attempts, terminal);
  section('Timeline', terminal);
  const steps = parts.timeline.map(({ at, status, note }) => ['', timeOf(at), status, oneLine(note ?? '', NOTE_WIDTH)]);
  for (const line of formatTable(steps)) terminal.line(line);
  if (log.length === 0) return;
  section('Log', terminal);
  for (const line of taskLogLines(log, timeOf)) terminal.line(line);
}

/** A server that is older keeps no logs. */
async function readLog(api: ApiClient, path: string): Promise<TaskLog> {
  try {
    return readAnswer(taskLogSchema, await api.get(`${path}/log`)).items;
  } catch (error) {
    if (error instanceof CliProblem && error.exitCode === EXIT.failed) return [];
    throw error;
  }
}

function showRecord(task: TaskView, terminal: Terminal): void {
  terminal.line(`${terminal.paint(task.id, 'bold')}  ${terminal.paint(task.status, styleOfStatus(task.status))}`);
  const { usage, error, outcome, progress } = task;
  const rows = [
    ['agent', task.agent],
    ['source', task.source],
    ['session', task.session],
    ['priority', `${task.priority}, queue ${task.queue ?? '?'}`],
    ['worker', task.worker],
    ['created', task.createdAt],
    ['started', task.startedAt],
    ['completed', task.completedAt],
    ['progress', progress ? progressText(progress) : null],
    ['tokens', usage ? `${usage.inputTokens} in, ${usage.outputTokens} out` : null],
    ['outcome', outcome ? [outcome.kind, outcome.taskId, outcome.reason].filter(Boolean).join(', ') : null],
    ['error', error ? `${error.message} [${error.code}]` : null],
  ];
  const given = rows.flatMap(([name, value]) => (name && value ? [['', name, plainText(value)]] : []));
  for (const line of formatTable(given)) terminal.line(line);
  showText('Input', task.input, terminal);
  if (task.output) showText('Output', task.output, terminal);
}

function progressText({ percent, note }: NonNullable<TaskView['progress']>): string {
  const share = typeof percent === 'number' ? `${Math.round(percent)} %` : '';
  return [share, note].filter(Boolean).join(', ');
}

function showAttempts(attempts: z.infer<typeof attemptsSchema>['items'], terminal: Terminal): void {
  if (attempts.length === 0) return;
  section('Attempts', terminal);
  const rows = attempts.map(({ number, status, startedAt, endedAt, worker, error }) => [
    '',
    String(number),
    status,
    endedAt ? duration(Date.parse(endedAt) - Date.parse(startedAt)) : `since ${timeOf(startedAt)}`,
    worker,
    error ? oneLine(`${error.message} [${error.code}]`, NOTE_WIDTH) : '',
  ]);
  formatTable(rows).forEach((line, index) => {
    terminal.line(line);
    showDiagnostics(attempts[index]?.error?.details, '     ', (text) => terminal.line(terminal.paint(text, 'dim')));
  });
}

function showText(title: string, text: string, terminal: Terminal): void {
  section(title, terminal);
  for (const line of plainText(text).trimEnd().split('\n')) terminal.line(`  ${line}`);
}

function section(title: string, terminal: Terminal): void {
  terminal.line(`\n${terminal.paint(title, 'dim')}`);
}

/** The day shows in the record; steps are apart by seconds. */
function timeOf(iso: string): string {
  return `${iso.slice(11, 23)} UTC`;
}
