import { readTaskRows } from '../../ledger/index.ts';
import { isTerminal } from '../../tasks/index.ts';
import { resumeSchedule } from '../changes/update-schedule.ts';
import type { ScheduleParts } from '../schedule-parts.ts';
import type { Schedule } from '../store/schedule.ts';
import type { ScheduleChange } from '../store/schedule-store.ts';
import { toIso } from '../../time/index.ts';
import { withNewerZoneData } from './occurrences.ts';
import { followRuns } from './follow-ended-runs.ts';

/**
 * Compares the records of a shard's schedules with their due times, and repairs the differences: the record is the truth. Releases
 * schedules whose tenant is enabled again, and removes due times without a record.
 */
export async function reconcileSchedules(parts: ScheduleParts, shard: number): Promise<void> {
  for (const { id } of parts.tenants.list()) {
    if (parts.keys.shardOf(id) === shard) await reconcileTenant(parts, id);
  }
  await removeOrphans(parts, shard);
}

/** The same for one tenant. To be called when the tenant is enabled again, so that its schedules resume at once. */
export async function reconcileTenant(parts: ScheduleParts, tenant: string): Promise<void> {
  for await (const schedules of parts.store.scan(tenant)) await repairBatch(parts, tenant, schedules);
}

async function repairBatch(parts: ScheduleParts, tenant: string, read: readonly Schedule[]): Promise<void> {
  const now = await parts.now();
  const schedules = await removeExpired(parts, read, now);
  const dueTimes = await parts.store.due.find(
    tenant,
    schedules.map(({ id }) => id),
  );
  const changes = await Promise.all(
    schedules.map((schedule, position) => repairIsolated(parts, schedule, { dueAt: dueTimes[position] ?? null, now })),
  );
  const saved = await parts.store.saveAndLog(
    tenant,
    changes.filter((change) => change !== null),
  );
  const wrong = new Set(schedules.filter((schedule, position) => dueTimes[position] !== schedule.wakeAt).map(({ id }) => id));
  for (const { schedule, event } of saved) {
    if (event !== undefined || !wrong.has(schedule.id)) continue;
    const fields = { event: 'schedule.restored', schedule: schedule.id, tenant, wakeAt: schedule.wakeAt };
    parts.log.warn(fields, "a schedule's due time was not the one in its record; the record wins");
  }
}

const ENDED: ReadonlySet<Schedule['status']> = new Set(['completed', 'failed', 'canceled']);

/** Removes ended schedules after their retention, except the configuration's, which would be created again. Returns the others. */
async function removeExpired(parts: ScheduleParts, schedules: readonly Schedule[], now: number): Promise<Schedule[]> {
  const before = now - parts.settings.scheduler.endedRetentionMs;
  const expired = schedules.filter(({ status, definition, updatedAt }) => ENDED.has(status) && definition === null && updatedAt < before);
  await Promise.all(expired.map((schedule) => parts.store.remove(schedule, true)));
  return schedules.filter((schedule) => !expired.includes(schedule));
}

interface Found {
  dueAt: number | null;
  now: number;
}

/** A bad record fails without stopping the repair of others. */
async function repairIsolated(parts: ScheduleParts, schedule: Schedule, { dueAt, now }: Found): Promise<ScheduleChange | null> {
  try {
    const change = releaseHeld(parts, schedule, now) ?? (await endOneShot(parts, schedule)) ?? followZoneData(parts, schedule);
    // Saving the record as it is restores its due time.
    return change ?? (dueAt === schedule.wakeAt ? null : { schedule });
  } catch (error) {
    const fields = { event: 'schedule.broken', err: error, tenant: schedule.tenant, schedule: schedule.id };
    parts.log.error(fields, 'a schedule cannot be repaired');
    return null;
  }
}

/** Resumes a schedule that was held for its disabled tenant. */
function releaseHeld(parts: ScheduleParts, schedule: Schedule, now: number): ScheduleChange | null {
  if (schedule.heldBy !== 'tenant' || parts.tenants.get(schedule.tenant)?.disabled !== false) return null;
  return { schedule: resumeSchedule(schedule, now, parts), event: 'resumed' };
}

/** The clocks of its zone change at other times than the process knew that computed its next occurrence. */
function followZoneData(parts: ScheduleParts, schedule: Schedule): ScheduleChange | null {
  const renewed = withNewerZoneData(schedule, parts.settings.scheduler);
  if (renewed === null) return null;
  const { id, tenant, tz, zoneData, nextFireAt } = renewed;
  const fields = { event: 'schedule.zone-changed', schedule: id, tenant, tz, zoneData, nextFireAt: toIso(nextFireAt) };
  if (nextFireAt !== schedule.nextFireAt) parts.log.info(fields, 'newer time zone data has another next time for a schedule');
  return { schedule: renewed };
}

/** Ends a one-shot whose run ended unnoticed. */
async function endOneShot(parts: ScheduleParts, schedule: Schedule): Promise<ScheduleChange | null> {
  const { rule, status, nextFireAt, lastRunId, firing } = schedule;
  if (rule.kind !== 'once' || status !== 'active' || nextFireAt !== null || lastRunId === null || firing.length > 0) return null;
  const [task = null] = await readTaskRows(parts.ledger, schedule.tenant, [lastRunId]);
  if (task === null) return { schedule: { ...schedule, status: 'completed' }, event: 'completed' };
  if (!isTerminal(task.state.status)) return null;
  const { countedUpTo, counted } = schedule;
  const uncounted = { ...schedule, countedUpTo: null, counted: [] };
  const change = followRuns(uncounted, [{ member: lastRunId, task }], parts.settings.scheduler);
  return change && { ...change, schedule: { ...change.schedule, countedUpTo, counted } };
}

async function removeOrphans(parts: ScheduleParts, shard: number): Promise<void> {
  for await (const entries of parts.store.due.scan(shard)) {
    for (const [tenant, due] of Map.groupBy(entries, (entry) => entry.tenant)) {
      const ids = due.map(({ id }) => id);
      const stored = await parts.redis.hmget(parts.keys.tenant(tenant).schedules, ...ids);
      const orphans = ids.filter((_, position) => stored[position] === null);
      if (orphans.length === 0) continue;
      parts.log.warn({ event: 'schedule.orphan', tenant, schedules: orphans }, 'removed due times without a record');
      await parts.store.due.remove(tenant, orphans);
    }
  }
}
