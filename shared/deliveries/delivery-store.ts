import { fileURLToPath } from 'node:url';
import type { Ledger } from '../ledger/index.ts';
import { loadScripts, readRecord, readRecords, type ReadRecords, runScript, type Script, scriptJson } from '../redis/index.ts';
import { tenantEnded, tenantStateInLua } from '../tenants/index.ts';
import { type Delivery, deliverySchema } from './delivery.ts';

/** A delivery, and its record as it was read: what may be replaced. */
export interface StoredDelivery {
  delivery: Delivery;
  stored: string;
}

/** Deliveries are kept beside the tasks. */
export type DeliveryStorage = Pick<Ledger, 'redis' | 'keys' | 'settings' | 'seal'>;

type ScriptName = 'put-delivery' | 'take-due';

let loaded: ReadonlyMap<string, Script> | undefined;

function script(name: ScriptName): Script {
  loaded ??= loadScripts(fileURLToPath(new URL('scripts', import.meta.url)), { 'tenant-state': tenantStateInLua() });
  const found = loaded.get(name);
  if (!found) throw new Error(`There is no script ${name}`);
  return found;
}

/** The deliveries of a tenant by their ids, in their order; null where there is none. Errors: `record.unreadable`. */
export async function readDeliveries(
  { redis, keys }: DeliveryStorage,
  tenant: string,
  ids: readonly string[],
): Promise<(StoredDelivery | null)[]> {
  if (ids.length === 0) return [];
  const texts = await redis.mget(...ids.map((id) => keys.tenant(tenant).delivery(id)));
  return texts.map((stored, position) =>
    stored === null ? null : { stored, delivery: readRecord(ids[position] ?? '', stored, parseDelivery) },
  );
}

/** The deliveries of these ids that exist, and the records that cannot be read. */
export async function readAllDeliveries(
  { redis, keys }: DeliveryStorage,
  tenant: string,
  ids: readonly string[],
): Promise<ReadRecords<Delivery>> {
  if (ids.length === 0) return { items: [], unreadable: [] };
  const texts = await redis.mget(...ids.map((id) => keys.tenant(tenant).delivery(id)));
  return readRecords(
    texts.flatMap((text, position) => (text === null ? [] : [[ids[position] ?? '', text] as const])),
    parseDelivery,
  );
}

function parseDelivery(text: string): Delivery {
  return deliverySchema.parse(JSON.parse(text));
}

export async function readDelivery(storage: DeliveryStorage, tenant: string, id: string): Promise<StoredDelivery | null> {
  const [found = null] = await readDeliveries(storage, tenant, [id]);
  return found;
}

/**
 * Writes a record if it is still what was read (null: if there is none). Returns null when another process changed it; nothing is
 * written then. While a delivery is pending its job is checked from time to time, from `settings.deliveries.auditMs` after
 * `nextTryAt` or `now` on. Errors: `tenant.ended`.
 */
export async function putDelivery(
  { redis, keys, settings }: DeliveryStorage,
  before: StoredDelivery | null,
  delivery: Delivery,
  now: number,
): Promise<StoredDelivery | null> {
  const { retentionMs, auditMs } = settings.deliveries;
  const own = keys.tenant(delivery.tenant);
  const { deliveriesDue, tenantStates } = keys.shard(keys.shardOf(delivery.tenant));
  const stored = scriptJson(delivery);
  const auditAt = delivery.status === 'pending' ? Math.max(delivery.nextTryAt ?? now, now) + auditMs : '';
  const written = await runScript(
    redis,
    script('put-delivery'),
    [own.delivery(delivery.id), own.deliveries, deliveriesDue, tenantStates],
    [before?.stored ?? '', stored, retentionMs, auditAt],
  );
  if (written === -1) throw tenantEnded(delivery.tenant);
  return written === 1 ? { delivery, stored } : null;
}

/** Deliveries of a shard whose jobs are to be checked now; each is checked again after `auditMs`. */
export async function takeDue(
  { redis, keys, settings }: DeliveryStorage,
  shard: number,
  now: number,
  limit: number,
): Promise<{ tenant: string; id: string }[]> {
  const reply = await runScript(
    redis,
    script('take-due'),
    [keys.shard(shard).deliveriesDue],
    [now, now + settings.deliveries.auditMs, limit],
  );
  const members = Array.isArray(reply) ? reply.map(String) : [];
  return members.map((member) => {
    const [tenant = '', id = ''] = member.split('/');
    return { tenant, id };
  });
}

/** Puts off the check of the job of a delivery that waits until `at` (ms since the epoch). */
export async function putOffDue({ redis, keys, settings }: DeliveryStorage, { tenant, id }: Delivery, at: number): Promise<void> {
  await redis.zadd(keys.shard(keys.shardOf(tenant)).deliveriesDue, 'XX', at + settings.deliveries.auditMs, `${tenant}/${id}`);
}

/** Stops checking the job of a delivery that ended or whose record is gone. */
export async function dropDue({ redis, keys }: DeliveryStorage, tenant: string, id: string): Promise<void> {
  await redis.zrem(keys.shard(keys.shardOf(tenant)).deliveriesDue, `${tenant}/${id}`);
}
