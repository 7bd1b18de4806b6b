import { DELIVERY_STATUSES } from './delivery.ts';
import type { DeliveryPlace } from './delivery-store.ts';

/** Names looked at in one round. */
const BATCH = 500;
const PREFIX = 'all/';

/**
 * Drops the names of deliveries whose record's time is over from a tenant's lookups: one round of at most 500, from `after` on.
 * Returns where the next round begins; null for the start, when all were looked at.
 */
export async function trimDeliveries({ redis, keys }: DeliveryPlace, tenant: string, after: string | null): Promise<string | null> {
  const own = keys.tenant(tenant);
  const low = after === null ? `[${PREFIX}` : `(${PREFIX}${after}`;
  const members = await redis.zrangebylex(own.deliveries, low, `(${PREFIX}\u00ff`, 'LIMIT', 0, BATCH);
  const ids = members.map((member) => member.slice(PREFIX.length));
  if (ids.length === 0) return null;
  const records = await redis.mget(...ids.map((id) => own.delivery(id)));
  const gone = ids.filter((_, position) => records[position] === null);
  if (gone.length > 0) await redis.zrem(own.deliveries, ...gone.flatMap(lookupsOf));
  return ids.length < BATCH ? null : (ids.at(-1) ?? null);
}

function lookupsOf(id: string): string[] {
  const kind = id.split('-').at(-1) ?? '';
  return [`${PREFIX}${id}`, `kind=${kind}/${id}`, ...DELIVERY_STATUSES.map((status) => `status=${status}/${id}`)];
}
