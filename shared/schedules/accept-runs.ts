import { MusterError } from '#shared/errors/muster-error.ts';
import { acceptTask } from '#shared/queue/accept-task.ts';
import { runRequest } from './run-request.ts';
import type { Schedule } from './schedule.ts';
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
      const { id, isDuplicate } = await acceptTask(parts, runRequest(schedule, firing));
      const { occurrence, skip } = firing;
      parts.log.info(
        { event: 'schedule.fired', schedule: schedule.id, tenant: schedule.tenant, task: id, occurrence, skip, isDuplicate },
        skip === undefined ? 'a schedule fired' : 'an occurrence was skipped',
      );
    } catch (error) {
      return refusalOf(error, parts.settings.scheduler.retryMs);
    }
  }
  return { kind: 'accepted' };
}

function refusalOf(error: unknown, retryMs: number): AcceptRunsAnswer {
  const reason = error instanceof Error ? error.message : String(error);
  // What is no error of ours is Redis's or the network's.
  const code = error instanceof MusterError ? error.code : 'unavailable.redis';
  if (code === 'agent.unknown') return { kind: 'no-agent' };
  if (!code.startsWith('limit.') && !code.startsWith('unavailable.')) return { kind: 'refused', reason };
  return { kind: 'later', afterMs: Math.max(retryMs, (error instanceof MusterError && error.retryAfterMs) || 0), reason };
}
