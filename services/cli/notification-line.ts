import { z } from 'zod';
import { oneLine } from './plain-text.ts';
import { localTime } from './short-time.ts';

const text = z.string().nullish();

/** What a line shows of a notification; the server says more. */
export const notificationSchema = z.object({
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
  queueDepth: z.number().nullish(),
  reason: text,
  resultSummary: text,
  error: z.object({ code: z.string(), message: z.string() }).nullish(),
});
type Notification = z.infer<typeof notificationSchema>;

const SAID_WIDTH = 80;
const NAME_WIDTH = 40;
const KIND_WIDTH = 22;

/** A line for a notification: when, what, about whom, and with what result or why. */
export function notificationLine(notification: Notification): string {
  const { at, kind, taskId, scheduleId, agent, session, worker } = notification;
  const about = [agent, session, worker, scheduleOf(notification), taskId ?? scheduleId].map((each) => oneLine(each ?? '', NAME_WIDTH));
  const parts = [...about, oneLine(said(notification), SAID_WIDTH)].filter((each) => each !== '');
  return [localTime(new Date(at)), kind.padEnd(KIND_WIDTH), ...parts].join('  ').trimEnd();
}

function scheduleOf({ number, name }: Notification): string | null {
  if (typeof number !== 'number') return null;
  return name ? `#${number} ${name}` : `#${number}`;
}

function said({ queueDepth, reason, resultSummary, error, code, attempt, willRetry }: Notification): string {
  if (typeof queueDepth === 'number') return `${queueDepth} tasks have not ended`;
  if (!error && code) return `attempt ${attempt ?? '?'} [${code}]${willRetry ? ', will be retried' : ''}`;
  return error ? `${error.message} [${error.code}]` : (reason ?? resultSummary ?? '');
}
