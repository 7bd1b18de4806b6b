import { MusterError } from '../../errors/index.ts';
import { assertAgent, assertStorable } from './create-schedule.ts';
import { changeSchedule } from './change-schedule.ts';
import { advanced } from '../firing/decide-firing.ts';
import { describeRule } from '../rules/rule.ts';
import { upcomingTimes } from '../firing/occurrences.ts';
import { type ReadRule, readRule } from '../rules/read-rule.ts';
import { readZone } from '../rules/wall-time.ts';
import type { Schedule } from '../store/schedule.ts';
import { assertPlace, ruleFields, scheduleFields } from './schedule-fields.ts';
import type { ScheduleParts } from '../schedule-parts.ts';
import type { SchedulePatch } from './schedule-request.ts';
import type { ScheduleEvent } from '../store/schedule-store.ts';

/**
 * Changes, pauses or resumes a schedule; null when there is none. A new rule makes one that had ended active again. Errors:
 * `schedule.wrong-state`, and what making one throws.
 */
export async function patchSchedule(parts: ScheduleParts, tenant: string, id: string, patch: SchedulePatch): Promise<Schedule | null> {
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
      // The sentence has wall times of the zone, also where the rule itself stays.
      const timed = rule ? ruleFields(rule, now) : { sentence: describeRule(schedule.rule, zone, schedule.id) };
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

interface StatusWish {
  patch: SchedulePatch;
  hasNewRule: boolean;
  now: number;
}

function withStatus(schedule: Schedule, wish: StatusWish, parts: ScheduleParts): Schedule {
  const { patch, hasNewRule, now } = wish;
  const wanted = wantedStatus(schedule, wish);
  if (wanted === 'paused') return pause(schedule);
  if (schedule.status !== 'active') return wanted === 'active' ? resume(schedule, now, parts) : schedule;
  if (!isRetimed(patch, hasNewRule)) return schedule;
  const isSameRule = !hasNewRule && (schedule.rule.kind !== 'cron' || patch.tz === undefined);
  return (isSameRule ? retimeDue(schedule, now, parts) : null) ?? retime(schedule, now, parts);
}

/** What the change makes of it; null when it says nothing of that. */
function wantedStatus(schedule: Schedule, { patch, hasNewRule }: StatusWish): 'active' | 'paused' | null {
  const isOver = schedule.status === 'completed' || schedule.status === 'failed';
  const wanted = patch.status ?? (isOver && hasNewRule ? 'active' : null);
  if (isOver && wanted !== null) assertCanGoOn(schedule, hasNewRule);
  return wanted;
}

function assertCanGoOn({ rule, status, maxRuns, runCount }: Schedule, hasNewRule: boolean): void {
  const details = { status };
  if (rule.kind === 'once' && !hasNewRule)
    throw new MusterError('schedule.wrong-state', `The schedule is ${status}; give it a new time`, { details });
  if (maxRuns === null || runCount < maxRuns) return;
  throw new MusterError('schedule.wrong-state', `The schedule has had its ${maxRuns} run(s); give it a larger maxRuns`, { details });
}

function pause(schedule: Schedule): Schedule {
  const pausedReason = schedule.status === 'paused' ? schedule.pausedReason : 'by request';
  return { ...schedule, status: 'paused', pausedReason, heldBy: null, nextFireAt: null, wakeAt: null };
}

/** From now on; what it did not do while it was paused is not made up for. A one-shot whose time has passed is late, and fires or not as `missed` says. */
export function resume(schedule: Schedule, now: number, parts: ScheduleParts): Schedule {
  const active: Schedule = { ...schedule, status: 'active', pausedReason: null, heldBy: null, failures: 0, spreadFor: null };
  if (active.rule.kind === 'once' && active.rule.at <= now) {
    const hasFired = active.lastOccurrence === active.rule.at;
    return hasFired ? active : { ...active, nextFireAt: active.rule.at, wakeAt: now };
  }
  return retime(active, now, parts);
}

function isRetimed({ tz, until, jitter, exact }: SchedulePatch, hasNewRule: boolean): boolean {
  return hasNewRule || [tz, until, jitter, exact].some((given) => given !== undefined);
}

/** What is due already and waits for its jitter stays due; null when nothing is. */
function retimeDue(schedule: Schedule, now: number, { settings }: ScheduleParts): Schedule | null {
  const { nextFireAt, until } = schedule;
  if (nextFireAt === null || nextFireAt > Math.min(now, until ?? now)) return null;
  return { ...schedule, ...advanced(schedule, nextFireAt, settings.scheduler) };
}

function retime(schedule: Schedule, now: number, parts: ScheduleParts): Schedule {
  // A one-shot that is at work has no next time.
  if (schedule.rule.kind === 'once' && schedule.rule.at <= now) return schedule;
  const [nextFireAt] = upcomingTimes(schedule, now, 1);
  if (nextFireAt === undefined) throw new MusterError('request.invalid', 'until: this schedule would never fire');
  return { ...schedule, ...advanced(schedule, nextFireAt, parts.settings.scheduler) };
}
