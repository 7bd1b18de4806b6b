import type { Settings } from '../config/index.ts';
import type { Keys, RedisClient } from '../redis/index.ts';
import { DEFAULT_TENANT } from '../tenants/index.ts';

/** What happens to workers. `lost`: an attempt's lease ran out, because its worker is gone or hangs. */
export type FleetEvent = 'worker.started' | 'worker.draining' | 'worker.stopped' | 'worker.lost';

export interface FleetTeller {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly settings: Settings;
}

/** A worker with many attempts is told as lost once in this time. */
const LOST_ONCE_MS = 60_000;

/**
 * Writes what happened to a worker into the event stream of the installation's own tenant, for its operators. Best effort: never
 * rejects, and what is not told while Redis is away stays untold.
 */
export async function tellFleet({ redis, keys, settings }: FleetTeller, event: FleetEvent, worker: string): Promise<void> {
  try {
    if (event === 'worker.lost' && (await redis.set(keys.fleet.workerLost(worker), '', 'PX', LOST_ONCE_MS, 'NX')) === null) return;
    const { maxPerTenant } = settings.events;
    const fields = ['event', `fleet.${event}`, 'worker', worker];
    await redis.xadd(keys.tenant(DEFAULT_TENANT).events, 'MAXLEN', '~', maxPerTenant, '*', ...fields);
    await redis.publish(keys.shard(keys.shardOf(DEFAULT_TENANT)).signal, `${DEFAULT_TENANT}//fleet.${event}`);
  } catch {
    // The log says it too.
  }
}
