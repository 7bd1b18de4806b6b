import { z } from 'zod';
import { oneLine } from './plain-text.ts';

const text = z.string().nullish();

/** What a line shows of a notification; the server says more. */
export const notificationSchema = z.object({
  kind: z.string(),
  at: z.string(),
  taskId: text,
  scheduleId: text,
  agent: text,
  worker: text,
  queueDepth: z.number().nullish(),
  reason: text,
  resultSummary: text,
  error: z.object({ code: z.string(), message: z.string() }).nullish(),
});
type Notification = z.infer<typeof notificationSchema>;

const SAID_WIDTH = 80;
const KIND_WIDTH = 22;

/** A line for a notification: when, what, about whom, and with what result or why. */
export function notificationLine(notification: Notification): string {
  const { at, kind, taskId, scheduleId, agent, worker } = notification;
  const about = [agent, worker, taskId ?? scheduleId, oneLine(said(notification), SAID_WIDTH)].filter(Boolean);
  return [new Date(at).toTimeString().slice(0, 8), kind.padEnd(KIND_WIDTH), ...about].join('  ').trimEnd();
}

function said({ queueDepth, reason, resultSummary, error }: Notification): string {
  if (typeof queueDepth === 'number') return `${queueDepth} tasks have not ended`;
  return error ? `${error.message} [${error.code}]` : (reason ?? resultSummary ?? '');
}
