import { z } from 'zod';
import type { Ledger } from './ledger.ts';

const levelSchema = z.enum(['none', 'warning', 'critical']);
/** How many of a tenant's tasks have not ended, by `limits.backpressure`. */
export type PressureLevel = z.infer<typeof levelSchema>;

/** Tells the tenant's event stream when it has another level than at the last call, by whomever. Answers the level. */
export async function notePressure(ledger: Ledger, tenant: string): Promise<PressureLevel> {
  const { keys, settings } = ledger;
  const own = keys.tenant(tenant);
  const shard = keys.shard(keys.shardOf(tenant));
  const options = { tenant, channel: shard.signal, maxEvents: settings.events.maxPerTenant, ...settings.limits.backpressure };
  return levelSchema.parse(await ledger.run('note-pressure', [own.live, shard.pressure, own.events], [JSON.stringify(options)]));
}

/** Tenants of a shard that have a level. */
export async function listPressed({ redis, keys }: Ledger, shard: number): Promise<string[]> {
  return await redis.hkeys(keys.shard(shard).pressure);
}
