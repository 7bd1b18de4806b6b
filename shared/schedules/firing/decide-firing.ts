import type { SchedulerSettings } from '../../config/index.ts';
import { newTaskId } from '../../tasks/index.ts';
import { dueOccurrences, type DueOccurrences, fireDelay, shareOf, upcomingTimes } from './occurrences.ts';
import { planRuns } from './plan-runs.ts';
import type { Firing, Schedule } from '../store/schedule.ts';
import type { ScheduleChange } from '../store/schedule-store.ts';
import type { AcceptRunsAnswer } from './accept-runs.ts';

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
  /** Whether so many schedules are late that they are caught up one after the other. */
  isCatchUp: boolean;
}

/** How long a decided run may take to be accepted before another process takes care of it. */
const HAND_OVER_MS = 2000;
/** More than one look's worth of occurrences a second apart. */
const SPARE = 20;

/**
 * What follows for a schedule whose time has come, as a change to be written: runs that are decided (`firing`), or why there are
 * none, and when it is looked at next. Decides only; nothing is accepted before the change is written.
 */
export function decideFiring(schedule: Schedule, facts: FiringFacts): ScheduleChange {
  if (schedule.status !== 'active' || schedule.nextFireAt === null) return { schedule: { ...schedule, wakeAt: null } };
  if (facts.isTenantDisabled) return holdForTenant(schedule, facts);
  if (!facts.hasAgent) return pauseForAgent(schedule);
  const { now, settings } = facts;
  const wakesAt = schedule.nextFireAt + fireDelay(schedule, schedule.nextFireAt, settings);
  if (wakesAt > now) return { schedule: { ...schedule, wakeAt: wakesAt } };
  if (facts.isCatchUp && now - wakesAt > settings.missedAfterMs && schedule.spreadFor !== schedule.nextFireAt) {
    // What may still fire is not to become too late by it.
    const spareMs = Math.max(0, wakesAt + (schedule.maxLatenessMs ?? Infinity) - now) / 2;
    const share = shareOf(`${schedule.id}:${schedule.nextFireAt}`) * Math.min(settings.catchUpSpreadMs, spareMs);
    return { schedule: { ...schedule, spreadFor: schedule.nextFireAt, wakeAt: now + Math.floor(share) } };
  }
  return planFiring(schedule, releasedBy(schedule, facts), facts);
}

/** The run that is made for a missing agent would be refused; a person mends the catalog first. */
function pauseForAgent(schedule: Schedule): ScheduleChange {
  const pausedReason = `there is no agent "${schedule.agent}"`;
  return { schedule: { ...schedule, status: 'paused', pausedReason, nextFireAt: null, wakeAt: null }, event: 'paused' };
}

/** Recurring ones come back later, one-shots wait for their tenant. */
function holdForTenant(schedule: Schedule, { now, settings }: FiringFacts): ScheduleChange {
  if (schedule.rule.kind === 'once') {
    const paused = {
      ...schedule,
      status: 'paused',
      pausedReason: 'the tenant is disabled',
      heldBy: 'tenant',
      nextFireAt: null,
      wakeAt: null,
    } as const;
    return { schedule: paused, event: 'paused' };
  }
  const [later] = upcomingTimes(schedule, now + settings.disabledTenantMs - 1, 1);
  const [nextFireAt = null] = later === undefined ? upcomingTimes(schedule, now, 1) : [later];
  const held = { ...schedule, ...advanced(schedule, nextFireAt, settings) };
  return nextFireAt === null
    ? { schedule: { ...held, status: 'completed' }, event: 'completed' }
    : { schedule: { ...held, heldBy: 'tenant' } };
}

/** Of what is due, what its jitter has let go by now. */
function releasedBy(schedule: Schedule, { now, settings }: FiringFacts): DueOccurrences {
  const due = dueOccurrences(schedule, now, settings.maxCaughtUp + SPARE);
  const held = due.times.findIndex((at) => at + fireDelay(schedule, at, settings) > now);
  if (held <= 0) return due;
  return { ...due, times: due.times.slice(0, held), next: due.times[held] ?? due.next };
}

