import type { SchedulerSettings } from '../../config/index.ts';
import type { DueOccurrences } from './occurrences.ts';
import type { Firing, Schedule } from '../store/schedule.ts';

export interface PlanFacts {
  now: number;
  settings: SchedulerSettings;
  /** Whether its last run is still pending or running. */
  isRunning: boolean;
  /** Runs that wait in its lane. */
  waiting: number;
  /** From an occurrence to its firing. */
  delayOf(occurrence: number): number;
}

type Planned = Omit<Firing, 'id'>;

/**
 * What becomes of occurrences that are due: each runs, or is skipped for a reason; what was missed and is not caught up is told in
 * one skipped run. First `maxLateness`, then `missed`, then `overlap`, then `maxRuns`.
 */
export function planRuns(schedule: Schedule, { times, older }: DueOccurrences, facts: PlanFacts): Planned[] {
  const late = (at: number): number => facts.now - at - facts.delayOf(at);
  const onTimeMs = Math.min(facts.settings.missedAfterMs, schedule.maxLatenessMs ?? Infinity);
  const firstFresh = times.findIndex((at) => late(at) <= onTimeMs);
  const missed = firstFresh === -1 ? times : times.slice(0, firstFresh);
  const fresh = times.slice(missed.length);
  const usable = missed.filter((at) => schedule.maxLatenessMs === null || late(at) <= schedule.maxLatenessMs);
  const caughtUp = catchUp(schedule, usable, fresh);
  const dropped = missed.filter((at) => !caughtUp.includes(at));
  return [...tellOfMissed(schedule, dropped, older, usable.length), ...withinRuns(schedule, overlapping(schedule, caughtUp, fresh, facts))];
}

/** The missed occurrences that run after all, always the newest. */
function catchUp({ missed }: Schedule, usable: readonly number[], fresh: readonly number[]): number[] {
  switch (missed.policy) {
    case 'skip':
      return [];
    case 'once':
      // One that is due now stands for those that were missed.
      return fresh.length > 0 ? [] : usable.slice(-1);
    case 'all':
      return usable.slice(-missed.most);
  }
}

function tellOfMissed(schedule: Schedule, dropped: readonly number[], older: DueOccurrences['older'], usable: number): Planned[] {
  const occurrence = dropped.at(-1) ?? older?.from;
  if (occurrence === undefined) return [];
  const from = older?.from ?? dropped[0] ?? occurrence;
  const count = dropped.length + (older?.count ?? 0);
  return [{ occurrence, skip: `${whatWasMissed(count, from, older !== null)}: ${whyDropped(schedule, usable)}`, missed: { count, from } }];
}

function whatWasMissed(count: number, from: number, isAtLeast: boolean): string {
  if (count === 1) return 'this occurrence was missed';
  return `${isAtLeast ? 'at least ' : ''}${count} occurrences since ${new Date(from).toISOString()} were missed`;
}

function whyDropped({ missed, maxLatenessMs }: Schedule, usable: number): string {
  const isCaughtUp = missed.policy === 'all' ? usable <= missed.most : usable === 0;
  if (maxLatenessMs !== null && missed.policy !== 'skip' && isCaughtUp) return 'later than maxLateness allows';
  if (missed.policy === 'skip') return 'the schedule skips what it missed';
  return missed.policy === 'once' ? 'the schedule catches up once' : 'the schedule catches up only the newest';
}

/** What was asked to be caught up one by one waits in line and is not held against itself. */
function overlapping(schedule: Schedule, caughtUp: readonly number[], fresh: readonly number[], facts: PlanFacts): Planned[] {
  const all = [...caughtUp, ...fresh];
  if (schedule.missed.policy === 'all' && caughtUp.length > 0) return all.map((occurrence) => ({ occurrence }));
  switch (schedule.overlap) {
    case 'allow':
    case 'cancel-other':
      return all.map((occurrence) => ({ occurrence }));
    case 'skip':
      return facts.isRunning ? skipped(all, 'the run before has not ended') : onlyNewest(all);
    case 'queue':
      return all.map((occurrence, position) =>
        facts.waiting + position >= facts.settings.maxQueuedRuns
          ? { occurrence, skip: `${facts.settings.maxQueuedRuns} runs wait already` }
          : { occurrence },
      );
  }
}

/** Of those that come due in one look, because nobody looked for a while, one may run: the one that is least late. */
function onlyNewest(all: readonly number[]): Planned[] {
  return [...skipped(all.slice(0, -1), 'a later one was due as well'), ...all.slice(-1).map((occurrence) => ({ occurrence }))];
}

function skipped(all: readonly number[], skip: string): Planned[] {
  return all.map((occurrence) => ({ occurrence, skip }));
}

/** Skipped ones count nothing; those after the last run are no occurrences any more. */
function withinRuns({ maxRuns, runCount }: Schedule, planned: Planned[]): Planned[] {
  if (maxRuns === null) return planned;
  let left = maxRuns - runCount;
  return planned.filter(({ skip }) => {
    if (left <= 0) return false;
    if (skip === undefined) left -= 1;
    return true;
  });
}
