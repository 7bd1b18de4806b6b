import type { Log } from '../../log/index.ts';
import type { ScheduleChange } from './schedule-store.ts';

/** One line for what a written change means to the schedule's owner; nothing for one that means nothing. */
export function logChange(log: Log, { schedule, event }: ScheduleChange): void {
  if (event === undefined) return;
  const { id, tenant, pausedReason: reason } = schedule;
  const level = event === 'paused' || event === 'failed' ? 'warn' : 'info';
  log[level]({ event: `schedule.${event}`, schedule: id, tenant, reason }, `a schedule is ${event}`);
}
