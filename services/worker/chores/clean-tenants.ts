import type { Settings } from '#shared/config/index.ts';
import type { Log } from '#shared/log/index.ts';
import type { Keys, RedisClient } from '#shared/redis/index.ts';
import { cleanTenant, generationOf, publicTenantId } from '#shared/tenants/index.ts';
import { systemClock, type Clock } from '#shared/time/index.ts';

/** Ended tenants cleaned in one round. */
const MAX_PER_ROUND = 50;
/** End marks removed in one round. */
const MAX_REMOVED = 500;

interface CleanPorts {
  redis: RedisClient;
  keys: Keys;
  tenants: { repairStates(): Promise<void> };
  files: { removeTenant(tenant: string): Promise<void> };
  archive: { removeTenant(tenant: string): Promise<void> } | undefined;
  config: { settings: Pick<Settings, 'tenants' | 'signIn'> };
  log: Log;
}

/**
 * Removes the data of ended tenants until nothing is left, even if the process that ended one died meanwhile. The mark of an end is
 * removed after `tenants.endedRetentionMs`, and not before people are forgotten whose roles name the tenant: with its mark it loses the
 * generation, by which a new tenant of its name has another id.
 */
export async function cleanTenants(parts: CleanPorts, clock: Clock = systemClock): Promise<void> {
  const { redis, keys, tenants } = parts;
  await tenants.repairStates();
  const due = await redis.zrangebyscore(keys.fleet.tenantsToClean, '-inf', clock.now(), 'LIMIT', 0, MAX_PER_ROUND);
  for (const tenant of due) await cleanSafely(parts, tenant, clock.now());
  await removeEndMarks(parts, clock.now());
}

/** One bad tenant must not keep the others from being cleaned. */
async function cleanSafely(parts: CleanPorts, tenant: string, now: number): Promise<void> {
  const { redis, keys, log } = parts;
  const { settleMs } = parts.config.settings.tenants;
  try {
    const isClean = await cleanTenant(parts, tenant);
    const endedAt = Number((await redis.zscore(keys.fleet.endedTenants, tenant)) ?? 0);
    if (isClean && now - endedAt >= settleMs) {
      // Last, when nothing can store a file for it any more.
      await parts.files.removeTenant(tenant);
      await parts.archive?.removeTenant(tenant);
      await redis.zrem(keys.fleet.tenantsToClean, tenant);
      log.info({ event: 'tenant.cleaned', tenant }, 'nothing of a deleted tenant is left');
      return;
    }
    // Once more at the end of that time, and soon where something was still coming.
    await redis.zadd(keys.fleet.tenantsToClean, 'XX', isClean ? endedAt + settleMs : now, tenant);
  } catch (error) {
    log.warn({ err: error, tenant }, 'the data of a deleted tenant could not be removed; trying again');
  }
}

/** A tenant that is still to be cleaned keeps its mark, however old. */
async function removeEndMarks({ redis, keys, config }: CleanPorts, now: number): Promise<void> {
  const { endedTenants, tenantsToClean, tenantGenerations } = keys.fleet;
  const { tenants, signIn } = config.settings;
  const hasPeople = (await redis.exists(keys.fleet.people)) === 1;
  const before = now - Math.max(tenants.endedRetentionMs, hasPeople ? signIn.peopleRetentionMs : 0);
  for (const tenant of await redis.zrangebyscore(endedTenants, '-inf', before, 'LIMIT', 0, MAX_REMOVED)) {
    if ((await redis.zscore(tenantsToClean, tenant)) !== null) continue;
    const name = publicTenantId(tenant);
    if (Number(await redis.hget(tenantGenerations, name)) === generationOf(tenant)) await redis.hdel(tenantGenerations, name);
    for (const shard of new Set([0, keys.shardOf(tenant)])) await redis.hdel(keys.shard(shard).tenantStates, tenant);
    await redis.zrem(endedTenants, tenant);
  }
}
