import { idAt } from '../ledger/index.ts';
import { DELIVERY_STATUSES } from './delivery.ts';
import type { DeliveryPlace } from './delivery-store.ts';

const PAGE = 500;
/** Names of one tenant looked at in one round. */
const ROUND_MOST = 20_000;
const PREFIX = 'all/';

/**
 * Drops the names of deliveries whose record's time is over from a tenant's lookups, as of `now` (ms since the epoch). Of a task that
 * was accepted less than that time ago none can be over.
 */
export async function trimDeliveries(place: DeliveryPlace, tenant: string, now: number): Promise<void> {
  const { redis, keys, settings } = place;
  const own = keys.tenant(tenant);
  const before = idAt(now - settings.deliveries.retentionMs);
  let after = '';
  for (let seen = 0; seen < ROUND_MOST; seen += PAGE) {
    const members = await redis.zrangebylex(own.deliveries, `(${PREFIX}${after}`, `(${PREFIX}${before}`, 'LIMIT', 0, PAGE);
    const ids = members.map((member) => member.slice(PREFIX.length));
    const last = ids.at(-1);
    if (last === undefined) return;
    const records = await redis.mget(...ids.map((id) => own.delivery(id)));
    const gone = ids.filter((_, position) => records[position] === null);
    if (gone.length > 0) await redis.zrem(own.deliveries, ...gone.flatMap(lookupsOf));
    after = last;
  }
}

function lookupsOf(id: string): string[] {
  const kind = id.split('-').at(-1) ?? '';
  return [`${PREFIX}${id}`, `kind=${kind}/${id}`, ...DELIVERY_STATUSES.map((status) => `status=${status}/${id}`)];
}
