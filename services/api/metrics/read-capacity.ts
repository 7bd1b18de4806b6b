import { listWorkers } from '#shared/queue/index.ts';
import type { Ledger } from '#shared/ledger/index.ts';
import type { Load } from './read-load.ts';

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

/** Reads the fleet's capacity, or the part of it that a tenant may use and does. */
export async function readCapacity({ ledger }: CapacityPorts, tenant: string | null, { running, workers }: Load): Promise<Capacity> {
  const { redis, keys, settings } = ledger;
  const online = (await listWorkers({ redis, keys, settings })).filter(({ status }) => status !== 'dead' && status !== 'draining');
  const slots = online.reduce((total, worker) => total + (worker.slots ?? 0), 0);
  const limit = tenant === null ? null : (ledger.limitsOf(tenant)?.running ?? null);
  return { online: online.length, busy: workers.length, slots: Math.min(slots, limit ?? slots), used: running };
}
