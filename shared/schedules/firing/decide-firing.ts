import type { SchedulerSettings } from '../../config/index.ts';
import type { PressureLevel } from '../../ledger/index.ts';
import { newTaskId } from '../../tasks/index.ts';
import { type Firing, haltSchedule, type Schedule } from '../store/schedule.ts';
import type { ScheduleChange } from '../store/schedule-store.ts';
import { dueOccurrences, type DueOccurrences, fireDelay, shareOf, undecidedAfter, upcomingTimes, wakeFor } from './occurrences.ts';
import { planRuns } from './plan-runs.ts';

interface FiringFacts {
  /** By Redis's clock. */
  now: number;
  settings: SchedulerSettings;
  hasAgent: boolean;
  isTenantDisabled: boolean;
  /** Whether its last run is still pending or running. */
  isRunning: boolean;
  /** Runs that wait in its lane. */
  waiting: number;
  /** Whether its tenant or the fleet has too much work. */
  pressure: PressureLevel;
  /** Whether so many schedules are late that their firing is spread over time. */
  isCatchUp: boolean;
}

/** After this time another process accepts the decided runs. */
const HAND_OVER_MS = 2000;
/** More occurrences, a second apart, than one firing has to handle. */
const SPARE = 20;

/**
 * Decides what happens to a due schedule, as a change to be saved: its runs (`firing`) or the reason for none, and its next time. No run is
 * accepted before the change is saved.
 */
export function decideFiring(schedule: Schedule, facts: FiringFacts): ScheduleChange {
  if (schedule.status !== 'active' || schedule.nextFireAt === null) return { schedule: { ...schedule, wakeAt: null } };
  if (facts.isTenantDisabled) return holdForTenant(schedule, facts);
  if (!facts.hasAgent) return pauseForAgent(schedule);
  const { now, settings } = facts;
  const { nextFireAt } = schedule;
  const firesAt = nextFireAt + fireDelay(schedule, nextFireAt, settings);
  if (firesAt > now) return { schedule: { ...schedule, wakeAt: firesAt } };
  if (facts.isCatchUp && now - firesAt > settings.missedAfterMs && schedule.spreadFor !== nextFireAt) {
    // The spread must not make an occurrence later than `maxLateness` allows.
    const spareMs = Math.max(0, firesAt + (schedule.maxLatenessMs ?? Infinity) - now) / 2;
    const delayMs = shareOf(`${schedule.id}:${nextFireAt}`) * Math.min(settings.catchUpSpreadMs, spareMs);
    return { schedule: { ...schedule, spreadFor: nextFireAt, wakeAt: now + Math.floor(delayMs) } };
  }
  return decideRuns(schedule, firingNow(schedule, facts), facts);
}

/** A recurring schedule wakes again an hour later; a one-shot is paused until its tenant is enabled. */
export function holdForTenant(schedule: Schedule, { now, settings }: Pick<FiringFacts, 'now' | 'settings'>): ScheduleChange {
  if (schedule.rule.kind === 'once') {
    const paused = haltSchedule(schedule, 'paused', 'the tenant is disabled');
    return { schedule: { ...paused, heldBy: 'tenant' }, event: 'paused' };
  }
  const later = undecidedAfter(schedule, now + settings.disabledTenantMs - 1);
  const nextFireAt = later ?? undecidedAfter(schedule, now);
  const held = { ...schedule, ...wakeFor(schedule, nextFireAt, settings) };
  return nextFireAt === null
    ? { schedule: { ...held, status: 'completed' }, event: 'completed' }
    : { schedule: { ...held, heldBy: 'tenant' } };
}

/** A run for a missing agent would be refused; a person adds the agent first. */
export function pauseForAgent(schedule: Schedule): ScheduleChange {
  return { schedule: haltSchedule(schedule, 'paused', `there is no agent "${schedule.agent}"`), event: 'paused' };
}

