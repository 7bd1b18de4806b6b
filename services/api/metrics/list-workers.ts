import { knownWorkers } from '#shared/queue/index.ts';
import type { Ledger } from '#shared/ledger/index.ts';

/** A worker, as far as its heartbeat says; null is unknown. */
export interface WorkerRecord {
  status: 'alive' | 'draining' | 'dead';
  slots: number | null;
  running: number | null;
}

/** More workers than a fleet has. */
const MAX_WORKERS = 10_000;

export async function listWorkers({ redis, keys }: Pick<Ledger, 'redis' | 'keys' | 'settings'>): Promise<WorkerRecord[]> {
  const known = await knownWorkers(redis, keys, MAX_WORKERS);
  return known.map(() => ({ status: 'alive', slots: null, running: null }));
}
