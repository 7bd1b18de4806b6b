import { parseLease } from '../claim/leases.ts';
import { agentLanes, contextKeys, runInContext } from '../context.ts';
import type { Ledger } from '../ledger.ts';

/**
 * Applies the limits that a tenant has now: tasks that wait for lanes and caps are granted while these have room, and running tasks of
 * an agent that has its first figure count. Every end of a task grants others for the room that it leaves; this is for limits that changed.
 * Returns how many tasks wait no more for a lane or a cap.
 */
export async function applyLimits(ledger: Ledger, tenant: string, running = new RunningTasks(ledger)): Promise<number> {
  await holdAgentLanes(ledger, tenant, running);
  return await promoteWaiting(ledger, tenant);
}

/** RunningTasks is responsible for reading once which tasks run, for all tenants whose limits are applied together. */
export class RunningTasks {
  readonly #ledger: Pick<Ledger, 'redis' | 'keys'>;
  /** By shard, the ids by tenant. */
  readonly #read = new Map<number, Promise<ReadonlyMap<string, readonly string[]>>>();

  constructor(ledger: Pick<Ledger, 'redis' | 'keys'>) {
    this.#ledger = ledger;
  }

  async of(tenant: string): Promise<readonly string[]> {
    const shard = this.#ledger.keys.shardOf(tenant);
    const reading = this.#read.get(shard) ?? this.#readShard(shard);
    this.#read.set(shard, reading);
    return (await reading).get(tenant) ?? [];
  }

  async #readShard(shard: number): Promise<ReadonlyMap<string, readonly string[]>> {
    const { redis, keys } = this.#ledger;
    const leases = (await redis.zrange(keys.shard(shard).leases, '0', '-1')).map((member) => parseLease(member));
    const byTenant = Map.groupBy(leases, ({ tenant }) => tenant);
    return new Map([...byTenant].map(([tenant, own]) => [tenant, own.map(({ id }) => id)]));
  }
}

/** Calls for one tenant at a time; each grants a hundred tasks of lanes and of the backlog at most. */
const MAX_CALLS = 100;

async function promoteWaiting(ledger: Ledger, tenant: string): Promise<number> {
  let promoted = 0;
  for (let call = 0; call < MAX_CALLS; call += 1) {
    const reply = await runInContext(ledger, { script: 'promote-backlog', tenant, keys: contextKeys(ledger, tenant), args: [] });
    const [count] = reply as [number];
    if (count === 0) break;
    promoted += count;
  }
  return promoted;
}

/** Running tasks that one call reads. */
const PAGE = 200;

async function holdAgentLanes(ledger: Ledger, tenant: string, running: RunningTasks): Promise<void> {
  const lanes = agentLanes(ledger.limitsOf(tenant));
  if (Object.keys(lanes).length === 0) return;
  const { states, live, bodies } = ledger.keys.tenant(tenant);
  const ids = await running.of(tenant);
  for (let from = 0; from < ids.length; from += PAGE) {
    await ledger.run('hold-agent-lanes', [states, live, bodies], [JSON.stringify({ agentLanes: lanes }), ...ids.slice(from, from + PAGE)]);
  }
}