/** The due occurrences whose delay is over. */
function firingNow(schedule: Schedule, { now, settings }: FiringFacts): DueOccurrences {
  const due = dueOccurrences(schedule, now, settings.maxCaughtUp + SPARE);
  const firstDelayed = due.times.findIndex((at) => at + fireDelay(schedule, at, settings) > now);
  if (firstDelayed <= 0) return due;
  return { ...due, times: due.times.slice(0, firstDelayed), next: due.times[firstDelayed] ?? due.next };
}

function decideRuns(schedule: Schedule, due: DueOccurrences, facts: FiringFacts): ScheduleChange {
  const { now, settings } = facts;
  const planned = planRuns(schedule, due, { ...facts, delayOf: (at) => fireDelay(schedule, at, settings) }).map((run) =>
    underPressure(schedule, run, facts),
  );
  const firing = planned.map((each) => withTaskId(each));
  const runs = firing.filter(({ skip }) => skip === undefined);
  const runCount = schedule.runCount + runs.length;
  const next = schedule.maxRuns !== null && runCount >= schedule.maxRuns ? null : nextUnderPressure(schedule, due, facts);
  const decided: Schedule = {
    ...schedule,
    ...wakeFor(schedule, next, settings),
    firing,
    lastOccurrence: due.times.at(-1) ?? schedule.lastOccurrence,
    heldBy: null,
    spreadFor: null,
    runCount,
    ...lastRunOf(schedule, runs, now),
  };
  const ended = next === null ? endOf(schedule, runs.length > 0, firing) : null;
  // It wakes for its decided runs until they are accepted.
  const wakeAt = firing.length > 0 ? now + HAND_OVER_MS : decided.wakeAt;
  return { schedule: { ...decided, ...ended, wakeAt }, event: ended?.status };
}

/** The last of these runs is that of the schedule, as long as they are not undone. */
function lastRunOf({ lastRunId, lastRunAt }: Schedule, runs: readonly Firing[], now: number): Partial<Schedule> {
  const last = runs.at(-1);
  if (last === undefined) return { runBefore: null };
  return { lastRunAt: now, lastRunId: last.id, runBefore: lastRunId === null ? null : { id: lastRunId, at: lastRunAt } };
}

/** A heartbeat only asks whether there is something to do, which there is. */
function underPressure({ rule }: Schedule, run: Omit<Firing, 'id'>, { pressure, settings }: FiringFacts): Omit<Firing, 'id'> {
  const isHeld = pressure === 'critical' && rule.kind === 'heartbeat' && settings.skipHeartbeats && run.skip === undefined;
  return isHeld ? { ...run, skip: 'pressure: there is too much work' } : run;
}

/** The next occurrence, of a heartbeat under a warning as many times later as the settings say. */
function nextUnderPressure(schedule: Schedule, { times, next }: DueOccurrences, { pressure, settings }: FiringFacts): number | null {
  const last = times.at(-1);
  const isStretched = pressure === 'warning' && schedule.rule.kind === 'heartbeat' && settings.heartbeatStretch > 1;
  if (!isStretched || next === null || last === undefined) return next;
  const [later = null] = upcomingTimes(schedule, last + (next - last) * settings.heartbeatStretch - 1, 1);
  return later ?? next;
}

function withTaskId(planned: Omit<Firing, 'id'>): Firing {
  return { id: newTaskId(), ...planned };
}

type Ended = { status: 'completed' | 'failed' } & Pick<Schedule, 'pausedReason'>;

/** A one-shot with a run ends with that run; a one-shot that missed its time has failed. */
function endOf({ rule, pausedReason }: Schedule, hasRun: boolean, firing: readonly Firing[]): Ended | null {
  if (rule.kind !== 'once') return { status: 'completed', pausedReason };
  return hasRun ? null : { status: 'failed', pausedReason: firing.at(-1)?.skip ?? 'its time has passed' };
}
