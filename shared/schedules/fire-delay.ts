import type { SchedulerSettings } from '../config/index.ts';
import type { Schedule } from './schedule.ts';
import { shareOf } from './share-of.ts';

const HOUR_MS = 3_600_000;

/**
 * Milliseconds from an occurrence to its firing: the schedule's jitter, other for each occurrence, and the spread of crons over the
 * full hour, the same for all of a schedule's. Always the same for the same occurrence, whichever process asks.
 */
export function fireDelay(
  schedule: Pick<Schedule, 'id' | 'rule' | 'jitterMs' | 'isExact'>,
  occurrence: number,
  settings: SchedulerSettings,
): number {
  const { id, rule, jitterMs, isExact } = schedule;
  const jitter = jitterMs === 0 ? 0 : Math.floor(shareOf(`${id}:${occurrence}`) * jitterMs);
  const isSpread = settings.topOfHourSpreadMs > 0 && rule.kind === 'cron' && !isExact && isFullHour(occurrence);
  return jitter + (isSpread ? Math.floor(shareOf(id) * settings.topOfHourSpreadMs) : 0);
}

/** By UTC: zones whose hours begin at another minute are few, and lose nothing but the spread. */
function isFullHour(at: number): boolean {
  return at % HOUR_MS === 0;
}
