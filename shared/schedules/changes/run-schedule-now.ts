import { type AcceptRequest, acceptTask } from '../../queue/index.ts';
import { newTaskId, type TaskStatus, traceIdOf } from '../../tasks/index.ts';
import { runRequest } from '../firing/accept-runs.ts';
import type { ScheduleParts } from '../schedule-parts.ts';
import { changeSchedule } from './change-schedule.ts';

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
