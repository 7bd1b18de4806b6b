import { z } from 'zod';
import { readRecords } from '../../redis/index.ts';
import { writeOfTenant } from '../../tenants/index.ts';
import { toIso } from '../../time/index.ts';
import type { DeliveryStorage } from '../delivery-store.ts';
import type { DeliveryError } from '../delivery.ts';

const endpointSchema = z.strictObject({
  /** Without its query. */
  url: z.string(),
  failingSince: z.number(),
  lastFailureAt: z.number(),
  /** Calls that failed since. */
  failures: z.int(),
  error: z.string(),
  /** From when on it is not called any more; null while it is. */
  disabledAt: z.number().nullable(),
});

/** A callback endpoint that fails. An endpoint whose last call succeeded has no record. */
type CallbackEndpoint = z.infer<typeof endpointSchema>;

/** What an endpoint is known by: its address without the query, which may differ from call to call. */
function endpointOf(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}

function readEndpointRecord(text: string): CallbackEndpoint {
  return endpointSchema.parse(JSON.parse(text));
}

export async function readEndpoint({ redis, keys }: DeliveryStorage, tenant: string, url: string): Promise<CallbackEndpoint | null> {
  const stored = await redis.hget(keys.tenant(tenant).callbackEndpoints, endpointOf(url));
  // A record that cannot be read counts as an endpoint that did not fail.
  const { items } = readRecords(stored === null ? [] : [[url, stored]], readEndpointRecord);
  return items[0] ?? null;
}

/** Forgets the failures of an endpoint after a success, or to enable it. Returns whether it had failed. */
export async function forgetFailures({ redis, keys }: DeliveryStorage, tenant: string, url: string): Promise<boolean> {
  return (await redis.hdel(keys.tenant(tenant).callbackEndpoints, endpointOf(url))) === 1;
}

const DAY_MS = 86_400_000;

/**
 * Counts a failure, and disables an endpoint that failed for too long. Two failures at once may count as one. The count starts again after a
 * pause longer than any between two tries.
 */
export async function countFailure(
  storage: DeliveryStorage,
  tenant: string,
  url: string,
  { error, now }: { error: DeliveryError; now: number },
): Promise<void> {
  const { keys, settings } = storage;
  const { disableAfterMs, maxEndpoints, retryMs } = settings.deliveries.callbacks;
  const { callbackEndpoints } = keys.tenant(tenant);
  const known = await readEndpoint(storage, tenant, url);
  const goesOn = known !== null && (known.disabledAt !== null || now - known.lastFailureAt <= 2 * Math.max(DAY_MS, ...retryMs));
  const failingSince = goesOn ? known.failingSince : now;
  const isOver = now - failingSince >= disableAfterMs;
  const next: CallbackEndpoint = {
    url: endpointOf(url),
    failingSince,
    lastFailureAt: now,
    failures: (goesOn ? known.failures : 0) + 1,
    error: error.message,
    disabledAt: known?.disabledAt ?? (isOver ? now : null),
  };
  await writeOfTenant(storage, { tenant, key: callbackEndpoints, command: ['HSET', next.url, JSON.stringify(next)] });
  // Counted afterwards, so that callers at the same time cannot all take the last storage.
  if (known === null) await trimToMax(storage, tenant, maxEndpoints);
}

/** Forgets the endpoints that failed longest ago when there are too many. */
async function trimToMax(storage: DeliveryStorage, tenant: string, maxEndpoints: number): Promise<void> {
  const { redis, keys } = storage;
  const { callbackEndpoints } = keys.tenant(tenant);
  if ((await redis.hlen(callbackEndpoints)) <= maxEndpoints) return;
  const oldest = (await listEndpoints(storage, tenant)).slice(maxEndpoints);
  if (oldest.length > 0) await redis.hdel(callbackEndpoints, ...oldest.map(({ url }) => url));
}

/** Forgets endpoints that were not called for `endpointRetentionMs`, as of `now` (ms since the epoch). */
export async function trimEndpoints(storage: DeliveryStorage, tenant: string, now: number): Promise<void> {
  const before = now - storage.settings.deliveries.callbacks.endpointRetentionMs;
  const old = (await listEndpoints(storage, tenant)).filter(({ lastFailureAt }) => lastFailureAt < before);
  if (old.length > 0) await storage.redis.hdel(storage.keys.tenant(tenant).callbackEndpoints, ...old.map(({ url }) => url));
}

/** A tenant's failing endpoints, latest failure first; at most `settings.deliveries.callbacks.maxEndpoints`. */
export async function listEndpoints({ redis, keys }: DeliveryStorage, tenant: string): Promise<CallbackEndpoint[]> {
  const stored = await redis.hgetall(keys.tenant(tenant).callbackEndpoints);
  const { items } = readRecords(Object.entries(stored), readEndpointRecord);
  return items.toSorted((a, b) => b.lastFailureAt - a.lastFailureAt);
}

const instant = z.iso.datetime();

/** A failing endpoint as callers see it. */
export const endpointViewSchema = z
  .strictObject({
    ...endpointSchema.pick({ url: true, failures: true, error: true }).shape,
    failingSince: instant,
    lastFailureAt: instant,
    disabledAt: instant.nullable(),
  })
  .meta({ id: 'CallbackEndpoint' });

export function endpointView({ url, failures, error, ...times }: CallbackEndpoint): z.infer<typeof endpointViewSchema> {
  return {
    url,
    failures,
    error,
    failingSince: new Date(times.failingSince).toISOString(),
    lastFailureAt: new Date(times.lastFailureAt).toISOString(),
    disabledAt: toIso(times.disabledAt),
  };
}
