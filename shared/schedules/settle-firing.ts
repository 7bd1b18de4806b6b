import type { SchedulerSettings } from '../config/index.ts';
import type { AcceptRunsAnswer } from './accept-runs.ts';
import { advanced, pauseForAgent } from './decide-firing.ts';
import type { Schedule } from './schedule.ts';
import type { ScheduleChange } from './schedule-store.ts';

/** What follows for a schedule once its runs were accepted, or were not. */
export function settleFiring(schedule: Schedule, answer: AcceptRunsAnswer, now: number, settings: SchedulerSettings): ScheduleChange {
  switch (answer.kind) {
    case 'accepted':
      return { schedule: { ...schedule, firing: [], ...wakeOf(schedule, settings) } };
    case 'later':
      return { schedule: { ...schedule, wakeAt: now + answer.afterMs } };
    case 'no-agent':
      return pauseForAgent(withoutRuns(schedule));
    case 'refused':
      return {
        schedule: { ...withoutRuns(schedule), status: 'failed', pausedReason: answer.reason, nextFireAt: null, wakeAt: null },
        event: 'failed',
      };
  }
}

function wakeOf(schedule: Schedule, settings: SchedulerSettings): { wakeAt: number | null } {
  const isActive = schedule.status === 'active';
  return { wakeAt: isActive ? advanced(schedule, schedule.nextFireAt, settings).wakeAt : null };
}

/** As if they had not been decided: they are due again, to be decided by what the schedule is then. */
export function withoutRuns(schedule: Schedule): Schedule {
  const { firing } = schedule;
  if (firing.length === 0) return schedule;
  const runs = firing.filter(({ skip }) => skip === undefined);
  const isLast = runs.some(({ id }) => id === schedule.lastRunId);
  const nextFireAt = Math.min(...firing.map(({ occurrence, missed }) => missed?.from ?? occurrence));
  return {
    ...schedule,
    // Deciding may have been its end.
    status: 'active',
    pausedReason: null,
    firing: [],
    nextFireAt,
    wakeAt: nextFireAt,
    lastOccurrence: null,
    runCount: schedule.runCount - runs.length,
    ...(isLast ? { lastRunId: null, lastRunAt: null } : {}),
  };
}
