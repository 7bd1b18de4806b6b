import { createHash, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { tenantIdSchema } from './tenant.ts';
import { type Keys, readRecord, readRecords, type ReadRecords, type RedisClient, scanHash } from '../redis/index.ts';
import { runTenantScript, writeOfFleet } from './write-of-tenant.ts';

const KEY_BYTES = 32;
const ID_BYTES = 6;

/**
 * What a key may do. Each scope includes those after it, but for `submit`, which does not include `answer`: who sends work does not decide about it.
 *
 * - `admin`: tenants and keys
 * - `operate`: steer: queues, agents, hooks, retry and remove on the board
 * - `submit`: make and stop tasks
 * - `answer`: answer questions of runs
 * - `read`: read
 * - `scaling`: read how many workers there should be, and nothing else
 * - `visit`: talk in the one session that the key is for; no other scope's routes
 */
export const SCOPES = ['admin', 'operate', 'journal', 'submit', 'answer', 'read', 'scaling', 'visit'] as const;
export type Scope = (typeof SCOPES)[number];

/** A key as it is stored: under the digest of its secret, which itself is nowhere. */
export const apiKeySchema = z.object({
  /** Names the key where it is listed and revoked; says nothing about the secret. */
  id: z.string(),
  tenant: tenantIdSchema,
  name: z.string().max(200),
  scopes: z.array(z.enum(SCOPES)).min(1),
  createdAt: z.number().int(),
  /** A visitor's key is for this session and for nothing else. */
  session: z.string().optional(),
  /** When it opens nothing any more, ms since the epoch; absent for never. */
  expiresAt: z.number().int().optional(),
});

/** What a person of a provider has besides; no stored key has it. */
interface PersonOfKey {
  readonly email: string | null;
  /** What the person may do now, by tenant. */
  readonly roles: readonly { readonly tenant: string; readonly scopes: Scope[] }[];
}

/** Who acts: an API key, a visitor's, or a person of a provider in one of the person's tenants. */
export type ApiKey = z.infer<typeof apiKeySchema> & { readonly person?: PersonOfKey };

/** A new secret: 32 random bytes. */
function newKeySecret(): string {
  return `mk_${randomBytes(KEY_BYTES).toString('base64url')}`;
}

export function newKeyId(): string {
  return `key_${randomBytes(ID_BYTES).toString('hex')}`;
}

/**
 * The digest a key is looked up by. A look-up by digest shows nothing of the secret by its time: callers cannot choose where two SHA-256
 * digests differ. No salt, because 32 random bytes need none.
 */
export function keyDigest(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/** Those after a scope that it does not include. */
const LEFT_OUT: Partial<Record<Scope, readonly Scope[]>> = {
  journal: ['submit', 'answer'],
  submit: ['answer'],
  scaling: ['visit'],
};

/** Whether a key with these scopes may do what asks for `wanted`. */
export function hasScope(scopes: readonly Scope[], wanted: Scope): boolean {
  return scopes.some((scope) => SCOPES.indexOf(scope) <= SCOPES.indexOf(wanted) && !LEFT_OUT[scope]?.includes(wanted));
}

interface KeyStorePorts {
  redis: RedisClient;
  keys: Keys;
}

interface NewKey {
  tenant: string;
  name: string;
  scopes: Scope[];
  /** A secret chosen by the operator; by default a random one. */
  secret?: string;
}

/** Makes a key and returns its secret, which cannot be read again. The same chosen secret replaces its key. Errors: `tenant.ended`. */
export async function createKey(
  { redis, keys }: KeyStorePorts,
  { secret = newKeySecret(), ...key }: NewKey,
): Promise<ApiKey & { secret: string }> {
  const stored: ApiKey = { id: newKeyId(), ...key, createdAt: Date.now() };
  const command = ['HSET', keyDigest(secret), JSON.stringify(stored)] as const;
  await writeOfFleet({ redis, keys }, { tenant: key.tenant, key: keys.fleet.apiKeys, command });
  return { ...stored, secret };
}

/** The key with this secret; null when there is none, or its tenant has ended. */
export async function findKey(parts: KeyStorePorts, secret: string): Promise<ApiKey | null> {
  return await findKeyByDigest(parts, keyDigest(secret));
}

/** The same by the digest of its secret. */
export async function findKeyByDigest({ redis, keys }: KeyStorePorts, digest: string): Promise<ApiKey | null> {
  const places = [keys.fleet.apiKeys, keys.shard(0).tenantStates];
  const stored = await runTenantScript<string | null>(redis, 'find-key', places, [digest]);
  return stored === null ? null : readRecord('of an API key', stored, readKey);
}

/** The keys of a tenant, oldest first. */
export async function listKeys(parts: KeyStorePorts, tenant: string): Promise<ApiKey[]> {
  return (await listKeyRecords(parts, tenant)).items;
}

/** The same with the tenant's unreadable keys. */
export async function listKeyRecords(parts: KeyStorePorts, tenant: string): Promise<ReadRecords<ApiKey>> {
  const own = [...(await keysOf(parts, tenant)).values()];
  const found = readRecords(
    own.map(({ id, text }) => [id, text] as const),
    readKey,
  );
  return { ...found, items: found.items.toSorted((a, b) => a.createdAt - b.createdAt) };
}

/** Revokes a tenant's key by its id, also an unreadable one. Returns whether there was one. */
export async function revokeKey(parts: KeyStorePorts, tenant: string, id: string): Promise<boolean> {
  const found = [...(await keysOf(parts, tenant))].find(([, key]) => key.id === id);
  return found !== undefined && (await parts.redis.hdel(parts.keys.fleet.apiKeys, found[0])) === 1;
}

/** Removes all keys of a tenant. */
export async function removeKeysOf(parts: KeyStorePorts, tenant: string): Promise<void> {
  const digests = [...(await keysOf(parts, tenant)).keys()];
  for (let from = 0; from < digests.length; from += PAGE) {
    await parts.redis.hdel(parts.keys.fleet.apiKeys, ...digests.slice(from, from + PAGE));
  }
}

/** Keys read at once. */
const PAGE = 500;

interface StoredKey {
  id: string;
  text: string;
}

/** A tenant's keys by digest. The keys of all tenants are in one hash, which may be large and is read in pages. */
async function keysOf({ redis, keys }: KeyStorePorts, tenant: string): Promise<Map<string, StoredKey>> {
  const found = new Map<string, StoredKey>();
  for await (const page of scanHash(redis, keys.fleet.apiKeys)) {
    for (const [digest, text] of page) {
      const owned = ownerOf(text);
      if (owned?.tenant === tenant) found.set(digest, { id: owned.id, text });
    }
  }
  return found;
}

/** What is needed to know whose a key is; null where not even that can be read. */
const ownerSchema = z.object({ id: z.string(), tenant: z.string() });

function ownerOf(text: string): z.infer<typeof ownerSchema> | null {
  return readRecords([['', text]], () => ownerSchema.parse(JSON.parse(text))).items[0] ?? null;
}

export function readKey(text: string): ApiKey {
  return apiKeySchema.parse(JSON.parse(text));
}
