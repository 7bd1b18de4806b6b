import { MusterError } from '../../errors/index.ts';
import { undecidedAfter, wakeFor } from '../firing/occurrences.ts';
import { type ReadRule, readRule } from '../rules/read-rule.ts';
import { describeRule } from '../rules/rule.ts';
import { readZone } from '../rules/wall-time.ts';
import type { ScheduleParts } from '../schedule-parts.ts';
import { haltSchedule, type Schedule } from '../store/schedule.ts';
import type { ScheduleEvent } from '../store/schedule-store.ts';
import { changeSchedule } from './change-schedule.ts';
import { assertAgent, assertStorable } from './create-schedule.ts';
import { assertPlace, ruleFields, scheduleFields, type SchedulePatch } from './schedule-request.ts';

/**
 * Changes, pauses or resumes a schedule; null when there is none. A new rule makes an ended schedule active again. Errors:
 * `schedule.wrong-state`, and the errors of `createSchedule`.
 */
export async function updateSchedule(parts: ScheduleParts, tenant: string, id: string, patch: SchedulePatch): Promise<Schedule | null> {
  const now = await parts.now();
  const { maxCaughtUp } = parts.settings.scheduler;
  const fields = scheduleFields(patch, maxCaughtUp);
  await assertStorable(parts, tenant, patch);
  if (patch.agent !== undefined) await assertAgent(parts, tenant, patch.agent);
  const tz = patch.tz === undefined ? undefined : readZone(patch.tz);
  return await changeSchedule(parts, tenant, id, {
    change: (schedule) => {
      const zone = tz ?? schedule.tz;
      const rule = newRule(patch, zone, now, schedule.id);
      // The sentence has wall times of the zone, also for the same rule.
      const timed = rule
        ? { ...ruleFields(rule, now), lastOccurrence: null }
        : { sentence: describeRule(schedule.rule, zone, schedule.id) };
      const changed = { ...schedule, ...fields, tz: zone, ...timed };
      assertPlace(changed);
      return withStatus(changed, { patch, hasNewRule: rule !== null, now }, parts);
    },
    event: eventOf(patch),
  });
}

function eventOf({ status }: SchedulePatch): ScheduleEvent {
  if (status === undefined) return 'changed';
  return status === 'paused' ? 'paused' : 'resumed';
}

function newRule({ phrase, cron, every, at }: SchedulePatch, tz: string, now: number, seed: string): ReadRule | null {
  const given = { phrase, cron, every, at };
  return Object.values(given).every((text) => text === undefined) ? null : readRule(given, { tz, now, seed });
}

interface PatchContext {
  patch: SchedulePatch;
  hasNewRule: boolean;
  now: number;
}

function withStatus(schedule: Schedule, context: PatchContext, parts: ScheduleParts): Schedule {
  const { patch, hasNewRule, now } = context;
  const wanted = wantedStatus(schedule, context);
  if (wanted === 'paused') return pauseSchedule(schedule);
  if (schedule.status !== 'active') return wanted === 'active' ? resumeSchedule(schedule, now, parts) : schedule;
  if (!changesTimes(patch, hasNewRule)) return schedule;
  const isSameRule = !hasNewRule && (schedule.rule.kind !== 'cron' || patch.tz === undefined);
  return (isSameRule ? keepDueTime(schedule, now, parts) : null) ?? withNextTime(schedule, now, parts);
}

/** The status that the patch asks for; null for none. */
function wantedStatus(schedule: Schedule, { patch, hasNewRule }: PatchContext): 'active' | 'paused' | null {
  const hasEnded = schedule.status === 'completed' || schedule.status === 'failed';
  const wanted = patch.status ?? (hasEnded && hasNewRule ? 'active' : null);
  if (hasEnded && wanted !== null) assertCanResume(schedule, hasNewRule);
  return wanted;
}

function assertCanResume({ rule, status, maxRuns, runCount }: Schedule, hasNewRule: boolean): void {
  const details = { status };
  if (rule.kind === 'once' && !hasNewRule)
    throw new MusterError('schedule.wrong-state', `The schedule is ${status}; give it a new time`, { details });
  if (maxRuns === null || runCount < maxRuns) return;
  throw new MusterError('schedule.wrong-state', `The schedule has had its ${maxRuns} run(s); give it a larger maxRuns`, { details });
}

function pauseSchedule(schedule: Schedule): Schedule {
  const reason = schedule.status === 'paused' ? schedule.pausedReason : 'by request';
  return { ...haltSchedule(schedule, 'paused', reason), heldBy: null };
}

/** Resumes from now on, without catching up the pause. A one-shot whose time has passed is late, and `missed` decides whether it fires. */
export function resumeSchedule(schedule: Schedule, now: number, parts: ScheduleParts): Schedule {
  const active: Schedule = {
    ...schedule,
    status: 'active',
    pausedReason: null,
    heldBy: null,
    failures: 0,
    failedCost: null,
    spreadFor: null,
  };
  if (active.rule.kind === 'once' && active.rule.at <= now) {
    const hasFired = active.lastOccurrence === active.rule.at;
    return hasFired ? active : { ...active, nextFireAt: active.rule.at, wakeAt: now };
  }
  return withNextTime(active, now, parts);
}

function changesTimes({ tz, until, jitter, exact }: SchedulePatch, hasNewRule: boolean): boolean {
  return hasNewRule || [tz, until, jitter, exact].some((given) => given !== undefined);
}

/** An occurrence that is due and waits for its jitter stays due; null when there is none. */
function keepDueTime(schedule: Schedule, now: number, { settings }: ScheduleParts): Schedule | null {
  const { nextFireAt, until } = schedule;
  if (nextFireAt === null || nextFireAt > Math.min(now, until ?? now)) return null;
  return { ...schedule, ...wakeFor(schedule, nextFireAt, settings.scheduler) };
}

function withNextTime(schedule: Schedule, now: number, parts: ScheduleParts): Schedule {
  // A one-shot whose run is at work has no next time.
  if (schedule.rule.kind === 'once' && schedule.rule.at <= now) return schedule;
  const nextFireAt = undecidedAfter(schedule, now);
  if (nextFireAt === null) throw new MusterError('request.invalid', 'until: this schedule would never fire');
  return { ...schedule, ...wakeFor(schedule, nextFireAt, parts.settings.scheduler) };
}
