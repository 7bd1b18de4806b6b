import { type DaemonState, readDaemonStates, statusOf } from '#shared/daemons/index.ts';
import { redisNow } from '#shared/redis/index.ts';
import { listWorkers, type Load } from '#shared/queue/index.ts';
import type { Ledger } from '#shared/ledger/index.ts';

export interface CapacityPorts {
  readonly ledger: Ledger;
}

/** What may run tasks, and does. */
export interface Capacity {
  online: number;
  busy: number;
  slots: number;
  used: number;
}

/** Reads the fleet's capacity in workers and daemons, or the part of it that a tenant may use and does. */
export async function readCapacity({ ledger }: CapacityPorts, tenant: string | null, { running, workers }: Load): Promise<Capacity> {
  const { redis, keys, settings } = ledger;
  const [all, daemons] = await Promise.all([listWorkers({ redis, keys, settings }), readOnlineDaemons(ledger, tenant)]);
  // What a hub runs, its daemons do.
  const isWorker = new Map(all.map(({ id, role }) => [id, role === 'worker']));
  const online = all.filter(({ role, status }) => role === 'worker' && status !== 'dead' && status !== 'draining');
  const slots = [...online, ...daemons].reduce((total, each) => total + (each.slots ?? 0), 0);
  const limit = tenant === null ? null : (ledger.limitsOf(tenant)?.running ?? null);
  return {
    online: online.length + daemons.length,
    busy: workers.filter((worker) => isWorker.get(worker) !== false).length + daemons.filter((daemon) => daemon.running > 0).length,
    slots: Math.min(slots, limit ?? slots),
    used: running,
  };
}

async function readOnlineDaemons({ redis, keys }: Ledger, tenant: string | null): Promise<DaemonState[]> {
  const [live, now] = await Promise.all([readDaemonStates({ redis, keys }, tenant ?? undefined), redisNow(redis)]);
  return live.flatMap(({ state }) => (['online', 'busy'].includes(statusOf(state, now)) ? [state] : []));
}
