import { acceptTask } from '#shared/queue/accept-task.ts';
import { newTaskId } from '#shared/tasks/task-id.ts';
import type { TaskStatus } from '#shared/tasks/transitions.ts';
import { changeSchedule } from './change-schedule.ts';
import { runRequest } from './run-request.ts';
import type { ScheduleParts } from './schedule-parts.ts';

/**
 * Makes a run of a schedule now, whatever its status, besides its own times; null when there is no such schedule. Where runs may
 * not overlap it waits for the one before, or takes its place. Errors: `schedule.busy`, and what accepting a task throws.
 */
export async function runScheduleNow(
  parts: ScheduleParts,
  tenant: string,
  idOrNumber: string,
  traceparent?: string,
): Promise<{ id: string; status: TaskStatus } | null> {
  const schedule = await parts.store.find(tenant, idOrNumber);
  if (!schedule) return null;
  const [id, now] = [newTaskId(), await parts.now()];
  const asked = { ...schedule, traceparent: traceparent ?? schedule.traceparent };
  // Its own key, so that it is never taken for an occurrence that comes at the same millisecond.
  const key = `${schedule.id}:now:${id}`;
  const accepted = await acceptTask(parts, { ...runRequest(asked, { id, occurrence: now }), idempotencyKey: key, idempotencyBody: key });
  await changeSchedule(parts, tenant, schedule.id, {
    change: (current) => ({ ...current, lastRunAt: now, lastRunId: id, runCount: current.runCount + 1 }),
  });
  parts.log.info({ event: 'schedule.run-now', schedule: schedule.id, tenant, task: id }, 'a schedule was made to run');
  return { id: accepted.id, status: accepted.status };
}
