import { createHash } from 'node:crypto';
import type { SchedulerSettings } from '../../config/index.ts';
import { isOlderZoneData, ZONE_DATA } from '../../time/index.ts';
import { nextTimes } from '../rules/next-times.ts';
import type { Schedule } from '../store/schedule.ts';

/** The first occurrences after an instant; none for a schedule that has ended. */
export function upcomingTimes(schedule: Schedule, after: number, count: number): number[] {
  return nextTimes(schedule.rule, { ...optionsOf(schedule), after, count });
}

/** The first occurrence after an instant that was not decided before its time, as a skipped one is; null when there is none. */
export function undecidedAfter(schedule: Schedule, after: number): number | null {
  const [next = null] = upcomingTimes(schedule, Math.max(after, schedule.lastOccurrence ?? after), 1);
  return next;
}

/** The first occurrence that the unsettled decision stands for; infinite without one. */
export function firstDecided({ firing }: Pick<Schedule, 'firing'>): number {
  return Math.min(...firing.map(({ occurrence, missed }) => missed?.from ?? occurrence));
}

/** The next occurrence, and when the schedule wakes for it. */
export function wakeFor(
  schedule: Pick<Schedule, 'id' | 'rule' | 'jitterMs' | 'isExact'>,
  nextFireAt: number | null,
  settings: SchedulerSettings,
): Pick<Schedule, 'nextFireAt' | 'wakeAt' | 'zoneData'> {
  const wakeAt = nextFireAt === null ? null : nextFireAt + fireDelay(schedule, nextFireAt, settings);
  return { nextFireAt, wakeAt, zoneData: schedule.rule.kind === 'cron' ? ZONE_DATA : null };
}

/** No release of the data moved a zone's clocks by more. */
const LARGEST_REVISION_MS = 3 * 3_600_000;

/**
 * A cron whose next occurrence was computed with older time zone data, with what it is by the data of this process; null for any other
 * schedule. An occurrence that the newer data has earlier may be past, and is late then.
 */
export function withNewerZoneData(schedule: Schedule, settings: SchedulerSettings): Schedule | null {
  const { rule, status, nextFireAt, firing, zoneData, lastOccurrence, updatedAt } = schedule;
  if (rule.kind !== 'cron' || status !== 'active' || nextFireAt === null || firing.length > 0) return null;
  if (!isOlderZoneData(zoneData ?? '', ZONE_DATA)) return null;
  const after = Math.max(lastOccurrence ?? 0, Math.min(updatedAt, nextFireAt) - 1, nextFireAt - LARGEST_REVISION_MS);
  return { ...schedule, ...wakeFor(schedule, undecidedAfter(schedule, after) ?? nextFireAt, settings) };
}

const HOUR_MS = 3_600_000;

/**
 * Milliseconds from an occurrence to its firing: the jitter of each occurrence, and the schedule's own share of the spread of crons over
 * the full hour. Every process computes the same delay.
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

/** The first instant at which `maxLateness` does not allow an occurrence to run any more; infinite without one. */
export function tooLateFrom(schedule: Schedule, occurrence: number, settings: SchedulerSettings): number {
  const { maxLatenessMs } = schedule;
  return maxLatenessMs === null ? Infinity : occurrence + fireDelay(schedule, occurrence, settings) + maxLatenessMs + 1;
}

/** By UTC: the few zones with half hours lose only the spread. */
function isFullHour(at: number): boolean {
  return at % HOUR_MS === 0;
}

const RANGE = 2 ** 32;

/** A number from 0 up to 1, always the same for a text and evenly distributed over texts. */
export function shareOf(text: string): number {
  return createHash('sha1').update(text).digest().readUInt32BE(0) / RANGE;
}

export interface DueOccurrences {
  /** The newest due occurrences, oldest first. */
  times: number[];
  /** The due occurrences before `times`: their minimum number, and the first of them. */
  older: { count: number; from: number } | null;
  /** The first occurrence that is not due yet; null when there is none. */
  next: number | null;
}

/** Occurrences computed in one go; the exact number of more is unknown. */
const MAX_COMPUTED = 1000;
const HALVINGS = 50;

/** The occurrences from `nextFireAt` up to and including `now`, up to `keep` of them one by one. After a long stop there may be millions. */
export function dueOccurrences(schedule: Schedule, now: number, keep: number): DueOccurrences {
  const from = schedule.nextFireAt ?? now;
  const [first, second = null] = upcomingTimes(schedule, from - 1, 2);
  const isOnlyOne = first === from && from <= now && (second === null || second > now);
  // The common case reads the rule once, because very many schedules may be due together.
  return isOnlyOne ? { times: [from], older: null, next: second } : manyOccurrences(schedule, from, now, keep);
}

function manyOccurrences(schedule: Schedule, from: number, now: number, keep: number): DueOccurrences {
  const due = timesIn(schedule, from - 1, now, MAX_COMPUTED + 1);
  // The stored occurrence is due even when the rule no longer has it.
  const times = due.length === 0 ? [from] : due;
  const newest = times.length > MAX_COMPUTED ? newestIn(schedule, from, now, keep) : times.slice(-keep);
  const olderCount = times.length - newest.length;
  const hasOlder = times.length > MAX_COMPUTED || olderCount > 0;
  const [next = null] = upcomingTimes(schedule, newest.at(-1) ?? now, 1);
  return { times: newest, older: hasOlder ? { count: Math.max(olderCount, 1), from } : null, next };
}

/** Searches back from `now` over half the span each time, until the number of occurrences can be computed. */
function newestIn(schedule: Schedule, from: number, now: number, keep: number): number[] {
  let span = now - from;
  for (let halving = 0; halving < HALVINGS; halving += 1) {
    span = Math.floor(span / 2);
    const found = timesIn(schedule, now - span - 1, now, MAX_COMPUTED + 1);
    if (found.length <= MAX_COMPUTED) return found.slice(-keep);
  }
  return [];
}

/** The first occurrences of a range, both ends included. */
export function pastOccurrences(schedule: Schedule, { since, until, count }: { since: number; until: number; count: number }): number[] {
  return timesIn(schedule, since - 1, until, count);
}

function timesIn(schedule: Schedule, after: number, now: number, count: number): number[] {
  const until = Math.min(now, schedule.until ?? now);
  return nextTimes(schedule.rule, { ...optionsOf(schedule), after, count, until });
}

function optionsOf({ tz, id, until }: Schedule): { tz: string; seed: string; until?: number } {
  return { tz, seed: id, ...(until === null ? {} : { until }) };
}
