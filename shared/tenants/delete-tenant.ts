import type { RedisClient } from '../redis/connect-redis.ts';
import type { Keys, ShardKeys } from '../redis/keys.ts';
import { pairs } from '../redis/pairs.ts';
import { scanKeys } from '../redis/scan-keys.ts';
import { listKeys, revokeKey } from './key-store.ts';
import type { TenantDirectory } from './tenant-directory.ts';
import type { Tenant } from './tenant.ts';

export interface DeleteTenantParts {
  redis: RedisClient;
  keys: Keys;
  tenants: TenantDirectory;
}

/** Members of a set asked for at a time. */
const PAGE = 500;
/** The second finds nothing, unless somebody is still writing. */
const PASSES_MOST = 5;

/**
 * Deletes a tenant with everything it owns: keys, tokens, hooks, tasks, sessions, schedules, deliveries, agents. What runs loses its
 * lease and is aborted; its tickets find nothing. It is disabled first and its record goes last, so that a deletion that was
 * cut short leaves a tenant that does nothing, to be deleted again.
 */
export async function deleteTenant(parts: DeleteTenantParts, tenant: Tenant): Promise<void> {
  const { tenants } = parts;
  await tenants.save({ ...tenant, disabled: true });
  await forgetCallers(parts, tenant.id);
  let isClean = false;
  // What was under way when the keys went may have written since, and whoever has not heard yet may have accepted more.
  for (let pass = 0; pass < PASSES_MOST && !isClean; pass += 1) isClean = await forgetAll(parts, tenant.id);
  await tenants.remove(tenant.id);
}

/** Returns whether nothing was there. */
async function forgetAll({ redis, keys }: DeleteTenantParts, tenant: string): Promise<boolean> {
  const { states, bodies } = keys.tenant(tenant);
  // Its tasks first, and in one step: from here on no script finds one, so that none writes what the others took away.
  let found = await redis.unlink(states, bodies);
  await forgetInShard(redis, keys.shard(keys.shardOf(tenant)), tenant);
  for await (const page of scanKeys(redis, `${keys.tenantPrefix(tenant)}*`)) found += await redis.unlink(...page);
  return found === 0;
}

/** Nobody calls in its name any more. */
async function forgetCallers({ redis, keys }: DeleteTenantParts, tenant: string): Promise<void> {
  for (const { id } of await listKeys({ redis, keys }, tenant)) await revokeKey({ redis, keys }, tenant, id);
  for (const digest of await redis.zrange(keys.fleet.visitors(tenant), '0', '-1')) await redis.del(keys.fleet.visitor(digest));
  await redis.del(keys.fleet.visitors(tenant));
  const owners = await redis.hgetall(keys.fleet.hookOwners);
  const hooks = Object.keys(owners).filter((hook) => owners[hook] === tenant);
  if (hooks.length > 0) await redis.hdel(keys.fleet.hookOwners, ...hooks);
}

/** What the shard's sets hold of all its tenants together. */
async function forgetInShard(redis: RedisClient, shard: ShardKeys, tenant: string): Promise<void> {
  const own = `${tenant}/*`;
  for (const set of [shard.leases, shard.outbox, shard.deadlines, shard.deliveriesDue, shard.schedulesDue]) {
    await removeFromSet(redis, set, own);
  }
  await removeFromSet(redis, shard.ended, `*/*/${own}`);
  await removeFromHash(redis, shard.signals, own);
  await redis.hdel(shard.pressure, tenant);
}

async function removeFromSet(redis: RedisClient, set: string, pattern: string): Promise<void> {
  let cursor = '0';
  do {
    const [next, members] = await redis.zscan(set, cursor, 'MATCH', pattern, 'COUNT', PAGE);
    cursor = next;
    const names = pairs(members).map(([name]) => name);
    if (names.length > 0) await redis.zrem(set, ...names);
  } while (cursor !== '0');
}

async function removeFromHash(redis: RedisClient, hash: string, pattern: string): Promise<void> {
  let cursor = '0';
  do {
    const [next, fields] = await redis.hscan(hash, cursor, 'MATCH', pattern, 'COUNT', PAGE);
    cursor = next;
    const names = pairs(fields).map(([name]) => name);
    if (names.length > 0) await redis.hdel(hash, ...names);
  } while (cursor !== '0');
}
