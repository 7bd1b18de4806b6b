import { MusterError } from '../../errors/index.ts';
import { wait } from '../../time/index.ts';
import { runRequest } from '../firing/accept-runs.ts';
import { settleRuns, withoutRuns } from '../firing/settle-firing.ts';
import type { ScheduleParts } from '../schedule-parts.ts';
import type { Schedule } from '../store/schedule.ts';
import type { ScheduleEvent } from '../store/schedule-store.ts';
import { type AcceptRequest, acceptTask } from '../../queue/index.ts';
import { newTaskId, type TaskStatus } from '../../tasks/index.ts';
import { traceIdOf } from '../../log/index.ts';

/** Some two seconds in all. Each time, one of the concurrent writers succeeds. */
const TRIES = 50;
const MAX_PAUSE_MS = 100;

interface Change {
  /** Returns the new record; null for no change. */
  change: (schedule: Schedule) => Schedule | null;
  event?: ScheduleEvent;
}

/**
 * Changes a schedule, whatever other writers do at the same time. Afterwards nothing fires by the old record: runs that were decided
 * before are accepted first, or undone when they cannot be; those of a paused schedule are undone. Returns the new record; null when there
 * is none.
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
    const settled = await settleFirst(parts, schedule);
    const asked = change(settled);
    if (!asked) return settled;
    const changed = { ...asked, wakeAt: wakeOf(asked, settled) };
    const now = await parts.now();
    const [isWritten] = await parts.store.save(tenant, [{ schedule: { ...changed, version: schedule.version, updatedAt: now }, event }]);
    if (isWritten) return { ...changed, version: schedule.version + 1, updatedAt: now };
    await backOff(attempt);
  }
  throw tooBusy(id);
}

/** Removes a schedule, with the same guarantees. Returns whether there was one. */
export async function removeSchedule(parts: ScheduleParts, tenant: string, id: string): Promise<boolean> {
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const schedule = await parts.store.find(tenant, id);
    if (!schedule) return false;
    await settleFirst(parts, schedule);
    if (await parts.store.remove(schedule)) {
      parts.log.info({ event: 'schedule.canceled', tenant, schedule: schedule.id }, 'a schedule was removed');
      return true;
    }
    await backOff(attempt);
  }
  throw tooBusy(id);
}

/** Accepts the decided runs. Returns the settled record, not saved yet. */
async function settleFirst(parts: ScheduleParts, schedule: Schedule): Promise<Schedule> {
  if (schedule.firing.length === 0) return schedule;
  const now = await parts.now();
  const { answer, change } = await settleRuns(parts, schedule, now);
  return answer.kind === 'later' ? { ...withoutRuns(change.schedule), wakeAt: now + answer.afterMs } : change.schedule;
}

/** A decided skip that could not be recorded yet is recorded soon, whatever the change makes of the schedule's times. */
function wakeOf(changed: Schedule, settled: Schedule): number | null {
  if (settled.firing.length === 0 || settled.wakeAt === null) return changed.wakeAt;
  return Math.min(changed.wakeAt ?? Infinity, settled.wakeAt);
}

/** A random pause, so that the same writers do not collide again. */
async function backOff(attempt: number): Promise<void> {
  await wait(Math.random() * Math.min(5 * attempt, MAX_PAUSE_MS));
}

function tooBusy(id: string): MusterError {
  return new MusterError('schedule.busy', 'Too many change this schedule at the same time; try again', {
    details: { id: id.slice(0, 100) },
  });
}

interface RunNowOptions {
  /** The W3C trace context of the request; without one the run has a trace of its own. */
  traceparent?: string | undefined;
  /** The caller's key; a repeated request under it gets the same run. */
  idempotencyKey?: string | undefined;
}

interface RunNow {
  id: string;
  status: TaskStatus | null;
  /** Whether an earlier request under the same key created it. */
  isDuplicate: boolean;
}

/**
 * Runs a schedule now, whatever its status, besides its own times; null when there is no such schedule. Where runs may not overlap, it
 * waits for the previous run or interrupts it. Errors: `schedule.busy`, and the errors of `acceptTask`.
 */
export async function runScheduleNow(
  parts: ScheduleParts,
  tenant: string,
  idOrNumber: string,
  options: RunNowOptions = {},
): Promise<RunNow | null> {
  const schedule = await parts.store.find(tenant, idOrNumber);
  if (!schedule) return null;
  const [id, now] = [newTaskId(), await parts.now()];
  // Differs from the key of an occurrence in the same millisecond.
  const key = `${schedule.id}:now:${options.idempotencyKey ?? id}`;
  const request: AcceptRequest = {
    ...runRequest(schedule, { id, occurrence: now }),
    idempotencyKey: key,
    idempotencyBody: key,
    trigger: 'run-now',
  };
  if (options.traceparent !== undefined) request.traceparent = options.traceparent;
  const accepted = await acceptTask(parts, request);
  const run = { id: accepted.id, status: accepted.status, isDuplicate: accepted.isDuplicate };
  if (run.isDuplicate) return run;
  await changeSchedule(parts, tenant, schedule.id, {
    change: (current) => ({ ...current, lastRunAt: now, lastRunId: id, runCount: current.runCount + 1 }),
  });
  const trace = traceIdOf(request.traceparent ?? '');
  parts.log.info({ event: 'schedule.run-now', schedule: schedule.id, tenant, task: id, trace }, 'a schedule runs by request');
  return run;
}
