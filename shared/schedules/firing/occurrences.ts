import { nextTimes } from '../rules/next-times.ts';
import type { Schedule } from '../store/schedule.ts';
import type { SchedulerSettings } from '../../config/index.ts';
import { createHash } from 'node:crypto';

export interface DueOccurrences {
  /** The newest of those that are due, oldest first. */
  times: number[];
  /** Those before them: how many, at least, and the first. */
  older: { count: number; from: number } | null;
  /** The first that is not due yet; null when there is none. */
  next: number | null;
}

/** Occurrences computed in one go; of more, their number is not known. */
const MAX_COMPUTED = 1000;
const HALVINGS = 50;

/**
 * The occurrences of a schedule from its `nextFireAt` up to and including `now`, of which at most `keep` one by one: after a long
 * stop there may be millions.
 */
export function dueOccurrences(schedule: Schedule, now: number, keep: number): DueOccurrences {
  const from = schedule.nextFireAt ?? now;
  const [first, second = null] = upcomingTimes(schedule, from - 1, 2);
  const isOnlyOne = first === from && from <= now && (second === null || second > now);
  // The ordinary case in one look at the rule, because very many schedules may be due at once.
  return isOnlyOne ? { times: [from], older: null, next: second } : manyOccurrences(schedule, from, now, keep);
}

function manyOccurrences(schedule: Schedule, from: number, now: number, keep: number): DueOccurrences {
  const due = timesIn(schedule, from - 1, now, MAX_COMPUTED + 1);
  // The rule says nothing of the time that was written down: it was due all the same.
  const times = due.length === 0 ? [from] : due;
  const newest = times.length > MAX_COMPUTED ? newestIn(schedule, from, now, keep) : times.slice(-keep);
  const olderCount = times.length - newest.length;
  const isMore = times.length > MAX_COMPUTED || olderCount > 0;
  const last = newest.at(-1) ?? now;
  const [next = null] = nextTimes(schedule.rule, { ...optionsOf(schedule), after: last, count: 1 });
  return { times: newest, older: isMore ? { count: Math.max(olderCount, 1), from } : null, next };
}

/** The first occurrences after an instant; none for a schedule that has come to its end. */
export function upcomingTimes(schedule: Schedule, after: number, count: number): number[] {
  return nextTimes(schedule.rule, { ...optionsOf(schedule), after, count });
}

function timesIn(schedule: Schedule, after: number, now: number, count: number): number[] {
  const until = Math.min(now, schedule.until ?? now);
  return nextTimes(schedule.rule, { ...optionsOf(schedule), after, count, until });
}

function optionsOf({ tz, id, until }: Schedule): { tz: string; seed: string; until?: number } {
  return { tz, seed: id, ...(until === null ? {} : { until }) };
}

/** Looks back from `now`, half as far each time, until what is found reaches up to now. */
function newestIn(schedule: Schedule, from: number, now: number, keep: number): number[] {
  let span = now - from;
  for (let halving = 0; halving < HALVINGS; halving += 1) {
    span = Math.floor(span / 2);
    const found = timesIn(schedule, now - span - 1, now, MAX_COMPUTED + 1);
    if (found.length <= MAX_COMPUTED) return found.slice(-keep);
  }
  return [];
}

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

const RANGE = 2 ** 32;

/** A number from 0 up to 1 that is always the same for a text, and evenly spread over texts. */
export function shareOf(text: string): number {
  return createHash('sha1').update(text).digest().readUInt32BE(0) / RANGE;
}
