import { readUsage } from '#shared/agents/index.ts';
import type { AgentResult, AgentUsage } from '#shared/config/index.ts';
import type { DaemonMessage } from '#shared/daemons/index.ts';
import { routeOfFailure, TaskFailure } from '#shared/errors/index.ts';
import { readUntil } from '#shared/providers/index.ts';

/** What the agent answered, by the daemon's last message, without what it used. */
export function resultOf({ output, result }: DaemonMessage<'task.completed'>): AgentResult {
  return { ...(output === null || output === undefined ? {} : { output }), ...(result === undefined ? {} : { result }) };
}

/** Codes of daemons that name a limit in their own words. */
const LIMIT_CODE = /LIMIT|QUOTA|THROTTL/i;

/**
 * Why an attempt failed, by the daemon's last message. One that says until when is about the limit of an account, whose tasks wait until then;
 * `retryAfterMs` says so too with a code of a limit, and else when the next attempt may start.
 */
export function failureOf(report: DaemonMessage<'task.failed'>, nowMs: number): TaskFailure {
  const { code, message, details, retryable } = report.error;
  const { untilMs, retryAfterMs } = laterOf(report, nowMs);
  const later = retryAfterMs === undefined ? {} : { retryAfterMs };
  const isFinal = retryable === false;
  const saysLimit = untilMs !== null || (retryAfterMs !== undefined && LIMIT_CODE.test(code));
  if (saysLimit && routeOfFailure(code) === 'retry') {
    return new TaskFailure('PROVIDER_QUOTA', message, { details: { ...details, code }, ...later, isFinal });
  }
  return new TaskFailure(code, message, { ...(details ? { details } : {}), ...later, isFinal });
}

/** A daemon may say it in its error or beside it. */
function laterOf(
  { error, ...report }: DaemonMessage<'task.failed'>,
  nowMs: number,
): { untilMs: number | null; retryAfterMs: number | undefined } {
  const untilMs = readUntil(error.until ?? report.until, { nowMs, zone: 'UTC' });
  if (untilMs !== null) return { untilMs, retryAfterMs: Math.max(1, untilMs - nowMs) };
  return { untilMs, retryAfterMs: error.retryAfterMs ?? report.retryAfterMs ?? undefined };
}

/** All that an attempt has used, each of one model. Daemons say it in all each time, so that a message that is lost or comes twice changes nothing. */
export function usesOf({ byModel = [], ...all }: DaemonMessage<'task.usage'>['usage']): AgentUsage[] {
  return (byModel.length > 0 ? byModel : [all]).map((each) => readUsage(each));
}
