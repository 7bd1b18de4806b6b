import { type LeaseKeeper, tryToReleaseClaim } from '#shared/execution/index.ts';
import { type Ledger, parseLease } from '#shared/ledger/index.ts';
import type { Log } from '#shared/log/index.ts';
import { redisNow } from '#shared/redis/index.ts';
import { eachShard } from './each-shard.ts';

export interface LostClaimPorts {
  ledger: Ledger;
  keeper: LeaseKeeper;
  /** This worker's name, as records show it. */
  worker: string;
  log: Log;
}

/** The part of a lease that is left when it was not renewed at its half: no process knows its attempt, or its worker is gone. */
const UNRENEWED = 0.4;
/** Leases looked at in one round of a shard. */
const MAX_LEASES = 1000;

/**
 * Releases tasks that Redis claimed for this worker without the worker knowing: the answer was lost, or came after the call's deadline, or the
 * client sent the call again and got other tasks. Each goes back to its place and spends no attempt. A slot that takes what is ready knows
 * the task by that answer only, so that no other part of it looks for the task.
 */
export async function releaseLostClaims(ports: LostClaimPorts): Promise<void> {
  const { ledger, keeper } = ports;
  const now = await redisNow(ledger.redis);
  const until = now + UNRENEWED * ledger.settings.worker.leaseMs;
  await eachShard(ledger.keys, async (shard) => {
    const members = await ledger.redis.zrangebyscore(ledger.keys.shard(shard).leases, now, until, 'LIMIT', 0, MAX_LEASES);
    for (const member of members) if (keeper.isUnknown(member)) await release(ports, member);
  });
}

async function release(ports: LostClaimPorts, member: string): Promise<void> {
  const { tenant, id } = parseLease(member);
  if (!(await tryToReleaseClaim(ports, { tenant, id }))) return;
  ports.log.warn({ event: 'task.claim-lost', task: id, tenant }, 'released a task whose claim was not answered; that costs no attempt');
}
