import { type AcceptRequest, acceptTask } from '../../queue/index.ts';
import { newTaskId, type TaskStatus, traceIdOf } from '../../tasks/index.ts';
import { changeSchedule } from './change-schedule.ts';
import { runRequest } from '../firing/accept-runs.ts';
import type { ScheduleParts } from '../schedule-parts.ts';

export interface RunNowOptions {
  /** W3C trace context of the request; without one the run has a trace of its own. */
  traceparent?: string | undefined;
  /** The caller's own: asked again under it, the same run is answered. */
  idempotencyKey?: string | undefined;
}

export interface RunNow {
  id: string;
  status: TaskStatus | null;
  /** Whether an earlier request under the same key had made it. */
  isDuplicate: boolean;
}

/**
 * Makes a run of a schedule now, whatever its status, besides its own times; null when there is no such schedule. Where runs may
 * not overlap it waits for the one before, or takes its place. Errors: `schedule.busy`, and what accepting a task throws.
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
  // Its own key, so that it is never taken for an occurrence that comes at the same millisecond.
  const key = `${schedule.id}:now:${options.idempotencyKey ?? id}`;
  const request: AcceptRequest = {
    ...runRequest(schedule, { id, occurrence: now }),
    idempotencyKey: key,
    idempotencyBody: key,
    trigger: 'run-now',
  };
  if (options.traceparent !== undefined) request.traceparent = options.traceparent;
  const accepted = await acceptTask(parts, request);
  if (accepted.isDuplicate) return runOf(accepted);
  await changeSchedule(parts, tenant, schedule.id, {
    change: (current) => ({ ...current, lastRunAt: now, lastRunId: id, runCount: current.runCount + 1 }),
  });
  const trace = traceIdOf(request.traceparent ?? '');
  parts.log.info({ event: 'schedule.run-now', schedule: schedule.id, tenant, task: id, trace }, 'a schedule was made to run');
  return runOf(accepted);
}

function runOf({ id, status, isDuplicate }: RunNow): RunNow {
  return { id, status, isDuplicate };
}
