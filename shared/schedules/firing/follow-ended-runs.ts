import type { SchedulerSettings } from '../../config/index.ts';
import { truncate } from '../../text/index.ts';
import { acknowledgeEnded, type EndedTask, listEndedBefore, readTaskRows } from '../../ledger/index.ts';
import { knownCost, type Task, usageDay } from '../../tasks/index.ts';
import { dollars } from '../../budgets/index.ts';
import type { ScheduleParts } from '../schedule-parts.ts';
import { haltSchedule, type Schedule } from '../store/schedule.ts';
import type { ScheduleChange } from '../store/schedule-store.ts';
import { isSkippedRun } from '../public-records.ts';
import { undoIfPaused } from './settle-firing.ts';

/** Ends read in one batch. */
const BATCH = 500;
const BATCHES = 20;

interface EndedRun {
  /** Its name in the ledger's list of ends, which orders them: `<kind>/<ms>/<tenant>/<task>`. */
  member: string;
  task: Task;
}

/**
 * Updates schedules from the ends of their runs: one-shots end, and schedules whose runs fail in a row, or cost too much without a result, are paused. An end stays in the
 * ledger until this is saved, and counts once, however often it is read. `before`: only earlier ends, ms since the epoch.
 */
export async function followEndedRuns(parts: ScheduleParts, shard: number, before?: number): Promise<void> {
  for (let count = 0; count < BATCHES; count += 1) {
    const ended = await listEndedBefore(parts.ledger, shard, { kind: 'run', limit: BATCH, before });
    const byTenant = Map.groupBy(ended, ({ tenant }) => tenant);
    const handled = await Promise.all([...byTenant].map(([tenant, runs]) => followTenant(parts, tenant, runs)));
    await acknowledgeEnded(parts.ledger, shard, handled.flat());
    if (ended.length < BATCH) return;
  }
}

/** Returns the members that are handled. */
async function followTenant(parts: ScheduleParts, tenant: string, ended: readonly EndedTask[]): Promise<string[]> {
  const tasks = await readTaskRows(
    parts.ledger,
    tenant,
    ended.map(({ task }) => task),
  );
  const runs = ended.flatMap(({ member }, position): EndedRun[] => {
    const task = tasks[position];
    return task?.body.scheduleId ? [{ member, task }] : [];
  });
  const bySchedule = Map.groupBy(runs, ({ task }) => task.body.scheduleId ?? '');
  const schedules = await parts.store.read(tenant, [...bySchedule.keys()]);
  const followed = schedules
    .filter((schedule) => schedule !== null)
    .map((schedule) => followSchedule(parts, schedule, bySchedule.get(schedule.id) ?? []));
  const changes = (await Promise.all(followed)).filter((change) => change !== null);
  const saved = new Set(await parts.store.saveAndLog(tenant, changes));
  // The next batch reads again what another writer changed meanwhile.
  const conflicts = changes.filter((change) => !saved.has(change)).flatMap(({ schedule }) => bySchedule.get(schedule.id) ?? []);
  const unhandled = new Set(conflicts.map(({ member }) => member));
  return ended.map(({ member }) => member).filter((member) => !unhandled.has(member));
}

async function followSchedule(parts: ScheduleParts, schedule: Schedule, runs: readonly EndedRun[]): Promise<ScheduleChange | null> {
  const change = followRuns(schedule, runs, parts.settings.scheduler);
  // A run that was decided before a pause would start at any time later, when somebody resumes or removes the schedule.
  return change && { ...change, schedule: await undoIfPaused(parts, change.schedule) };
}

/** Applies ends of runs, oldest first; null when they change nothing. */
export function followRuns(schedule: Schedule, runs: readonly EndedRun[], settings: SchedulerSettings): ScheduleChange | null {
  const fresh = runs.filter(({ member }) => !isCounted(schedule, member));
  if (fresh.length === 0) return null;
  const counted = withCounted(
    schedule,
    fresh.map(({ member }) => member),
  );
  return fresh.reduce<ScheduleChange>((change, { task }) => applyEnd(change, task, settings), { schedule: counted });
}

