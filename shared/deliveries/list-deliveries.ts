import { type Delivery, type DeliveryKind, type DeliveryStatus } from './delivery.ts';
import type { UnreadableRecord } from '../redis/index.ts';
import { readAllDeliveries, type DeliveryPlace } from './delivery-store.ts';

export interface DeliveryFilter {
  status?: DeliveryStatus | undefined;
  kind?: DeliveryKind | undefined;
}

export interface DeliveryPage {
  items: Delivery[];
  /** Hand it in as `before` for the next page; null at the end. */
  next: string | null;
  /** Deliveries of the page that cannot be read. */
  unreadable: UnreadableRecord[];
}

/** Records one page may read in search of matches. */
const SCAN_MOST = 1000;
const BATCH = 100;

/**
 * Deliveries of a tenant, newest task first. A page may hold fewer than `limit` and still have a `next` when matches are rare.
 */
export async function listDeliveries(
  place: DeliveryPlace,
  tenant: string,
  filter: DeliveryFilter,
  { limit, before }: { limit: number; before?: string | undefined },
): Promise<DeliveryPage> {
  const lookup = lookupOf(filter);
  const items: Delivery[] = [];
  const unreadable: UnreadableRecord[] = [];
  let cursor = before ?? null;
  for (let scanned = 0; scanned < SCAN_MOST; scanned += BATCH) {
    const ids = await idsBefore(place, tenant, lookup, cursor);
    const found = await readAllDeliveries(place, tenant, ids);
    unreadable.push(...found.unreadable);
    const fitting = found.items.filter(({ kind, status }) => fits(filter.kind, kind) && fits(filter.status, status));
    const taken = fitting.slice(0, limit - items.length);
    items.push(...taken);
    if (taken.length < fitting.length) return { items, next: taken.at(-1)?.id ?? cursor, unreadable };
    if (ids.length < BATCH) return { items, next: null, unreadable };
    cursor = ids.at(-1) ?? null;
    if (items.length === limit) break;
  }
  return { items, next: cursor, unreadable };
}

function lookupOf({ status, kind }: DeliveryFilter): string {
  if (status !== undefined) return `status=${status}/`;
  return kind === undefined ? 'all/' : `kind=${kind}/`;
}

function fits(wanted: string | undefined, actual: string): boolean {
  return wanted === undefined || wanted === actual;
}

async function idsBefore({ redis, keys }: DeliveryPlace, tenant: string, lookup: string, cursor: string | null): Promise<string[]> {
  const high = cursor === null ? `(${lookup}\u00ff` : `(${lookup}${cursor}`;
  const members = await redis.zrevrangebylex(keys.tenant(tenant).deliveries, high, `[${lookup}`, 'LIMIT', 0, BATCH);
  return members.map((member) => member.slice(lookup.length));
}
