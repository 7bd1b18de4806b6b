import type { SchedulerSettings } from '../../config/index.ts';
import type { ScheduleParts } from '../schedule-parts.ts';
import { type Firing, haltSchedule, type Schedule } from '../store/schedule.ts';
import type { ScheduleChange } from '../store/schedule-store.ts';
import { type AcceptedRun, acceptRuns, type AcceptRunsAnswer, findAccepted } from './accept-runs.ts';
import { holdForTenant, pauseForAgent } from './decide-firing.ts';
import { firstDecided, tooLateFrom, undecidedAfter, wakeFor } from './occurrences.ts';
import { TOO_LATE } from './plan-runs.ts';

interface Settled {
  answer: AcceptRunsAnswer;
  /** To be saved. Until then another process may repeat all of it from the record, with the same outcome. */
  change: ScheduleChange;
}

/** Accepts the decided runs of a schedule, apart from those that may not run any more, and decides what follows for its record. */
export async function settleRuns(parts: ScheduleParts, schedule: Schedule, now: number): Promise<Settled> {
  const settings = parts.settings.scheduler;
  const decided = skipLateRuns(await undoIfPaused(parts, schedule), now, settings);
  const answer = await acceptRuns(parts, decided);
  if (answer.kind !== 'no-money') return { answer, change: settleFiring(decided, answer, now, settings) };
  // The next occurrence asks for money again.
  const refused = new Set(decided.firing.slice(answer.accepted.length));
  const skipped = skipRuns(decided, (each) => refused.has(each), answer.reason);
  const settled = await acceptRuns(parts, skipped);
  return { answer: settled, change: settleFiring(skipped, settled, now, settings) };
}

/** Nothing of a paused schedule starts. Runs that a process accepted before it died count all the same. */
export async function undoIfPaused(parts: Pick<ScheduleParts, 'ledger'>, schedule: Schedule): Promise<Schedule> {
  if (schedule.status !== 'paused' || !schedule.firing.some(isRun)) return schedule;
  return withoutRuns(withAccepted(schedule, await findAccepted(parts, schedule)));
}

/** A run that waited too long for its acceptance is skipped. If it was accepted before, its task says so and wins. */
function skipLateRuns(schedule: Schedule, now: number, settings: SchedulerSettings): Schedule {
  return skipRuns(schedule, ({ occurrence }) => tooLateFrom(schedule, occurrence, settings) <= now, TOO_LATE);
}

function skipRuns(schedule: Schedule, isSkipped: (firing: Firing) => boolean, reason: string): Schedule {
  const skipped = schedule.firing.filter((each) => isRun(each) && isSkipped(each));
  if (skipped.length === 0) return schedule;
  const firing = schedule.firing.map((each) => (skipped.includes(each) ? { ...each, skip: reason } : each));
  return { ...uncounted(schedule, skipped), firing };
}

/** Decides what happens to a schedule once its runs were accepted or refused. */
function settleFiring(schedule: Schedule, answer: AcceptRunsAnswer, now: number, settings: SchedulerSettings): ScheduleChange {
  const settled = withAccepted(schedule, answer.accepted);
  switch (answer.kind) {
    case 'accepted':
      return settleAccepted(schedule, settled, answer.accepted, settings);
    case 'no-money':
    case 'later': {
      // A skip is recorded at once: later occurrences wait for that, and most limits are not for skips.
      const lateFrom = settled.firing.filter(isRun).map(({ occurrence }) => tooLateFrom(settled, occurrence, settings));
      return { schedule: { ...settled, wakeAt: Math.min(now + answer.afterMs, ...lateFrom) } };
    }
    case 'no-agent':
      return pauseForAgent(withoutRuns(settled));
    case 'tenant-disabled':
      return holdUndone(withoutRuns(settled), now, settings);
    case 'refused':
      return { schedule: haltSchedule(withoutRuns(settled), 'failed', answer.reason), event: 'failed' };
  }
}

