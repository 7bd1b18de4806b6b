import { isRefusal } from '../errors/index.ts';
import { truncate } from '../text/index.ts';
import { listTasks, type TaskFilter } from '../ledger/index.ts';
import { priorityNumber, type Task, type TaskState, type TaskStatus } from '../tasks/index.ts';
import { traceIdOf } from '../log/index.ts';
import { toIso } from '../time/index.ts';
import { upcomingTimes } from './firing/occurrences.ts';
import { formatDuration } from './rules/rule.ts';
import type { ScheduleParts } from './schedule-parts.ts';
import type { Missed, Schedule } from './store/schedule.ts';

const DEFAULT_PRIORITY = 10;

/** The public record of a schedule, as `schedule-view.ts` of the API describes it: ISO times, null for what is absent. */
export function scheduleRecord(schedule: Schedule): Record<string, unknown> {
  const { rule, priority, withinMs, maxLatenessMs, jitterMs } = schedule;
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
    within: withinMs === null ? null : durationOf(withinMs),
    channel: schedule.channel,
    platform: schedule.platform,
    callbackUrl: schedule.callbackUrl,
    missed: formatMissed(schedule.missed),
    maxLateness: maxLatenessMs === null ? null : durationOf(maxLatenessMs),
    overlap: schedule.overlap,
    jitter: jitterMs === 0 ? null : durationOf(jitterMs),
    exact: schedule.isExact,
    until: toIso(schedule.until),
    maxRuns: schedule.maxRuns,
    nextFireAt: toIso(schedule.nextFireAt),
    next: nextOccurrences(schedule).map((at) => toIso(at)),
    lastRunAt: toIso(schedule.lastRunAt),
    lastRunId: schedule.lastRunId,
    runCount: schedule.runCount,
    madeBy: schedule.madeBy,
    createdAt: toIso(schedule.createdAt),
    updatedAt: toIso(schedule.updatedAt),
  };
}

function formatMissed(missed: Missed): string {
  return missed.policy === 'all' ? `all(${missed.most})` : missed.policy;
}

/** A request accepts both forms. */
function durationOf(ms: number): string | number {
  return ms % 1000 === 0 ? formatDuration(ms) : ms;
}

const SHOWN_TIMES = 3;

/** The next occurrences, as long as runs are left. */
function nextOccurrences(schedule: Schedule): number[] {
  if (schedule.nextFireAt === null) return [];
  const left = schedule.maxRuns === null ? SHOWN_TIMES : Math.max(0, schedule.maxRuns - schedule.runCount);
  const later = upcomingTimes(schedule, schedule.nextFireAt, SHOWN_TIMES - 1);
  return [schedule.nextFireAt, ...later].slice(0, Math.min(left, SHOWN_TIMES));
}

interface RunPage {
  items: Record<string, unknown>[];
  nextCursor: string | null;
}

/** Runs of a tenant, or of one of its schedules, newest first. A page may be short while `nextCursor` says that there is more. */
export async function listRuns(
  parts: Pick<ScheduleParts, 'ledger' | 'settings'>,
  tenant: string,
  filter: Pick<TaskFilter, 'schedule' | 'since'>,
  page: { limit: number; before: string | undefined },
): Promise<RunPage> {
  const { items, next } = await listTasks(parts.ledger, tenant, { ...filter, source: 'schedule' }, page);
  const runs = items.filter(({ body }) => body.scheduleId !== null);
  return { items: runs.map((task) => runRecord(task, parts.settings.scheduler.resultSummaryChars)), nextCursor: next };
}

export const RUN_STATUSES = ['pending', 'running', 'succeeded', 'failed', 'skipped'] as const;
type RunStatus = (typeof RUN_STATUSES)[number];

/** A run whose attempt failed waits for the next attempt. */
const STATUS_OF_RUN: Readonly<Record<TaskStatus, RunStatus>> = {
  pending: 'pending',
  queued: 'pending',
  scheduled: 'pending',
  running: 'running',
  failed: 'pending',
  timeout: 'pending',
  suspended: 'running',
  completed: 'succeeded',
  cancelled: 'failed',
  stale: 'skipped',
  permanently_failed: 'failed',
  skipped: 'skipped',
};

/**
 * Whether a run was skipped: by its schedule, or because a limit refused it (a budget, a provider's quota, a deadline that passed while it
 * waited). That is no failure.
 */
export function isSkippedRun({ status, error }: Pick<TaskState, 'status' | 'error'>): boolean {
  if (status === 'permanently_failed') return error !== undefined && isRefusal(error.code);
  return status === 'skipped' || status === 'stale';
}

/** The public record of a run, which is a task of a schedule. */
export function runRecord({ body, state, output }: Task, summaryCharacters: number): Record<string, unknown> {
  const { error, usage } = state;
  return {
    id: body.id,
    scheduleId: body.scheduleId,
    occurrence: toIso(body.scheduledFor),
    status: isSkippedRun(state) ? 'skipped' : STATUS_OF_RUN[state.status],
    reason: reasonOf(state),
    agent: body.agent,
    trigger: body.trigger,
    startedAt: toIso(state.startedAt),
    completedAt: toIso(state.completedAt),
    inputTokens: usage?.inputTokens ?? null,
    outputTokens: usage?.outputTokens ?? null,
    costMicroUsd: usage?.costMicroUsd ?? null,
    resultSummary: output === null ? null : summaryOf(output, summaryCharacters),
    error: error ? { code: error.code, message: error.message } : null,
    requestId: traceIdOf(body.traceparent),
    traceId: traceIdOf(body.traceparent),
  };
}

/** Why the run has no result. */
function reasonOf({ status, outcome, error }: TaskState): string | null {
  if (status === 'completed') return null;
  return outcome?.reason ?? error?.message ?? null;
}

function summaryOf(output: string, max: number): string {
  return output.length <= max ? output : `${truncate(output, max)} ...`;
}
