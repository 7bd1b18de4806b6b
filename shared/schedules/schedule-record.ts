import { toIso } from '../time/index.ts';
import { priorityNumber } from '../tasks/index.ts';
import { upcomingTimes } from './due-occurrences.ts';
import { formatDuration } from './format-duration.ts';
import type { Missed, Schedule } from './schedule.ts';

const SHOWN_TIMES = 3;
const DEFAULT_PRIORITY = 10;

/** The public record of a schedule: the contract's field names, ISO times, null for what is absent. */
export function scheduleRecord(schedule: Schedule): Record<string, unknown> {
  const { rule, priority, maxLatenessMs, jitterMs } = schedule;
  return {
    id: schedule.id,
    number: schedule.number,
    name: schedule.name,
    kind: rule.kind,
    rule: schedule.ruleText,
    sentence: schedule.sentence,
    tz: schedule.tz,
    agent: schedule.agent,
    message: schedule.message,
    context: schedule.context,
    status: schedule.status,
    pausedReason: schedule.pausedReason,
    priority: priority === null ? DEFAULT_PRIORITY : priorityNumber(priority),
    channel: schedule.channel,
    platform: schedule.platform,
    callbackUrl: schedule.callbackUrl,
    missed: missedText(schedule.missed),
    maxLateness: maxLatenessMs === null ? null : durationText(maxLatenessMs),
    overlap: schedule.overlap,
    jitter: jitterMs === 0 ? null : durationText(jitterMs),
    exact: schedule.isExact,
    until: toIso(schedule.until),
    maxRuns: schedule.maxRuns,
    nextFireAt: toIso(schedule.nextFireAt),
    next: nextOf(schedule).map((at) => toIso(at)),
    lastRunAt: toIso(schedule.lastRunAt),
    lastRunId: schedule.lastRunId,
    runCount: schedule.runCount,
    createdAt: toIso(schedule.createdAt),
    updatedAt: toIso(schedule.updatedAt),
  };
}

function missedText(missed: Missed): string {
  return missed.policy === 'all' ? `all(${missed.most})` : missed.policy;
}

/** Such a text can be sent back as it is. */
function durationText(ms: number): string | number {
  return ms % 1000 === 0 ? formatDuration(ms) : ms;
}

/** The next occurrences, as long as there are runs left. */
function nextOf(schedule: Schedule): number[] {
  if (schedule.nextFireAt === null) return [];
  const left = schedule.maxRuns === null ? SHOWN_TIMES : Math.max(0, schedule.maxRuns - schedule.runCount);
  const later = upcomingTimes(schedule, schedule.nextFireAt, SHOWN_TIMES - 1);
  return [schedule.nextFireAt, ...later].slice(0, Math.min(left, SHOWN_TIMES));
}
