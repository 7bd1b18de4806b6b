import { createHash } from 'node:crypto';
import type { Keys, RedisClient } from '#shared/redis/index.ts';
import { writeOfTenant } from '#shared/tenants/index.ts';
import type { Hook } from './hook.ts';
import { PROVIDERS } from './providers/registry.ts';

interface FirstDeliveryParts {
  readonly redis: RedisClient;
  readonly keys: Keys;
  /** How long deliveries are remembered, ms. */
  readonly idempotencyMs: number;
}

/**
 * The id of the delivery that first brought this body to the hook, which is this one's unless the body came before. Equal bodies under
 * different ids are one event, except for hooks that say `equalBodies: 'each'` and providers that sign the id or have no signature.
 */
export async function firstDelivery(
  { redis, keys, idempotencyMs }: FirstDeliveryParts,
  { id, tenant, provider, options }: Hook,
  { rawBody, delivery }: { rawBody: Buffer; delivery: string },
): Promise<string> {
  const isEachAnEvent = options !== null && 'equalBodies' in options && options.equalBodies === 'each';
  if (!PROVIDERS[provider].signsBodyOnly || isEachAnEvent) return delivery;
  const key = keys.tenant(tenant).hookBody(id, createHash('sha256').update(rawBody).digest('base64url'));
  const command = ['SET', delivery, 'NX', 'PX', idempotencyMs] as const;
  if ((await writeOfTenant({ redis, keys }, { tenant, key, command })) !== null) return delivery;
  // Forgotten between the two calls, it is as new as one that came a moment later.
  return (await redis.get(key)) ?? delivery;
}
