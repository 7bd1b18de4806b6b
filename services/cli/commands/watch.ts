import type { Command } from 'commander';
import type { EventSourceMessage } from 'eventsource-parser';
import { z } from 'zod';
import { followStream } from '../client/follow-stream.ts';
import type { CommandContext, ContextOf } from '../command-context.ts';
import { localTime, oneLine } from '../output/terminal.ts';

interface WatchOptions {
  kinds?: string;
  json?: boolean;
}

export function addWatchCommand(program: Command, contextOf: ContextOf): void {
  program
    .command('watch')
    .description('print a line for each event until Ctrl-C: runs, schedules, pressure, workers')
    .option('--kinds <list>', 'such as run.*,task.failed; * means all')
    .option('--json', 'print each event as a line of JSON')
    .action((options: WatchOptions, command: Command) => runWatch(options, contextOf(command)));
}

/** Prints a line per notification until it is interrupted. Rejects as `followStream` does. */
async function runWatch(options: WatchOptions, context: CommandContext): Promise<void> {
  const query = options.kinds === undefined ? '' : `?${new URLSearchParams({ kinds: options.kinds }).toString()}`;
  await followStream<never>({
    connect: () => context.connect(),
    path: `/v1/notifications/stream${query}`,
    onEvent: (event) => {
      showEvent(event, options, context);
      return null;
    },
  });
}

function showEvent({ event, data }: EventSourceMessage, { json }: WatchOptions, { terminal }: CommandContext): void {
  if (event === 'gap')
    terminal.note('Some notifications are missing, because the stream does not keep them so long. See the list of runs.');
  if (event !== 'notification') return;
  terminal.line(json === true ? data : notificationLine(notificationSchema.parse(JSON.parse(data))));
}

const text = z.string().nullish();

/** The fields that a line shows; the server sends more. */
const notificationSchema = z.object({
  kind: z.string(),
  at: z.string(),
  taskId: text,
  scheduleId: text,
  agent: text,
  session: text,
  number: z.number().nullish(),
  name: text,
  attempt: z.number().nullish(),
  code: text,
  willRetry: z.boolean().nullish(),
  worker: text,
  budget: text,
  queueDepth: z.number().nullish(),
  reason: text,
  preemptedBy: text,
  question: text,
  answeredBy: text,
  open: z.number().nullish(),
  resultSummary: text,
  error: z.object({ code: z.string(), message: z.string() }).nullish(),
  finding: z.object({ text: z.string() }).nullish(),
});
type Notification = z.infer<typeof notificationSchema>;

const SUMMARY_WIDTH = 80;
const NAME_WIDTH = 40;
const KIND_WIDTH = 22;

/** A line for a notification: when, what, about whom, and with what result or why. */
function notificationLine(notification: Notification): string {
  const { at, kind, taskId, scheduleId, agent, session, worker, budget } = notification;
  const about = [agent, session, worker, budget, scheduleOf(notification), taskId ?? scheduleId].map((each) =>
    oneLine(each ?? '', NAME_WIDTH),
  );
  const parts = [...about, oneLine(notification.finding?.text ?? summarize(notification), SUMMARY_WIDTH)].filter((each) => each !== '');
  return [localTime(new Date(at)), kind.padEnd(KIND_WIDTH), ...parts].join('  ').trimEnd();
}

function scheduleOf({ number, name }: Notification): string | null {
  // A daemon has a name and no number.
  if (typeof number !== 'number') return name ?? null;
  return name ? `#${number} ${name}` : `#${number}`;
}

function depthText(depth: number): string {
  return depth === 1 ? '1 task has not ended' : `${depth} tasks have not ended`;
}

function summarize(notification: Notification): string {
  const { queueDepth, reason, preemptedBy, resultSummary, error, code, attempt, willRetry } = notification;
  if (preemptedBy) return `by task ${preemptedBy}`;
  if (typeof queueDepth === 'number') return depthText(queueDepth);
  if (!error && code) return `attempt ${attempt ?? '?'} [${code}]${willRetry ? ', will be retried' : ''}`;
  return error ? `${error.message} [${error.code}]` : (reason ?? resultSummary ?? questionOf(notification));
}

function questionOf({ question, answeredBy, open }: Notification): string {
  if (typeof open === 'number') return `${open} ${open === 1 ? 'question is' : 'questions are'} open`;
  return answeredBy ? `answered by ${answeredBy}: ${question ?? ''}` : (question ?? '');
}
