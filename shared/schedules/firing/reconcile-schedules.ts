import { readTasks } from '../../ledger/index.ts';
import { pairs } from '../../redis/index.ts';
import { isTerminal } from '../../tasks/index.ts';
import { followRuns } from './follow-ended-runs.ts';
import { resume } from '../changes/patch-schedule.ts';
import { logChange } from '../store/report-schedule.ts';
import type { Schedule } from '../store/schedule.ts';
import type { ScheduleParts } from '../schedule-parts.ts';
import { parseDue, type ScheduleChange } from '../store/schedule-store.ts';

/** Records read at once. */
const BATCH = 200;

/**
 * Compares the records of a shard's schedules with when they are looked at, and mends what differs, whoever made it differ: the
 * record is the truth. Also lets go what is held without a reason any more.
 */
export async function reconcileSchedules(parts: ScheduleParts, shard: number): Promise<void> {
  for (const { id } of parts.tenants.list()) {
    if (parts.keys.shardOf(id) === shard) await eachRecord(parts, id, (schedules) => repairBatch(parts, id, schedules));
  }
  await removeOrphans(parts, shard);
}

/** Lets the schedules of a tenant go on that were held because it was disabled. */
export async function resumeTenant(parts: ScheduleParts, tenant: string): Promise<void> {
  await eachRecord(parts, tenant, (schedules) => repairBatch(parts, tenant, schedules));
}

async function eachRecord(parts: ScheduleParts, tenant: string, handle: (schedules: Schedule[]) => Promise<void>): Promise<void> {
  let cursor = '0';
  do {
    const [next, flat] = await parts.redis.hscan(parts.keys.tenant(tenant).schedules, cursor, 'COUNT', BATCH);
    cursor = next;
    const records = pairs(flat);
    const read = records.map(([id, text]) => parts.store.readStored(tenant, id, text));
    await parts.store.forgetDue(
      tenant,
      records.filter((_, position) => read[position] === null).map(([id]) => id),
    );
    await handle(read.filter((schedule) => schedule !== null));
  } while (cursor !== '0');
}

async function repairBatch(parts: ScheduleParts, tenant: string, read: readonly Schedule[]): Promise<void> {
  const now = await parts.now();
  const schedules = await withoutOld(parts, read, now);
  if (schedules.length === 0) return;
  const { schedulesDue } = parts.keys.shard(parts.keys.shardOf(tenant));
  const scores = await parts.redis.zmscore(schedulesDue, ...schedules.map(({ id }) => `${tenant}/${id}`));
  const changes = await Promise.all(
    schedules.map((schedule, position) => repair(parts, schedule, { dueAt: scores[position] ?? null, now })),
  );
  const wanted = changes.filter((change) => change !== null);
  const written = await parts.store.save(tenant, wanted);
  wanted.forEach((change, position) => written[position] && logRepair(parts, change));
}

const ENDED: ReadonlySet<Schedule['status']> = new Set(['completed', 'failed', 'canceled']);

/**
 * Removes those whose time to be read is over. Not those of the configuration, which are few, and would be made again.
 * Returns the others.
 */
async function withoutOld(parts: ScheduleParts, schedules: readonly Schedule[], now: number): Promise<Schedule[]> {
  const before = now - parts.settings.scheduler.endedRetentionMs;
  const old = schedules.filter(({ status, definition, updatedAt }) => ENDED.has(status) && definition === null && updatedAt < before);
  await Promise.all(old.map((schedule) => parts.store.remove(schedule, true)));
  return schedules.filter((schedule) => !old.includes(schedule));
}

interface Found {
  /** As the sorted set has it; null when it is not in there. */
  dueAt: string | null;
  now: number;
}

/** One bad record must not keep the others from being mended. */
async function repair(parts: ScheduleParts, schedule: Schedule, found: Found): Promise<ScheduleChange | null> {
  try {
    return releaseHeld(parts, schedule, found.now) ?? (await settleOneShot(parts, schedule)) ?? restoreDueTime(schedule, found.dueAt);
  } catch (error) {
    parts.log.error(
      { event: 'schedule.broken', err: error, tenant: schedule.tenant, schedule: schedule.id },
      'a schedule cannot be mended',
    );
    return null;
  }
}

/** Held because of its tenant, which is enabled again. */
function releaseHeld(parts: ScheduleParts, schedule: Schedule, now: number): ScheduleChange | null {
  if (schedule.heldBy !== 'tenant' || parts.tenants.get(schedule.tenant)?.disabled !== false) return null;
  return { schedule: resume(schedule, now, parts), event: 'resumed' };
}

/** A one-shot whose run ended without anybody noticing. */
async function settleOneShot(parts: ScheduleParts, schedule: Schedule): Promise<ScheduleChange | null> {
  const { rule, status, nextFireAt, lastRunId, firing } = schedule;
  if (rule.kind !== 'once' || status !== 'active' || nextFireAt !== null || lastRunId === null || firing.length > 0) return null;
  const [task = null] = await readTasks(parts.ledger, schedule.tenant, [lastRunId]);
  if (task === null) return { schedule: { ...schedule, status: 'completed' }, event: 'completed' };
  if (!isTerminal(task.state.status)) return null;
  const change = followRuns({ ...schedule, countedUpTo: null, counted: [] }, [{ member: lastRunId, task }], parts.settings.scheduler);
  const { countedUpTo, counted } = schedule;
  return change && { ...change, schedule: { ...change.schedule, countedUpTo, counted } };
}

/** As it is, which also writes when it is looked at; see `reportMended`. */
function restoreDueTime(schedule: Schedule, dueAt: string | null): ScheduleChange | null {
  return (dueAt === null ? null : Number(dueAt)) === schedule.wakeAt ? null : { schedule };
}

function logRepair({ log }: ScheduleParts, change: ScheduleChange): void {
  const { id, tenant, wakeAt } = change.schedule;
  if (change.event !== undefined) logChange(log, change);
  else
    log.warn({ event: 'schedule.restored', schedule: id, tenant, wakeAt }, 'a schedule was not due when its record says; the record holds');
}

/** Takes out what is due without a record. */
async function removeOrphans(parts: ScheduleParts, shard: number): Promise<void> {
  let cursor = '0';
  do {
    const [next, flat] = await parts.redis.zscan(parts.keys.shard(shard).schedulesDue, cursor, 'COUNT', BATCH);
    cursor = next;
    const members = pairs(flat).map(([member]) => parseDue(member));
    for (const [tenant, due] of Map.groupBy(members, (member) => member.tenant)) {
      const ids = due.map(({ id }) => id);
      const there = await parts.redis.hmget(parts.keys.tenant(tenant).schedules, ...ids);
      const gone = ids.filter((_, position) => there[position] === null);
      if (gone.length > 0) parts.log.warn({ event: 'schedule.stranger', tenant, schedules: gone }, 'due without a record, and forgotten');
      await parts.store.forgetDue(tenant, gone);
    }
  } while (cursor !== '0');
}
