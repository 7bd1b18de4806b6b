import type { Log } from '../log/index.ts';
import { type Keys, type RedisClient, scanHash, scanKeys, scanSortedSet, type ShardKeys } from '../redis/index.ts';
import type { TenantDirectory } from './tenant-directory.ts';
import type { Tenant } from './tenant.ts';
import { removeKeysOf } from './key-store.ts';
import { runTenantScript } from './write-of-tenant.ts';

interface EndTenantPorts {
  redis: RedisClient;
  keys: Keys;
  tenants: TenantDirectory;
  log: Log;
}

/**
 * Ends a tenant and removes everything it owns: keys, tokens, hooks, daemons, tasks, sessions, schedules, deliveries, agents. Its running tasks lose
 * their leases and are aborted; its tickets find nothing. The end comes first and is final; the chore `clean-tenants` removes what cannot
 * be removed now. Returns false when another caller ended it.
 */
export async function endTenant(ports: EndTenantPorts, tenant: Tenant, now = Date.now()): Promise<boolean> {
  if (!(await ports.tenants.end(tenant, now))) return false;
  try {
    await cleanTenant(ports, tenant.id);
  } catch (error) {
    ports.log.warn({ err: error, tenant: tenant.id }, 'what a deleted tenant owned could not all be removed now');
  }
  return true;
}

interface CleanTenantPorts {
  redis: RedisClient;
  keys: Keys;
}

/** Members of a set asked for at a time. */
const PAGE = 500;
/** The second finds nothing, unless a call that was under way wrote meanwhile. */
const MAX_PASSES = 5;

/** Removes what an ended tenant owns. Returns whether the last pass found nothing. */
export async function cleanTenant(ports: CleanTenantPorts, tenant: string): Promise<boolean> {
  const { redis, keys } = ports;
  // From here on no script of its shard accepts anything for it; the fleet's scripts knew already.
  await runTenantScript(redis, 'set-state', [keys.shard(keys.shardOf(tenant)).tenantStates], [tenant, 'ended']);
  return await removeTenantData(ports, tenant);
}

/** Removes all that a tenant owns but its record. Nobody may write for it meanwhile. Returns whether the last pass found nothing. */
export async function removeTenantData(ports: CleanTenantPorts, tenant: string): Promise<boolean> {
  await removeCallers(ports, tenant);
  let isClean = false;
  for (let pass = 0; pass < MAX_PASSES && !isClean; pass += 1) isClean = (await removeOwned(ports, tenant)) === 0;
  return isClean;
}

/** Returns how much there was. */
async function removeOwned({ redis, keys }: CleanTenantPorts, tenant: string): Promise<number> {
  const { states, bodies } = keys.tenant(tenant);
  // Its tasks first, and in one step: from here on no script finds one, so that none writes what the others took away.
  let found = await redis.unlink(states, bodies);
  found += await removeFromShard(redis, keys.shard(keys.shardOf(tenant)), tenant);
  for await (const page of scanKeys(redis, `${keys.tenantPrefix(tenant)}*`)) found += await redis.unlink(...page);
  return found;
}

/** Its keys, tokens, hook ids and daemons open nothing any more. */
async function removeCallers({ redis, keys }: CleanTenantPorts, tenant: string): Promise<void> {
  await removeKeysOf({ redis, keys }, tenant);
  const visitors = await redis.zrange(keys.fleet.visitors(tenant), '0', '-1');
  for (let from = 0; from < visitors.length; from += PAGE) {
    await redis.unlink(...visitors.slice(from, from + PAGE).map((digest) => keys.fleet.visitor(digest)));
  }
  await redis.unlink(keys.fleet.visitors(tenant));
  await removeFromHash(redis, keys.fleet.hookOwners, (_hook, owner) => owner === tenant);
  await redis.unlink(keys.fleet.daemons(tenant), keys.fleet.daemonNames(tenant));
  await removeFromHash(redis, keys.fleet.daemonTokens, (_digest, place) => place.startsWith(`${tenant}/`));
  await removeFromHash(redis, keys.fleet.daemonStates, () => true, `${tenant}/*`);
  await removeFromHash(redis, keys.fleet.peopleDisabled, (place) => place.endsWith(`/${tenant}`), `*/${tenant}`);
}

/** What the shard's sets hold of all its tenants together. */
async function removeFromShard(redis: RedisClient, shard: ShardKeys, tenant: string): Promise<number> {
  const own = `${tenant}/*`;
  let found = 0;
  const byTenant = [shard.leases, shard.outbox, shard.deadlines, shard.slas, shard.due, shard.deliveriesDue, shard.schedulesDue];
  const ofRuns = [shard.waits, shard.openEvents, shard.reminders];
  for (const set of [...byTenant, ...ofRuns, shard.openCancels, shard.actionsDue, shard.erasuresDue, shard.filesDue, shard.jobs]) {
    found += await removeFromSet(redis, set, own);
  }
  for (const set of [shard.ended, shard.ready, `${shard.jobs}:awaited`]) found += await removeFromSet(redis, set, `*/*/${own}`);
  found += await removeFromSet(redis, shard.turns, `*/*/${tenant}`);
  for (const hash of [shard.signals, shard.agentCaps])
    found += await removeFromHash(redis, hash, (field) => field.startsWith(`${tenant}/`), own);
  return (
    found +
    (await redis.hdel(shard.pressure, tenant)) +
    (await redis.hdel(shard.weights, tenant)) +
    (await redis.hdel(shard.preempted, tenant)) +
    (await redis.hdel(shard.budgetVersions, tenant))
  );
}

async function removeFromSet(redis: RedisClient, set: string, pattern: string): Promise<number> {
  let found = 0;
  for await (const page of scanSortedSet(redis, set, { pattern })) found += await redis.zrem(set, ...page.map(([name]) => name));
  return found;
}

type IsOwn = (field: string, value: string) => boolean;

async function removeFromHash(redis: RedisClient, hash: string, isOwn: IsOwn, pattern = '*'): Promise<number> {
  let found = 0;
  for await (const page of scanHash(redis, hash, { pattern })) {
    const fields = page.flatMap(([field, value]) => (isOwn(field, value) ? [field] : []));
    if (fields.length > 0) found += await redis.hdel(hash, ...fields);
  }
  return found;
}
