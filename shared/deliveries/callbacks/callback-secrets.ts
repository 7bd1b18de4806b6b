import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { Webhook } from 'standardwebhooks';
import { z } from 'zod';
import { MusterError } from '../../errors/index.ts';
import { loadScripts, runScript, type Script } from '../../redis/index.ts';
import { openRecord, type RecordPlace, sealRecord, tenantEnded, tenantStateInLua } from '../../tenants/index.ts';
import { wait } from '../../time/index.ts';
import type { DeliveryStorage } from '../delivery-store.ts';

const formerSchema = z.strictObject({
  secret: z.string(),
  /** When another took its place, ms since the epoch. */
  replacedAt: z.number(),
});
type FormerSecret = z.infer<typeof formerSchema>;

const secretsSchema = z.strictObject({
  secret: z.string(),
  /** The secret before; null for none. */
  previous: z.string().nullable(),
  /** When `secret` was made, ms since the epoch. */
  createdAt: z.number(),
  /** Secrets before `previous` that still signed when it was replaced, oldest first. */
  earlier: z.array(formerSchema).optional(),
});

/** What signs a tenant's callbacks. */
export type CallbackSecrets = z.infer<typeof secretsSchema>;

const BYTES = 32;
/** Each signs every callback. */
const MAX_EARLIER = 5;
/** Of concurrent writers one succeeds each time. */
const TRIES = 50;
const MAX_PAUSE_MS = 50;

let loaded: ReadonlyMap<string, Script> | undefined;

/** A tenant's secrets, made on first use. Errors: `tenant.ended`, `seal.key-lost`. */
export async function readCallbackSecrets(storage: DeliveryStorage, tenant: string, now: number): Promise<CallbackSecrets> {
  return (await readOrMake(storage, tenant, now)).secrets;
}

/**
 * Makes a new secret. Each secret before signs too for `settings.deliveries.callbacks.secretOverlapMs` from when it was replaced, also when
 * the secret is changed again in that time: receivers know the oldest one. Errors: `tenant.ended`.
 */
export async function rotateCallbackSecret(storage: DeliveryStorage, tenant: string, now: number): Promise<CallbackSecrets> {
  const { secretOverlapMs } = storage.settings.deliveries.callbacks;
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const { text, secrets } = await readOrMake(storage, tenant, now);
    const next = replaceSecret(secrets, now, secretOverlapMs);
    if (await replace(storage, tenant, text, next)) return next;
    await wait(Math.random() * MAX_PAUSE_MS);
  }
  throw notKept();
}

function replaceSecret(secrets: CallbackSecrets, now: number, secretOverlapMs: number): CallbackSecrets {
  const former = formerOf(secrets).filter((each) => isOverlapping(each, now, secretOverlapMs));
  const { secret: previous } = secrets;
  // The oldest is what receivers know; of the others the newest may have been handed on.
  const earlier = former.filter((_, at) => at === 0 || at > former.length - MAX_EARLIER);
  return { secret: newSecret(), previous, createdAt: now, ...(earlier.length === 0 ? {} : { earlier }) };
}

/** Oldest first. */
function formerOf({ earlier = [], previous, createdAt }: CallbackSecrets): FormerSecret[] {
  return previous === null ? earlier : [...earlier, { secret: previous, replacedAt: createdAt }];
}

function isOverlapping({ replacedAt }: FormerSecret, now: number, secretOverlapMs: number): boolean {
  return now - replacedAt < secretOverlapMs;
}

interface StoredSecrets {
  readonly secrets: CallbackSecrets;
  /** The record as it was read: what may be replaced. */
  readonly text: string;
}

async function readOrMake(storage: DeliveryStorage, tenant: string, now: number): Promise<StoredSecrets> {
  const known = await readStored(storage, tenant);
  if (known !== null) return known;
  // Of two first callers at once one writes, and both read what it wrote.
  await replace(storage, tenant, '', { secret: newSecret(), previous: null, createdAt: now });
  const written = await readStored(storage, tenant);
  if (written === null) throw notKept();
  return written;
}

async function readStored({ redis, keys, seal }: DeliveryStorage, tenant: string): Promise<StoredSecrets | null> {
  const text = await redis.get(keys.tenant(tenant).callbackSecret);
  return text === null ? null : { text, secrets: secretsSchema.parse(openRecord(seal, placeOf(tenant), text)) };
}

/** Returns whether the record was still `seen`, and is `next` now. */
async function replace({ redis, keys, seal }: DeliveryStorage, tenant: string, seen: string, next: CallbackSecrets): Promise<boolean> {
  loaded ??= loadScripts(fileURLToPath(new URL('scripts', import.meta.url)), { 'tenant-state': tenantStateInLua() });
  const script = loaded.get('replace-secrets');
  if (!script) throw new Error('There is no script replace-secrets');
  const { tenantStates } = keys.shard(keys.shardOf(tenant));
  const text = sealRecord(seal, placeOf(tenant), next);
  const answer = await runScript(redis, script, [keys.tenant(tenant).callbackSecret, tenantStates], [tenant, seen, text]);
  if (answer === 'ended') throw tenantEnded(tenant);
  return answer === 'written';
}

function placeOf(tenant: string): RecordPlace {
  return { kind: 'callbacks', tenant, id: '' };
}

function notKept(): MusterError {
  return new MusterError('unavailable.redis', 'The secret that signs callbacks could not be kept');
}

interface CallbackToSign {
  /** The same for every try, so that a receiver recognizes a repeated call. */
  id: string;
  body: string;
  now: number;
  secretOverlapMs: number;
}

/** The headers of Standard Webhooks, with one signature per secret that is valid. */
export function signCallback(secrets: CallbackSecrets, { id, body, now, secretOverlapMs }: CallbackToSign): Record<string, string> {
  const former = formerOf(secrets).filter((each) => isOverlapping(each, now, secretOverlapMs));
  const valid = [secrets.secret, ...former.toReversed().map(({ secret }) => secret)];
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now / 1000)),
    'webhook-signature': valid.map((secret) => new Webhook(secret).sign(id, new Date(now), body)).join(' '),
  };
}

function newSecret(): string {
  return `whsec_${randomBytes(BYTES).toString('base64')}`;
}
