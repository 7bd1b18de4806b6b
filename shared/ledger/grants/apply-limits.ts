import { parseLease } from '../claim/leases.ts';
import { agentLanes, contextKeys, runInContext } from '../context.ts';
import type { Ledger } from '../ledger.ts';

/** Calls for one tenant at a time; each grants a hundred tasks of lanes and of the backlog at most. */
const MAX_CALLS = 100;
/** Running tasks that one call reads. */
const PAGE = 200;

/**
 * Applies the limits that a tenant has now: tasks that wait for lanes and caps are granted while these have room, and running tasks of
 * an agent that has its first figure count. Every end of a task grants others for the room that it leaves; this is for limits that changed.
 * Returns how many tasks wait no more for a lane or a cap.
 */
export async function applyLimits(ledger: Ledger, tenant: string, running = new RunningTasks(ledger)): Promise<number> {
  const ids = Object.keys(agentLanes(ledger, tenant)).length === 0 ? [] : await running.of(tenant);
  let promoted = 0;
  for (let call = 0; call < MAX_CALLS; call += 1) {
    const page = ids.slice(call * PAGE, (call + 1) * PAGE);
    const reply = await runInContext(ledger, { script: 'apply-limits', tenant, keys: contextKeys(ledger, tenant), args: page });
    const [count, hasMore] = reply as [number, number];
    promoted += count;
    if (hasMore === 0 && (call + 1) * PAGE >= ids.length) break;
  }
  return promoted;
}

/** Tenants that are looked at together. */
const TENANTS_TOGETHER = 100;

/** Of these tenants those with tasks in the line of a lane or of a cap, or with figures of agents that running tasks may lack. */
export async function findLimited(ledger: Ledger, tenants: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (let from = 0; from < tenants.length; from += TENANTS_TOGETHER) {
    const page = tenants.slice(from, from + TENANTS_TOGETHER);
    const counts = await Promise.all(page.map((tenant) => countInLines(ledger, tenant)));
    found.push(...page.filter((tenant, at) => (counts[at] ?? 0) > 0 || Object.keys(agentLanes(ledger, tenant)).length > 0));
  }
  return found;
}

async function countInLines({ redis, keys }: Ledger, tenant: string): Promise<number> {
  const { live } = keys.tenant(tenant);
  const counts = await Promise.all(['waits=', 'backlog='].map((line) => redis.zlexcount(live, `[${line}`, `(${line}\u00ff`)));
  return counts.reduce((sum, count) => sum + count, 0);
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
