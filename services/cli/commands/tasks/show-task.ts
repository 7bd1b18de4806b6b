import { z } from 'zod';
import { durationText } from '#shared/time/index.ts';
import { type ApiClient, readAnswer } from '../../client/api-client.ts';
import { CliProblem, EXIT } from '../../cli-problem.ts';
import { formatCost } from '../../output/format-cost.ts';
import { formatTable } from '../../output/table.ts';
import { oneLine, plainText, pointInTime, type Terminal } from '../../output/terminal.ts';
import type { CommandContext } from '../../command-context.ts';
import { attemptsSchema, resolveTaskId, styleOfStatus, type TaskView, taskViewSchema } from './task-view.ts';

const timelineSchema = z.object({ items: z.array(z.object({ status: z.string(), at: z.string(), note: z.string().nullish() })) });

const NOTE_WIDTH = 100;

/** Shows the record of one task, its attempts, its timeline and its log; as JSON the record, as `GET /v1/tasks/:id` answers it. */
export async function runShowTask(given: string, { json }: { json?: boolean }, context: CommandContext): Promise<void> {
  const { terminal } = context;
  const api = context.connect();
  const id = await resolveTaskId(api, given);
  const path = `/v1/tasks/${encodeURIComponent(id)}`;
  if (json === true) return terminal.json(await api.get(path));
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
  showRecord(parts.task, terminal);
  showAttempts(parts.attempts, terminal);
  section('Timeline', terminal);
  const steps = parts.timeline.map(({ at, status, note }) => ['', timeOf(at), status, oneLine(note ?? '', NOTE_WIDTH)]);
  for (const line of formatTable(steps)) terminal.line(line);
  if (log.length === 0) return;
  section('Log', terminal);
  for (const line of taskLogLines(log)) terminal.line(line);
}

/** An older server keeps no logs. */
async function readLog(api: ApiClient, path: string): Promise<TaskLog> {
  try {
    return readAnswer(taskLogSchema, await api.get(`${path}/log`)).items;
  } catch (error) {
    if (error instanceof CliProblem && error.exitCode === EXIT.failed) return [];
    throw error;
  }
}

function interruptionText({ interruptions = 0 }: TaskView): string | null {
  return interruptions > 0 ? `${interruptions} in a row, by workers that shut down` : null;
}

function showRecord(task: TaskView, terminal: Terminal): void {
  terminal.line(`${terminal.paint(task.id, 'bold')}  ${terminal.paint(task.status, styleOfStatus(task.status))}`);
  const { usage, error, outcome, progress } = task;
  const rows = [
    ['agent', task.agent],
    ['source', task.source],
    ['session', task.session],
    ['priority', `${task.priority}, queue ${task.queue ?? '?'}`],
    ['deadline', timeOrNull(task.deadline)],
    ['sla', task.slaBreached === true ? `${task.sla}, passed before its end` : task.sla],
    ['worker', task.worker],
    ['preempted by', task.preemptedBy],
    ['trace', traceOf(task)],
    ['interrupted', interruptionText(task)],
    ['created', pointInTime(task.createdAt)],
    ['started', timeOrNull(task.startedAt)],
    ['completed', timeOrNull(task.completedAt)],
    ['progress', progress ? progressText(progress) : null],
    ['tokens', usage ? usageText(usage) : null],
    ['answer', task.isTruncated === true ? `cut (${task.finishReason})` : null],
    ['outcome', outcome ? [outcome.kind, outcome.taskId, outcome.reason].filter(Boolean).join(', ') : null],
    ['error', error ? `${error.message} [${error.code}]` : null],
  ];
  const given = rows.flatMap(([name, value]) => (name && value ? [['', name, plainText(value)]] : []));
  for (const line of formatTable(given)) terminal.line(line);
  showText('Input', task.input, terminal);
  if (task.output) showText('Output', task.output, terminal);
}

function traceOf({ traceUrl, traceId }: TaskView): string | null | undefined {
  return traceUrl ?? traceId;
}

