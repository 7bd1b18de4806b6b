import { idAt } from '../ledger/index.ts';
import type { UnreadableRecord } from '../redis/index.ts';
import { type DeliveryStorage, readAllDeliveries } from './delivery-store.ts';
import { type Delivery, DELIVERY_STATUSES, type DeliveryKind, type DeliveryStatus } from './delivery.ts';

interface DeliveryFilter {
  status?: DeliveryStatus | undefined;
  kind?: DeliveryKind | undefined;
}

interface DeliveryPage {
  items: Delivery[];
  /** Hand it in as `before` for the next page; null at the end. */
  next: string | null;
  /** Deliveries of the page that cannot be read. */
  unreadable: UnreadableRecord[];
}

/** Records one page may read in search of matches. */
const MAX_SCANNED = 1000;
const BATCH = 100;
/** Names of one tenant that one trim reads, in pages. */
const MAX_TRIMMED = 20_000;
const TRIM_PAGE = 500;
const PREFIX = 'all/';

/**
 * Deliveries of a tenant, newest task first. A page may hold fewer than `limit` and still have a `next` when matches are rare.
 */
export async function listDeliveries(
  storage: DeliveryStorage,
  tenant: string,
  filter: DeliveryFilter,
  { limit, before }: { limit: number; before?: string | undefined },
): Promise<DeliveryPage> {
  const lookup = lookupOf(filter);
  const items: Delivery[] = [];
  const unreadable: UnreadableRecord[] = [];
  let cursor = before ?? null;
  for (let scanned = 0; scanned < MAX_SCANNED; scanned += BATCH) {
    const ids = await idsBefore(storage, tenant, lookup, cursor);
    const found = await readAllDeliveries(storage, tenant, ids);
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

async function idsBefore({ redis, keys }: DeliveryStorage, tenant: string, lookup: string, cursor: string | null): Promise<string[]> {
  const high = cursor === null ? `(${lookup}\u00ff` : `(${lookup}${cursor}`;
  const members = await redis.zrevrangebylex(keys.tenant(tenant).deliveries, high, `[${lookup}`, 'LIMIT', 0, BATCH);
  return members.map((member) => member.slice(lookup.length));
}

/**
 * Drops the names of expired records from a tenant's lookups, as of `now` (ms since the epoch). No record of a task that was accepted
 * within the retention time can have expired.
 */
export async function trimDeliveries(storage: DeliveryStorage, tenant: string, now: number): Promise<void> {
  const { redis, keys, settings } = storage;
  const own = keys.tenant(tenant);
  const before = idAt(now - settings.deliveries.retentionMs);
  let after = '';
  for (let seen = 0; seen < MAX_TRIMMED; seen += TRIM_PAGE) {
    const members = await redis.zrangebylex(own.deliveries, `(${PREFIX}${after}`, `(${PREFIX}${before}`, 'LIMIT', 0, TRIM_PAGE);
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