function settleAccepted(
  schedule: Schedule,
  settled: Schedule,
  accepted: readonly AcceptedRun[],
  settings: SchedulerSettings,
): ScheduleChange {
  const missed = missedTime(schedule, accepted);
  if (missed) return { schedule: haltSchedule(settled, 'failed', missed.skip ?? 'its time was skipped'), event: 'failed' };
  const open = withRunsLeft(settled);
  const { wakeAt } = wakeFor(open, open.status === 'active' ? open.nextFireAt : null, settings);
  return { schedule: { ...open, wakeAt }, event: open === settled ? undefined : 'resumed' };
}

/** A one-shot whose only occurrence turned out to be skipped has no run that would end it. */
function missedTime({ rule, status, nextFireAt, firing }: Schedule, accepted: readonly AcceptedRun[]): Firing | null {
  if (rule.kind !== 'once' || nextFireAt !== null || (status !== 'active' && status !== 'paused')) return null;
  return firing.find(({ occurrence }, position) => occurrence === rule.at && accepted[position]?.isSkipped) ?? null;
}

/** A schedule that was to end with the last of its `maxRuns` goes on when that one was skipped, which does not count. */
function withRunsLeft(schedule: Schedule): Schedule {
  const { rule, status, maxRuns, runCount, lastOccurrence } = schedule;
  const isOver = rule.kind === 'once' || status !== 'completed' || maxRuns === null || runCount >= maxRuns;
  const nextFireAt = isOver || lastOccurrence === null ? null : undecidedAfter(schedule, lastOccurrence);
  return nextFireAt === null ? schedule : { ...schedule, status: 'active', nextFireAt };
}

/** Where there is no next time to hold back, only skips are still to be recorded. */
function holdUndone(schedule: Schedule, now: number, settings: SchedulerSettings): ScheduleChange {
  const isFiring = schedule.status === 'active' && schedule.nextFireAt !== null;
  if (isFiring) return holdForTenant(schedule, { now, settings });
  return { schedule: { ...schedule, wakeAt: now + settings.disabledTenantMs } };
}

/** The decision without its first runs, which have their tasks. Those are counted as what they are. */
function withAccepted(schedule: Schedule, accepted: readonly AcceptedRun[]): Schedule {
  const done = schedule.firing.slice(0, accepted.length);
  const runs = accepted.filter(({ isSkipped }) => !isSkipped);
  const firing = schedule.firing.slice(done.length);
  const counted = uncounted(schedule, done.filter(isRun));
  const rest = { ...counted, firing, runBefore: firing.some(isRun) ? counted.runBefore : null };
  const last = runs.at(-1);
  if (last === undefined) return rest;
  return {
    ...rest,
    runCount: rest.runCount + runs.length,
    lastRunId: last.task,
    // Of a run that was taken back as too late, only the occurrence is known.
    lastRunAt: Math.max(schedule.lastRunAt ?? 0, done.at(-1)?.occurrence ?? 0),
  };
}

/**
 * Undoes a decision whose runs were not accepted: all its occurrences are due again. A decision that only skips stays, because a person
 * may have made it, and what was skipped must not run after all.
 */
export function withoutRuns(schedule: Schedule): Schedule {
  const runs = schedule.firing.filter(isRun);
  if (runs.length === 0) return schedule;
  const undone: Schedule = { ...uncounted(schedule, runs), firing: [], runBefore: null, lastOccurrence: null };
  if (schedule.status === 'paused') return { ...undone, nextFireAt: null, wakeAt: null };
  const nextFireAt = firstDecided(schedule);
  // The decision may have ended the schedule.
  return { ...undone, status: 'active', pausedReason: null, nextFireAt, wakeAt: nextFireAt };
}

/** What the decision counted is taken back for these runs. */
function uncounted(schedule: Schedule, runs: readonly Firing[]): Schedule {
  const runCount = schedule.runCount - runs.length;
  if (!runs.some(({ id }) => id === schedule.lastRunId)) return { ...schedule, runCount };
  return { ...schedule, runCount, lastRunId: schedule.runBefore?.id ?? null, lastRunAt: schedule.runBefore?.at ?? null };
}

function isRun({ skip }: Firing): boolean {
  return skip === undefined;
}
