import { z } from 'zod';
import type { Ledger } from '../ledger.ts';

const levelSchema = z.enum(['none', 'warning', 'critical']);
/** How many of a tenant's tasks have not ended, by `limits.backpressure`. */
export type PressureLevel = z.infer<typeof levelSchema>;

/** Publishes an event to the tenant's stream when its level has changed since the last call of any process. Returns the level. */
export async function updatePressure(ledger: Ledger, tenant: string): Promise<PressureLevel> {
  const { keys, settings } = ledger;
  const own = keys.tenant(tenant);
  const shard = keys.shard(keys.shardOf(tenant));
  const options = { tenant, channel: shard.signal, maxEvents: settings.events.maxPerTenant, ...settings.limits.backpressure };
  return levelSchema.parse(await ledger.run('update-pressure', [own.live, shard.pressure, own.events], [JSON.stringify(options)]));
}

/** Tenants of a shard that have a level. */
export async function listPressed({ redis, keys }: Ledger, shard: number): Promise<string[]> {
  return await redis.hkeys(keys.shard(shard).pressure);
}

/** Tenants read with one round trip. */
const PAGE = 200;

/**
 * How many lookups each of these tenants has: of tasks that have not ended (`live`), or of all that are kept (`index`); those that have
 * none are left out. Reading a count costs next to nothing, so that a chore can pass over thousands of quiet tenants.
 */
export async function tenantsWithTasks(
  { redis, keys }: Ledger,
  tenants: readonly { id: string }[],
  lookups: 'live' | 'index',
): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  for (let from = 0; from < tenants.length; from += PAGE) {
    const page = tenants.slice(from, from + PAGE);
    const counts = await Promise.all(page.map(({ id }) => redis.zcard(keys.tenant(id)[lookups])));
    for (const [position, { id }] of page.entries()) {
      const count = counts[position] ?? 0;
      if (count > 0) found.set(id, count);
    }
  }
  return found;
}
