import type { SchedulerSettings } from '../../config/index.ts';
import { beginningOf } from '../../errors/index.ts';
import { type EndedTask, acknowledgeEnded, listEndedBefore, readTasks } from '../../ledger/index.ts';
import type { Task } from '../../tasks/index.ts';
import { logChange } from '../store/report-schedule.ts';
import type { Schedule } from '../store/schedule.ts';
import type { ScheduleParts } from '../schedule-parts.ts';
import type { ScheduleChange } from '../store/schedule-store.ts';

/** Ends looked at in one round. */
const BATCH = 500;
const ROUNDS = 20;

/** A run that ended, with its name among those that ended, which orders them. */
export interface EndedRun {
  member: string;
  task: Task;
}

/**
 * Tells schedules what became of their runs: one-shots are over then, and those that fail again and again are paused. An end stays
 * in the ledger until this is written, and counts once, however often it is read. `before`: only what ended earlier, ms since the epoch.
 */
export async function followEndedRuns(parts: ScheduleParts, shard: number, before?: number): Promise<void> {
  for (let round = 0; round < ROUNDS; round += 1) {
    const ended = await listEndedBefore(parts.ledger, shard, { kind: 'run', limit: BATCH, before });
    const byTenant = Map.groupBy(ended, ({ tenant }) => tenant);
    const followed = await Promise.all([...byTenant].map(([tenant, runs]) => followTenant(parts, tenant, runs)));
    await acknowledgeEnded(parts.ledger, shard, followed.flat());
    if (ended.length < BATCH) return;
  }
}

/** Answers what need not be looked at again. */
async function followTenant(parts: ScheduleParts, tenant: string, ended: readonly EndedTask[]): Promise<string[]> {
  const tasks = await readTasks(
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
  const changes = schedules
    .filter((schedule) => schedule !== null)
    .map((schedule) => followRuns(schedule, bySchedule.get(schedule.id) ?? [], parts.settings.scheduler))
    .filter((change) => change !== null);
  const written = await parts.store.save(tenant, changes);
  changes.forEach((change, position) => written[position] && logChange(parts.log, change));
  // What somebody else wrote meanwhile is read again in the next round.
  const again = new Set(changes.filter((_, position) => !written[position]).map(({ schedule }) => schedule.id));
  const left = new Set(runs.filter(({ task }) => again.has(task.body.scheduleId ?? '')).map(({ member }) => member));
  return ended.map(({ member }) => member).filter((member) => !left.has(member));
}

/** What follows from ends of runs, oldest first; null when nothing does. */
export function followRuns(schedule: Schedule, runs: readonly EndedRun[], settings: SchedulerSettings): ScheduleChange | null {
  const fresh = runs.filter(({ member }) => !isCounted(schedule, member));
  if (fresh.length === 0) return null;
  const counted = withCounted(
    schedule,
    fresh.map(({ member }) => member),
  );
  return fresh.reduce<ScheduleChange>((change, { task }) => followRun(change, task, settings), { schedule: counted });
}

function isCounted({ countedUpTo, counted }: Schedule, member: string): boolean {
  return counted.includes(member) || (countedUpTo !== null && member <= countedUpTo);
}

/** Ends that a schedule remembers one by one. Each is written at most a lease later than those behind it. */
const MAX_COUNTED = 100;
const LATE_MS = 600_000;

/** Remembers these ends as counted, the newest one by one, for as long as one before them may still be written. */
function withCounted(schedule: Schedule, members: readonly string[]): Schedule {
  const all = [...schedule.counted, ...members].toSorted();
  const until = endedAtOf(all.at(-1) ?? '') - LATE_MS;
  const isDone = (member: string, position: number): boolean => position < all.length - MAX_COUNTED || endedAtOf(member) < until;
  const done = all.filter((member, position) => isDone(member, position));
  return { ...schedule, countedUpTo: done.at(-1) ?? schedule.countedUpTo, counted: all.slice(done.length) };
}

/** Of `<kind>/<ms>/<tenant>/<task>`. */
function endedAtOf(member: string): number {
  return Number(member.split('/')[1] ?? 0);
}

function followRun(change: ScheduleChange, task: Task, settings: SchedulerSettings): ScheduleChange {
  if (task.state.status === 'skipped') return change;
  return change.schedule.rule.kind === 'once' ? followOnce(change, task) : countFailures(change, task, settings);
}

function followOnce(change: ScheduleChange, task: Task): ScheduleChange {
  const { schedule } = change;
  // Somebody may have made it run besides, before its time.
  if (schedule.nextFireAt !== null || task.body.scheduledFor !== schedule.lastOccurrence) return change;
  const isSuccess = task.state.status === 'completed';
  const status = isSuccess ? 'completed' : 'failed';
  return { schedule: { ...schedule, status, pausedReason: isSuccess ? null : whyOf(task) }, event: status };
}

/** Who stops a run does not say that it fails. */
function countFailures(change: ScheduleChange, task: Task, { maxFailures }: SchedulerSettings): ScheduleChange {
  const { status } = task.state;
  const hasFailed = status === 'permanently_failed' || status === 'stale';
  const failures = status === 'completed' ? 0 : change.schedule.failures + Number(hasFailed);
  const schedule = { ...change.schedule, failures };
  if (maxFailures === 0 || failures < maxFailures || schedule.status !== 'active') return { ...change, schedule };
  const pausedReason = `${failures} runs in a row failed; the last one: ${whyOf(task)}`;
  return { schedule: { ...schedule, status: 'paused', pausedReason, nextFireAt: null, wakeAt: null }, event: 'paused' };
}

const REASON_CHARACTERS = 500;

function whyOf({ state }: Task): string {
  const why = state.error?.message ?? state.outcome?.reason ?? `it was ${state.status}`;
  return beginningOf(why, REASON_CHARACTERS);
}
