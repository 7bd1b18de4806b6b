import type { SchedulerSettings } from '../../config/index.ts';
import type { Firing, Schedule } from '../store/schedule.ts';
import type { DueOccurrences } from './occurrences.ts';
import { timeText } from '../../time/index.ts';

interface PlanFacts {
  now: number;
  settings: SchedulerSettings;
  /** Whether its last run is still pending or running. */
  isRunning: boolean;
  /** Runs that wait in its lane. */
  waiting: number;
  /** Milliseconds from an occurrence to its firing. */
  delayOf(occurrence: number): number;
}

type PlannedRun = Omit<Firing, 'id'>;

/**
 * Plans what happens to due occurrences: each runs or is skipped for a reason. All missed occurrences that are not caught up become one
 * skipped run. `maxLateness` applies first, then `missed`, `overlap` and `maxRuns`.
 */
export function planRuns(schedule: Schedule, { times, older }: DueOccurrences, facts: PlanFacts): PlannedRun[] {
  const latenessOf = (at: number): number => facts.now - at - facts.delayOf(at);
  const onTimeMs = Math.min(facts.settings.missedAfterMs, schedule.maxLatenessMs ?? Infinity);
  const firstFresh = times.findIndex((at) => latenessOf(at) <= onTimeMs);
  const missed = firstFresh === -1 ? times : times.slice(0, firstFresh);
  const fresh = times.slice(missed.length);
  const usable = missed.filter((at) => schedule.maxLatenessMs === null || latenessOf(at) <= schedule.maxLatenessMs);
  const caughtUp = catchUp(schedule, usable, fresh);
  const dropped = missed.filter((at) => !caughtUp.includes(at));
  const runs = withinMaxRuns(schedule, withoutOverlap(schedule, caughtUp, fresh, facts));
  return [...skippedForMissed(schedule, dropped, older, usable.length), ...runs];
}

/** The missed occurrences that run after all, always the newest. */
function catchUp({ missed }: Schedule, usable: readonly number[], fresh: readonly number[]): number[] {
  switch (missed.policy) {
    case 'skip':
      return [];
    case 'once':
      // A fresh occurrence replaces the missed ones.
      return fresh.length > 0 ? [] : usable.slice(-1);
    case 'all':
      return usable.slice(-missed.most);
  }
}

function skippedForMissed(schedule: Schedule, dropped: readonly number[], older: DueOccurrences['older'], usable: number): PlannedRun[] {
  const occurrence = dropped.at(-1) ?? older?.from;
  if (occurrence === undefined) return [];
  const from = older?.from ?? dropped[0] ?? occurrence;
  const count = dropped.length + (older?.count ?? 0);
  const skip = `${describeMissed(count, from, older !== null)}: ${whyDropped(schedule, usable)}`;
  return [{ occurrence, skip, missed: { count, from } }];
}

function describeMissed(count: number, from: number, isMinimum: boolean): string {
  if (count === 1) return 'this occurrence was missed';
  return `${isMinimum ? 'at least ' : ''}${count} occurrences since ${timeText(from)} were missed`;
}

/** Why an occurrence does not run that could have run earlier. */
export const TOO_LATE = 'later than maxLateness allows';

function whyDropped({ missed, maxLatenessMs }: Schedule, usable: number): string {
  const isCaughtUp = missed.policy === 'all' ? usable <= missed.most : usable === 0;
  if (maxLatenessMs !== null && missed.policy !== 'skip' && isCaughtUp) return TOO_LATE;
  if (missed.policy === 'skip') return 'the schedule skips what it missed';
  return missed.policy === 'once' ? 'the schedule catches up once' : 'the schedule catches up only the newest';
}

/** Occurrences that are caught up one by one wait in the lane, and do not count as overlaps of each other. */
function withoutOverlap(schedule: Schedule, caughtUp: readonly number[], fresh: readonly number[], facts: PlanFacts): PlannedRun[] {
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

/** Of several occurrences in one firing, after a stop, the newest runs. */
function onlyNewest(all: readonly number[]): PlannedRun[] {
  return [...skipped(all.slice(0, -1), 'a later one was due as well'), ...all.slice(-1).map((occurrence) => ({ occurrence }))];
}

function skipped(all: readonly number[], skip: string): PlannedRun[] {
  return all.map((occurrence) => ({ occurrence, skip }));
}

/** Skipped runs do not count. Nothing is recorded for occurrences after the last run. */
function withinMaxRuns({ maxRuns, runCount }: Schedule, planned: PlannedRun[]): PlannedRun[] {
  if (maxRuns === null) return planned;
  let left = maxRuns - runCount;
  return planned.filter(({ skip }) => {
    if (left <= 0) return false;
    if (skip === undefined) left -= 1;
    return true;
  });
}