function isCounted({ countedUpTo, counted }: Schedule, member: string): boolean {
  return counted.includes(member) || (countedUpTo !== null && member <= countedUpTo);
}

/** Ends that a schedule remembers one by one. An end is written at most a lease later than its successors. */
const MAX_COUNTED = 100;
const LATE_MS = 600_000;

/** Marks ends as counted. The newest are remembered one by one, as long as an earlier end may still be written. */
function withCounted(schedule: Schedule, members: readonly string[]): Schedule {
  const all = [...schedule.counted, ...members].toSorted();
  const oldest = endedAtOf(all.at(-1) ?? '') - LATE_MS;
  const done = all.filter((member, position) => position < all.length - MAX_COUNTED || endedAtOf(member) < oldest);
  return { ...schedule, countedUpTo: done.at(-1) ?? schedule.countedUpTo, counted: all.slice(done.length) };
}

function endedAtOf(member: string): number {
  return Number(member.split('/')[1] ?? 0);
}

function applyEnd(change: ScheduleChange, task: Task, settings: SchedulerSettings): ScheduleChange {
  if (isSkippedRun(task.state) && (change.schedule.rule.kind !== 'once' || task.state.status === 'skipped')) return change;
  return change.schedule.rule.kind === 'once' ? endOneShot(change, task) : countFailures(change, task, settings);
}

function endOneShot(change: ScheduleChange, task: Task): ScheduleChange {
  const { schedule } = change;
  // A run by request, before its time, does not end it.
  if (schedule.nextFireAt !== null || task.body.scheduledFor !== schedule.lastOccurrence) return change;
  const isSuccess = task.state.status === 'completed';
  const status = isSuccess ? 'completed' : 'failed';
  return { schedule: { ...schedule, status, pausedReason: isSuccess ? null : reasonOf(task) }, event: status };
}

/** A cancelled run counts neither as a failure nor as a success. */
function countFailures(change: ScheduleChange, task: Task, settings: SchedulerSettings): ScheduleChange {
  const { status } = task.state;
  const hasFailed = status === 'permanently_failed' || status === 'stale';
  const failures = status === 'completed' ? 0 : change.schedule.failures + Number(hasFailed);
  const failedCost = hasFailed ? addFailedCost(change.schedule, task) : change.schedule.failedCost;
  const schedule = { ...change.schedule, failures, failedCost };
  const why = hasFailed && schedule.status === 'active' ? reasonToPause(schedule, settings) : null;
  if (why === null) return { ...change, schedule };
  const paused = haltSchedule(schedule, 'paused', `${why}; the last one: ${reasonOf(task)}`);
  // Skips that were decided are still recorded.
  return { schedule: { ...paused, wakeAt: schedule.firing.length > 0 ? schedule.wakeAt : null }, event: 'paused' };
}

function reasonToPause({ failures, failedCost }: Schedule, { maxFailures, maxFailedMicroUsd }: SchedulerSettings): string | null {
  if (maxFailures > 0 && failures >= maxFailures) return `${failures} runs in a row failed`;
  const cost = failedCost?.microUsd ?? 0;
  if (maxFailedMicroUsd === 0 || cost < maxFailedMicroUsd) return null;
  return `failed runs cost ${dollars(cost)} in one day, of ${dollars(maxFailedMicroUsd)}`;
}

/** Adds what a failed run cost to its day. Ends of an earlier day that come late count for none. */
function addFailedCost({ failedCost }: Schedule, { state }: Task): Schedule['failedCost'] {
  const cost = knownCost(state.usage);
  const day = usageDay(state.completedAt ?? 0);
  if (cost === 0 || (failedCost !== null && day < failedCost.day)) return failedCost;
  return { day, microUsd: cost + (failedCost?.day === day ? failedCost.microUsd : 0) };
}

const REASON_CHARACTERS = 500;

function reasonOf({ state }: Task): string {
  const reason = state.error?.message ?? state.outcome?.reason ?? `it was ${state.status}`;
  return truncate(reason, REASON_CHARACTERS);
}
