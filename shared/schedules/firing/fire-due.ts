import { type PressureLevel, readStates } from '../../ledger/index.ts';
import { monitorOf } from '../../queue/index.ts';
import { isTerminal } from '../../tasks/index.ts';
import type { ScheduleParts } from '../schedule-parts.ts';
import type { DueSchedule } from '../store/due-times.ts';
import { haltSchedule, type Schedule } from '../store/schedule.ts';
import type { ScheduleChange } from '../store/schedule-store.ts';
import { scheduleLane } from './accept-runs.ts';
import { decideFiring } from './decide-firing.ts';
import { withNewerZoneData } from './occurrences.ts';
import { settleRuns } from './settle-firing.ts';

/** Batches of one call; the next call continues. */
const BATCHES = 100;

interface Round {
  now: number;
  isCatchUp: boolean;
}

/**
 * Fires the due schedules of a shard, each in three steps: save the decision in its record, unless another writer was first; accept its
 * runs; settle the record. After a crash between two steps another process continues from the record, and accepting a run again makes no
 * second task. Returns when the next schedule of the shard is due; null when there is none.
 */
export async function fireDue(parts: ScheduleParts, shard: number): Promise<number | null> {
  const { batch, catchUpThreshold, missedAfterMs } = parts.settings.scheduler;
  for (let count = 0; count < BATCHES; count += 1) {
    const now = await parts.now();
    const due = await parts.store.due.list(shard, now, batch);
    if (due.length === 0) break;
    const late = due.filter(({ dueAt }) => now - dueAt > missedAfterMs).length;
    const round = { now, isCatchUp: late > Math.min(catchUpThreshold, batch - 1) };
    const byTenant = Map.groupBy(due, ({ tenant }) => tenant);
    await Promise.all([...byTenant].map(([tenant, dueOfTenant]) => fireTenant(parts, tenant, dueOfTenant, round)));
  }
  return await parts.store.due.next(shard);
}

async function fireTenant(parts: ScheduleParts, tenant: string, due: readonly DueSchedule[], round: Round): Promise<void> {
  const ids = due.map(({ id }) => id);
  const read = await parts.store.read(tenant, ids);
  await parts.store.due.remove(
    tenant,
    ids.filter((_, position) => read[position] === null),
  );
  const schedules = read.filter((schedule) => schedule !== null);
  // Another process decided these and did not settle them.
  const unsettled = schedules.filter(({ firing }) => firing.length > 0);
  const undecided = schedules.filter(({ firing }) => firing.length === 0);
  const decided = await decideAndSave(parts, tenant, undecided, round);
  await acceptAndSettle(parts, tenant, [...unsettled, ...decided], round.now);
}

/** Saves what was decided for each schedule. Returns the schedules that now have runs to accept. */
async function decideAndSave(parts: ScheduleParts, tenant: string, schedules: readonly Schedule[], round: Round): Promise<Schedule[]> {
  const [overlaps, pressure] = await Promise.all([readOverlaps(parts, tenant, schedules), readPressure(parts, tenant, schedules)]);
  const changes = await Promise.all(
    schedules.map(async (schedule, position) => {
      const hasAgent = (await parts.findAgent(tenant, schedule.agent)) !== null;
      return decideIsolated(parts, schedule, { ...round, pressure, hasAgent, ...(overlaps[position] ?? NO_OVERLAP) });
    }),
  );
  const saved = await parts.store.saveAndLog(tenant, changes);
  const withRuns = saved.filter(({ schedule }) => schedule.firing.length > 0);
  return withRuns.map(({ schedule }) => asSaved(schedule));
}

function asSaved(schedule: Schedule): Schedule {
  return { ...schedule, version: schedule.version + 1 };
}

/** Only heartbeats depend on the load. */
async function readPressure(parts: ScheduleParts, tenant: string, schedules: readonly Schedule[]): Promise<PressureLevel> {
  return schedules.some(({ rule }) => rule.kind === 'heartbeat') ? await monitorOf(parts).readLevel(tenant) : 'none';
}

const NO_OVERLAP = { isRunning: false, waiting: 0 };
type Overlap = typeof NO_OVERLAP;

/** Whether the last run of each schedule is still at work, and how many runs wait. */
async function readOverlaps({ ledger, redis, keys }: ScheduleParts, tenant: string, schedules: readonly Schedule[]): Promise<Overlap[]> {
  const runs = await readStates(
    ledger,
    tenant,
    schedules.map(({ lastRunId }) => lastRunId ?? ''),
  );
  return await Promise.all(
    schedules.map(async (schedule, position) => {
      const state = runs[position];
      const waiting = schedule.overlap === 'queue' ? await redis.zcard(keys.tenant(tenant).laneWait(scheduleLane(schedule.id))) : 0;
      return { isRunning: state ? !isTerminal(state.status) : false, waiting };
    }),
  );
}

/** A bad record fails without stopping the other schedules. A time by older time zone data is corrected, and decided when it comes. */
function decideIsolated(
  parts: ScheduleParts,
  schedule: Schedule,
  facts: Overlap & Round & { hasAgent: boolean; pressure: PressureLevel },
): ScheduleChange {
  try {
    const renewed = withNewerZoneData(schedule, parts.settings.scheduler);
    if (renewed !== null && renewed.nextFireAt !== schedule.nextFireAt) return { schedule: renewed };
    const isTenantDisabled = parts.tenants.get(schedule.tenant)?.disabled === true;
    return decideFiring(schedule, { ...facts, isTenantDisabled, settings: parts.settings.scheduler });
  } catch (error) {
    parts.log.error({ event: 'schedule.broken', err: error, tenant: schedule.tenant, schedule: schedule.id }, 'a schedule cannot fire');
    const reason = `it cannot be fired: ${error instanceof Error ? error.message : String(error)}`;
    return { schedule: haltSchedule(schedule, 'failed', reason), event: 'failed' };
  }
}

/** Accepts the decided runs, and saves the outcome. */
async function acceptAndSettle(parts: ScheduleParts, tenant: string, schedules: readonly Schedule[], now: number): Promise<void> {
  const changes = await Promise.all(
    schedules.map(async (schedule) => {
      const { answer, change } = await settleRuns(parts, schedule, now);
      if (answer.kind !== 'accepted') {
        parts.log.warn({ event: 'schedule.not-fired', tenant, schedule: schedule.id, answer }, 'a run could not be accepted');
      }
      return change;
    }),
  );
  await parts.store.saveAndLog(tenant, changes);
}
