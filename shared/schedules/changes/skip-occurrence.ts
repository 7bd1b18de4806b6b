import { MusterError } from '../../errors/index.ts';
import { newTaskId } from '../../tasks/index.ts';
import { toIso } from '../../time/index.ts';
import { upcomingTimes, wakeFor } from '../firing/occurrences.ts';
import type { ScheduleParts } from '../schedule-parts.ts';
import type { Schedule } from '../store/schedule.ts';
import { changeSchedule } from './change-schedule.ts';

/**
 * Skips the next occurrence of an active schedule, which becomes a skipped run; null when there is no such schedule. `occurrence` must be
 * the next one, so that a repeated request skips no second one. Errors: `schedule.wrong-state`, `schedule.busy`.
 */
export async function skipOccurrence(parts: ScheduleParts, tenant: string, id: string, occurrence: number): Promise<Schedule | null> {
  const now = await parts.now();
  return await changeSchedule(parts, tenant, id, {
    change: (schedule) => {
      const { nextFireAt, status } = schedule;
      if (nextFireAt !== occurrence) {
        throw new MusterError('schedule.wrong-state', 'This is not the next occurrence of the schedule', {
          details: { status, nextFireAt: toIso(nextFireAt) },
        });
      }
      const [next = null] = upcomingTimes(schedule, occurrence, 1);
      return {
        ...schedule,
        ...wakeFor(schedule, next, parts.settings.scheduler),
        ...(next === null ? { status: 'completed', pausedReason: 'its last occurrence was skipped' } : {}),
        // The scheduler records the skipped run as it accepts every decided run.
        firing: [...schedule.firing, { id: newTaskId(), occurrence, skip: 'skipped by request' }],
        wakeAt: now,
        lastOccurrence: occurrence,
        spreadFor: null,
      };
    },
  });
}
