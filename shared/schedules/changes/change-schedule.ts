import { MusterError } from '../../errors/index.ts';
import { wait } from '../../time/index.ts';
import { acceptRuns } from '../firing/accept-runs.ts';
import type { Schedule } from '../store/schedule.ts';
import type { ScheduleParts } from '../schedule-parts.ts';
import type { ScheduleEvent } from '../store/schedule-store.ts';
import { settleFiring, withoutRuns } from '../firing/decide-firing.ts';

/** Some two seconds in all. Of those who try at the same time one gets its way each time. */
const TRIES = 50;
const MAX_PAUSE_MS = 100;

export interface Change {
  /** Given the record as it is; null for no change. */
  change: (schedule: Schedule) => Schedule | null;
  /** Told by what came out. */
  event?: ScheduleEvent;
}

/**
 * Changes a schedule, whatever others do to it at the same time. From when this returns nothing fires by what it was: runs that were
 * decided before are accepted first, or taken back when they cannot be. Answers the record as it is now; null when there is none.
 */
export async function changeSchedule(
  parts: ScheduleParts,
  tenant: string,
  id: string,
  { change, event }: Change,
): Promise<Schedule | null> {
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const schedule = await parts.store.find(tenant, id);
    if (!schedule) return null;
    const settled = await settledOf(parts, schedule);
    const changed = change(settled);
    if (!changed) return settled;
    const now = await parts.now();
    const [written] = await parts.store.save(tenant, [{ schedule: { ...changed, version: schedule.version, updatedAt: now }, event }]);
    if (written) return { ...changed, version: schedule.version + 1, updatedAt: now };
    await stepAside(attempt);
  }
  throw tooBusy(id);
}

/** Removes a schedule in the same way. Answers whether there was one. */
export async function removeSchedule(parts: ScheduleParts, tenant: string, id: string): Promise<boolean> {
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const schedule = await parts.store.find(tenant, id);
    if (!schedule) return false;
    await settledOf(parts, schedule);
    if (await parts.store.remove(schedule)) {
      parts.log.info({ event: 'schedule.canceled', tenant, schedule: schedule.id }, 'a schedule was removed');
      return true;
    }
    await stepAside(attempt);
  }
  throw tooBusy(id);
}

/** The record once its decided runs are accepted. */
async function settledOf(parts: ScheduleParts, schedule: Schedule): Promise<Schedule> {
  if (schedule.firing.length === 0) return schedule;
  const answer = await acceptRuns(parts, schedule);
  if (answer.kind === 'later') return { ...withoutRuns(schedule), wakeAt: (await parts.now()) + answer.afterMs };
  return settleFiring(schedule, answer, await parts.now(), parts.settings.scheduler).schedule;
}

/** Whoever lost is not to meet the same ones again. */
async function stepAside(attempt: number): Promise<void> {
  await wait(Math.random() * Math.min(5 * attempt, MAX_PAUSE_MS));
}

function tooBusy(id: string): MusterError {
  return new MusterError('schedule.busy', 'Too many change this schedule at the same time; try again', {
    details: { id: id.slice(0, 100) },
  });
}
