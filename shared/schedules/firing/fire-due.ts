import { readStates } from '../../ledger/index.ts';
import { sessionLane } from '../../queue/index.ts';
import { isTerminal } from '../../tasks/index.ts';
import { acceptRuns, scheduleLane } from './accept-runs.ts';
import { decideFiring, settleFiring } from './decide-firing.ts';
import { sessionOf } from '../platforms.ts';
import { logChange } from '../store/report-schedule.ts';
import type { Schedule } from '../store/schedule.ts';
import type { ScheduleParts } from '../schedule-parts.ts';
import type { DueSchedule, ScheduleChange } from '../store/schedule-store.ts';

/** Rounds of one call; what is due then is for the next. */
const ROUNDS = 100;

/**
 * Fires what is due in a shard. Each schedule goes through three steps: the decision is written into its record, if nobody wrote it
 * meanwhile; its runs are accepted; the record says so. Whoever dies in between leaves a record from which the next goes on, and
 * accepting the same run twice makes one task. Answers when the next schedule of the shard is due; null when none is.
 */
export async function fireDue(parts: ScheduleParts, shard: number): Promise<number | null> {
  const { batch, catchUpThreshold, missedAfterMs } = parts.settings.scheduler;
  for (let round = 0; round < ROUNDS; round += 1) {
    const now = await parts.now();
    const due = await parts.store.due(shard, now, batch);
    if (due.length === 0) break;
    const late = due.filter(({ dueAt }) => now - dueAt > missedAfterMs).length;
    const byTenant = Map.groupBy(due, ({ tenant }) => tenant);
    const isCatchUp = late > Math.min(catchUpThreshold, batch - 1);
    await Promise.all([...byTenant].map(([tenant, schedules]) => fireTenant(parts, tenant, schedules, { now, isCatchUp })));
  }
  return await parts.store.nextDue(shard);
}

interface Round {
  now: number;
  isCatchUp: boolean;
}

async function fireTenant(parts: ScheduleParts, tenant: string, due: readonly DueSchedule[], round: Round): Promise<void> {
  const ids = due.map(({ id }) => id);
  const read = await parts.store.read(tenant, ids);
  await parts.store.forgetDue(
    tenant,
    ids.filter((_, position) => read[position] === null),
  );
  const schedules = read.filter((schedule) => schedule !== null);
  // Those that somebody decided and did not see accepted go first: what they decide next may rest on it.
  const begun = schedules.filter(({ firing }) => firing.length > 0);
  const decided = await decideAndSave(
    parts,
    tenant,
    schedules.filter(({ firing }) => firing.length === 0),
    round,
  );
  await acceptAndSettle(parts, tenant, [...begun, ...decided], round.now);
}

/** Writes what follows for each; answers those that now have runs to be accepted. */
async function decideAndSave(parts: ScheduleParts, tenant: string, schedules: readonly Schedule[], round: Round): Promise<Schedule[]> {
  const facts = await readFacts(parts, tenant, schedules);
  const changes = await Promise.all(
    schedules.map(async (schedule, position) => {
      const hasAgent = (await parts.findAgent(tenant, schedule.agent)) !== null;
      return decideIsolated(parts, schedule, { ...round, hasAgent, ...(facts[position] ?? NOT_RUNNING) });
    }),
  );
  const written = await parts.store.save(tenant, changes);
  const now = changes.filter((_, position) => written[position]);
  for (const change of now) logChange(parts.log, change);
  return now.filter(({ schedule }) => schedule.firing.length > 0).map(({ schedule }) => nextVersion(schedule));
}

/** As it is once it was written. */
function nextVersion(schedule: Schedule): Schedule {
  return { ...schedule, version: schedule.version + 1 };
}

const NOT_RUNNING = { isRunning: false, waiting: 0 };
type Facts = typeof NOT_RUNNING;

async function readFacts({ ledger, redis, keys }: ScheduleParts, tenant: string, schedules: readonly Schedule[]): Promise<Facts[]> {
  const runs = await readStates(
    ledger,
    tenant,
    schedules.map(({ lastRunId }) => lastRunId ?? ''),
  );
  return await Promise.all(
    schedules.map(async (schedule, position) => {
      const { id, overlap } = schedule;
      const session = sessionOf(schedule);
      const state = runs[position];
      const lane = session === null ? scheduleLane(id) : sessionLane(session);
      const waiting = overlap === 'queue' ? await redis.zcard(keys.tenant(tenant).laneWait(lane)) : 0;
      return { isRunning: state ? !isTerminal(state.status) : false, waiting };
    }),
  );
}

/** One bad record must not keep the others from firing. */
function decideIsolated(parts: ScheduleParts, schedule: Schedule, facts: Facts & Round & { hasAgent: boolean }): ScheduleChange {
  try {
    const isTenantDisabled = parts.tenants.get(schedule.tenant)?.disabled === true;
    return decideFiring(schedule, { ...facts, isTenantDisabled, settings: parts.settings.scheduler });
  } catch (error) {
    parts.log.error({ event: 'schedule.broken', err: error, tenant: schedule.tenant, schedule: schedule.id }, 'a schedule cannot fire');
    const pausedReason = `it cannot be fired: ${error instanceof Error ? error.message : String(error)}`;
    return { schedule: { ...schedule, status: 'failed', pausedReason, nextFireAt: null, wakeAt: null }, event: 'failed' };
  }
}

/** Accepts the runs that are written down, and writes down that they are. */
async function acceptAndSettle(parts: ScheduleParts, tenant: string, schedules: readonly Schedule[], now: number): Promise<void> {
  const changes = await Promise.all(
    schedules.map(async (schedule) => {
      const answer = await acceptRuns(parts, schedule);
      if (answer.kind !== 'accepted') {
        parts.log.warn({ event: 'schedule.not-fired', tenant, schedule: schedule.id, answer }, 'a run could not be accepted');
      }
      return settleFiring(schedule, answer, now, parts.settings.scheduler);
    }),
  );
  const written = await parts.store.save(tenant, changes);
  changes.forEach((change, position) => written[position] && logChange(parts.log, change));
}