function usageText({ inputTokens, outputTokens, costMicroUsd = null }: NonNullable<TaskView['usage']>): string {
  return `${inputTokens} in, ${outputTokens} out, cost ${formatCost(costMicroUsd)}`;
}

function progressText({ percent, note }: NonNullable<TaskView['progress']>): string {
  const share = typeof percent === 'number' ? `${Math.round(percent)} %` : '';
  return [share, note].filter(Boolean).join(', ');
}

function showAttempts(attempts: z.infer<typeof attemptsSchema>['items'], terminal: Terminal): void {
  if (attempts.length === 0) return;
  section('Attempts', terminal);
  const rows = attempts.map(({ number, status, startedAt, endedAt, worker, daemonName, error }) => [
    '',
    String(number),
    status,
    endedAt ? durationText(Date.parse(endedAt) - Date.parse(startedAt)) : `since ${timeOf(startedAt)}`,
    daemonName ? `${daemonName} (${worker})` : worker,
    error ? oneLine(`${error.message} [${error.code}]`, NOTE_WIDTH) : '',
  ]);
  formatTable(rows).forEach((line, index) => {
    terminal.line(line);
    const show = (text: string): void => terminal.line(terminal.paint(text, 'dim'));
    const attempt = attempts[index];
    if (attempt) for (const note of modelNotes(attempt)) show(`     ${plainText(note)}`);
    showDiagnostics(attempt?.error?.details, '     ', show);
  });
}

/** Says which model answered, and why it was not the requested one. */
function modelNotes({ model, notes }: z.infer<typeof attemptsSchema>['items'][number]): string[] {
  return [...(model ? [`answered by ${model}`] : []), ...(notes ?? [])];
}

function showText(title: string, text: string, terminal: Terminal): void {
  section(title, terminal);
  for (const line of plainText(text).trimEnd().split('\n')) terminal.line(`  ${line}`);
}

function section(title: string, terminal: Terminal): void {
  terminal.line(`\n${terminal.paint(title, 'dim')}`);
}

function timeOrNull(iso: string | null | undefined): string | null {
  return iso ? pointInTime(iso) : null;
}

/** Without the day, which the record shows. */
function timeOf(iso: string): string {
  return `${iso.slice(11, 23)} UTC`;
}

const text = z.string().nullish();

/** The agent's reports beside its output, oldest first. */
const taskLogSchema = z.object({
  items: z.array(
    z.object({
      at: z.string(),
      attempt: z.number(),
      kind: z.string(),
      level: text,
      text,
      percent: z.number().nullish(),
      fields: z.unknown().optional(),
    }),
  ),
});

type TaskLog = z.infer<typeof taskLogSchema>['items'];

const TEXT_WIDTH = 160;

/** Formats a line per entry. */
function taskLogLines(entries: TaskLog): string[] {
  const rows = entries.map(({ at, kind, level, text: message, percent, fields }) => {
    const share = typeof percent === 'number' ? `${Math.round(percent)} %` : '';
    const json = fields === null || fields === undefined ? '' : JSON.stringify(fields);
    return ['', timeOf(at), level ?? kind, oneLine([share, message, json].filter(Boolean).join(' '), TEXT_WIDTH)];
  });
  return formatTable(rows);
}

const diagnosticsSchema = z.object({ stack: text, sourceCode: text, stderr: text });

/** Shows the stack, the code around it and the stderr of an error where its details have them. */
function showDiagnostics(details: unknown, indent: string, show: (line: string) => void): void {
  const known = diagnosticsSchema.safeParse(details);
  if (!known.success) return;
  for (const [name, content] of [
    ['stack', known.data.stack],
    ['code', known.data.sourceCode],
    ['stderr', known.data.stderr],
  ] as const) {
    if (!content) continue;
    show(`${indent}${name}:`);
    for (const line of plainText(content).trimEnd().split('\n')) show(`${indent}  ${line}`);
  }
}
