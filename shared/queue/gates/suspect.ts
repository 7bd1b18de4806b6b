import { leaseMember, type Ledger } from '../../ledger/index.ts';
import { redisNow } from '../../redis/index.ts';
import { longestLossDelay, type TaskState } from '../../tasks/index.ts';
import { timeText } from '../../time/index.ts';
import { closedGate, type GateReport, waitingSince, type WaitingTask } from '../why/wait-reason.ts';
import type { TimeKind } from './gate-kinds.ts';

const MINUTE_MS = 60_000;

/** The gate of a task that was lost with its worker. */
export const SUSPECT: TimeKind = {
  gate: 'suspect',
  sort: 'backoff',
  waits: 'because it was lost with its worker, and comes back apart from others',
  limit: 'after a delay, one in a process',
  order: 'time',
  opens: 'the clock of Redis, or a retry by hand',
  helps: 'It comes back by itself. Its worker was lost while it ran, so it runs apart from others.',
  longMs: 5 * MINUTE_MS,
  describe: ({ state }, at, ledger) =>
    isTurnedAway(state, ledger)
      ? `lost with its worker; waits for a free isolated process of a worker, and looks again at ${at}`
      : `lost with its worker; comes back in an isolated process, not before ${at}`,
  isUnknown: isTurnedAway,
};

type SettingsPort = Pick<Ledger, 'settings'>;

/** Whether a suspect has come back, and found no isolated process with room. */
function isTurnedAway(state: TaskState, { settings }: SettingsPort): boolean {
  if (state.notBefore === undefined) return false;
  return state.notBefore > waitingSince(state) + longestLossDelay(settings, state.losses ?? 1);
}

/** A lease is renewed at its half. From this part of it on, its worker is late: it is gone, frozen, or cut off. */
const LATE = 0.7;

/** Of a task that seems to run: its worker does not renew the lease, and may be lost. */
export interface LateLease {
  gate: GateReport;
  /** Until the task runs again when its worker is lost, ms at most. */
  againMs: number;
}

/** Whether the worker of a running task has stopped renewing its lease; null while it renews it. */
export async function explainLease(ledger: Ledger, { body: { tenant, id }, state }: WaitingTask): Promise<LateLease | null> {
  const { leaseMs, orphanCheckIntervalMs } = ledger.settings.worker;
  const member = leaseMember({ tenant, id, token: state.token });
  const shard = ledger.keys.shard(ledger.keys.shardOf(tenant));
  const [score, now] = await Promise.all([ledger.redis.zscore(shard.leases, member), redisNow(ledger.redis)]);
  if (score === null) return null;
  const endsAt = Number(score);
  const renewedAt = endsAt - leaseMs;
  if (now - renewedAt < LATE * leaseMs) return null;
  const leftMs = Math.max(0, endsAt - now);
  const detail = `its worker ${state.worker} last renewed its lease at ${timeText(renewedAt)}; without a renewal it is lost at ${timeText(endsAt)}`;
  const facts = { leftMs, worker: state.worker ?? null };
  return {
    gate: closedGate('suspect', { detail, helps: SUSPECT.helps, since: renewedAt, until: endsAt, facts }),
    againMs: leftMs + orphanCheckIntervalMs + longestLossDelay(ledger.settings, (state.losses ?? 0) + 1),
  };
}