function planFiring(schedule: Schedule, due: DueOccurrences, facts: FiringFacts): ScheduleChange {
  const { now, settings } = facts;
  const planned = planRuns(schedule, due, { ...facts, delayOf: (at) => fireDelay(schedule, at, settings) });
  const firing = planned.map((each) => withId(each));
  const runs = firing.filter(({ skip }) => skip === undefined);
  const runCount = schedule.runCount + runs.length;
  const isOver = schedule.maxRuns !== null && runCount >= schedule.maxRuns;
  const next = isOver ? null : due.next;
  const fired: Schedule = {
    ...schedule,
    ...advanced(schedule, next, settings),
    firing,
    lastOccurrence: due.times.at(-1) ?? schedule.lastOccurrence,
    heldBy: null,
    spreadFor: null,
    runCount,
    ...(runs.length === 0 ? {} : { lastRunAt: now, lastRunId: runs.at(-1)?.id ?? null }),
  };
  const ended = next === null ? endOf(schedule, runs.length > 0, firing) : null;
  // Until its runs are accepted it is looked at for them.
  const wakeAt = firing.length > 0 ? now + HAND_OVER_MS : fired.wakeAt;
  return { schedule: { ...fired, ...ended, wakeAt }, event: ended?.status };
}

/** A one-shot that runs waits for what becomes of it; one that was missed for good has failed. */
function endOf({ rule, pausedReason }: Schedule, hasRun: boolean, firing: readonly Firing[]): Ended | null {
  if (rule.kind !== 'once') return { status: 'completed', pausedReason };
  return hasRun ? null : { status: 'failed', pausedReason: firing.at(-1)?.skip ?? 'its time has passed' };
}

function withId(planned: Omit<Firing, 'id'>): Firing {
  return { id: newTaskId(), ...planned };
}

interface Ended {
  status: 'completed' | 'failed';
  pausedReason: string | null;
}

/** Its next occurrence, and when it is looked at for it. */
export function advanced(
  schedule: Pick<Schedule, 'id' | 'rule' | 'jitterMs' | 'isExact'>,
  nextFireAt: number | null,
  settings: SchedulerSettings,
): { nextFireAt: number | null; wakeAt: number | null } {
  return { nextFireAt, wakeAt: nextFireAt === null ? null : nextFireAt + fireDelay(schedule, nextFireAt, settings) };
}

/** What follows for a schedule once its runs were accepted, or were not. */
export function settleFiring(schedule: Schedule, answer: AcceptRunsAnswer, now: number, settings: SchedulerSettings): ScheduleChange {
  switch (answer.kind) {
    case 'accepted':
      return { schedule: { ...schedule, firing: [], ...wakeOf(schedule, settings) } };
    case 'later':
      return { schedule: { ...schedule, wakeAt: now + answer.afterMs } };
    case 'no-agent':
      return pauseForAgent(withoutRuns(schedule));
    case 'refused':
      return {
        schedule: { ...withoutRuns(schedule), status: 'failed', pausedReason: answer.reason, nextFireAt: null, wakeAt: null },
        event: 'failed',
      };
  }
}

function wakeOf(schedule: Schedule, settings: SchedulerSettings): { wakeAt: number | null } {
  const isActive = schedule.status === 'active';
  return { wakeAt: isActive ? advanced(schedule, schedule.nextFireAt, settings).wakeAt : null };
}

/** As if they had not been decided: they are due again, to be decided by what the schedule is then. */
export function withoutRuns(schedule: Schedule): Schedule {
  const { firing } = schedule;
  if (firing.length === 0) return schedule;
  const runs = firing.filter(({ skip }) => skip === undefined);
  const isLast = runs.some(({ id }) => id === schedule.lastRunId);
  const nextFireAt = Math.min(...firing.map(({ occurrence, missed }) => missed?.from ?? occurrence));
  return {
    ...schedule,
    // Deciding may have been its end.
    status: 'active',
    pausedReason: null,
    firing: [],
    nextFireAt,
    wakeAt: nextFireAt,
    lastOccurrence: null,
    runCount: schedule.runCount - runs.length,
    ...(isLast ? { lastRunId: null, lastRunAt: null } : {}),
  };
}
