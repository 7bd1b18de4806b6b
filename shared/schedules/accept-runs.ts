import { MusterError } from '../errors/index.ts';
import { type AcceptRequest, acceptTask } from '../queue/index.ts';
import { traceIdOf } from '../tasks/index.ts';
import { runRequest } from './run-request.ts';
import type { Firing, Schedule } from './schedule.ts';
import type { ScheduleParts } from './schedule-parts.ts';

export type AcceptRunsAnswer =
  | { kind: 'accepted' }
  /** Not now: a limit, or Redis is away. */
  | { kind: 'later'; afterMs: number; reason: string }
  | { kind: 'no-agent' }
  /** Not as long as the schedule is as it is. */
  | { kind: 'refused'; reason: string };

/**
 * Accepts the runs that were decided for a schedule, in their order. Doing it again makes no second task, so whoever finds them in
 * the record may.
 */
export async function acceptRuns(parts: ScheduleParts, schedule: Schedule): Promise<AcceptRunsAnswer> {
  for (const firing of schedule.firing) {
    try {
      const request = runRequest(schedule, firing);
      logFiring(parts, schedule, { request, ...(await acceptTask(parts, request)) }, firing);
    } catch (error) {
      return refusalOf(error, parts.settings.scheduler.retryMs);
    }
  }
  return { kind: 'accepted' };
}

interface AcceptedRun {
  request: AcceptRequest;
  id: string;
  isDuplicate: boolean;
}

function logFiring(
  { log }: ScheduleParts,
  schedule: Schedule,
  { request, id, isDuplicate }: AcceptedRun,
  { occurrence, skip }: Firing,
): void {
  const fields = { schedule: schedule.id, tenant: schedule.tenant, task: id, trace: traceIdOf(request.traceparent ?? '') };
  // The request that made the schedule has another trace.
  const madeIn = schedule.traceparent === null ? undefined : traceIdOf(schedule.traceparent);
  log.info(
    { event: 'schedule.fired', ...fields, occurrence, skip, isDuplicate, madeIn },
    skip === undefined ? 'a schedule fired' : 'an occurrence was skipped',
  );
}

function refusalOf(error: unknown, retryMs: number): AcceptRunsAnswer {
  const reason = error instanceof Error ? error.message : String(error);
  // What is no error of ours is Redis's or the network's.
  const code = error instanceof MusterError ? error.code : 'unavailable.redis';
  if (code === 'agent.unknown') return { kind: 'no-agent' };
  if (!code.startsWith('limit.') && !code.startsWith('unavailable.')) return { kind: 'refused', reason };
  return { kind: 'later', afterMs: Math.max(retryMs, (error instanceof MusterError && error.retryAfterMs) || 0), reason };
}
