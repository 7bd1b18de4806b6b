import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { z } from 'zod';
import { MusterError } from '../../errors/index.ts';
import { writeOfTenant } from '../../tenants/index.ts';
import type { DeliveryStorage } from '../delivery-store.ts';

const secretsSchema = z.strictObject({
  secret: z.string(),
  /** The secret before; null for none. */
  previous: z.string().nullable(),
  /** When `secret` was made, ms since the epoch. */
  createdAt: z.number(),
});

/** What signs a tenant's callbacks. */
export type CallbackSecrets = z.infer<typeof secretsSchema>;

const BYTES = 32;

/** A tenant's secrets, made on first use. */
export async function readCallbackSecrets({ redis, keys }: DeliveryStorage, tenant: string, now: number): Promise<CallbackSecrets> {
  const key = keys.tenant(tenant).callbackSecret;
  const known = await redis.get(key);
  if (known !== null) return secretsSchema.parse(JSON.parse(known));
  // Of two first callers at once one writes, and both read what it wrote.
  const first: CallbackSecrets = { secret: newSecret(), previous: null, createdAt: now };
  await writeOfTenant({ redis, keys }, { tenant, key, command: ['SET', JSON.stringify(first), 'NX'] });
  const written = await redis.get(key);
  if (written === null) throw new MusterError('unavailable.redis', 'The secret that signs callbacks could not be kept');
  return secretsSchema.parse(JSON.parse(written));
}

/** Makes a new secret. The secret before signs too for `settings.deliveries.callbacks.secretOverlapMs`. */
export async function rotateCallbackSecret(storage: DeliveryStorage, tenant: string, now: number): Promise<CallbackSecrets> {
  const { secret: previous } = await readCallbackSecrets(storage, tenant, now);
  const next: CallbackSecrets = { secret: newSecret(), previous, createdAt: now };
  await writeOfTenant(storage, { tenant, key: storage.keys.tenant(tenant).callbackSecret, command: ['SET', JSON.stringify(next)] });
  return next;
}

export interface CallbackToSign {
  /** The same for every try, so that a receiver recognizes a repeated call. */
  id: string;
  body: string;
  now: number;
  secretOverlapMs: number;
}

/** The headers of Standard Webhooks, with one signature per secret that is valid. */
export function signCallback(secrets: CallbackSecrets, { id, body, now, secretOverlapMs }: CallbackToSign): Record<string, string> {
  const isOverlapping = secrets.previous !== null && now - secrets.createdAt < secretOverlapMs;
  const valid = [secrets.secret, ...(isOverlapping ? [secrets.previous ?? ''] : [])];
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now / 1000)),
    'webhook-signature': valid.map((secret) => new Webhook(secret).sign(id, new Date(now), body)).join(' '),
  };
}

function newSecret(): string {
  return `whsec_${randomBytes(BYTES).toString('base64')}`;
}
