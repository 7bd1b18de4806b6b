import type { RedisClient } from '../redis/connect-redis.ts';
import type { Keys } from '../redis/keys.ts';
import { apiKeySchema, keyDigest, newKeyId, newKeySecret, type ApiKey } from './api-key.ts';
import type { Scope } from './scopes.ts';

interface KeyStoreParts {
  redis: RedisClient;
  keys: Keys;
}

export interface NewKey {
  tenant: string;
  name: string;
  scopes: Scope[];
  /** A secret chosen by the operator; by default a random one. */
  secret?: string;
}

/** Makes a key and returns its secret, which cannot be read again. The same chosen secret replaces its key. */
export async function createKey(
  { redis, keys }: KeyStoreParts,
  { secret = newKeySecret(), ...key }: NewKey,
): Promise<ApiKey & { secret: string }> {
  const stored: ApiKey = { id: newKeyId(), ...key, createdAt: Date.now() };
  await redis.hset(keys.fleet.apiKeys, keyDigest(secret), JSON.stringify(stored));
  return { ...stored, secret };
}

/** The key with this secret, or null. */
export async function findKey({ redis, keys }: KeyStoreParts, secret: string): Promise<ApiKey | null> {
  const stored = await redis.hget(keys.fleet.apiKeys, keyDigest(secret));
  return stored === null ? null : apiKeySchema.parse(JSON.parse(stored));
}

/** The keys of a tenant, oldest first. */
export async function listKeys(parts: KeyStoreParts, tenant: string): Promise<ApiKey[]> {
  const own = await keysOf(parts, tenant);
  return [...own.values()].toSorted((a, b) => a.createdAt - b.createdAt);
}

/** Revokes a tenant's key by its id. Returns whether there was one. */
export async function revokeKey(parts: KeyStoreParts, tenant: string, id: string): Promise<boolean> {
  const found = [...(await keysOf(parts, tenant))].find(([, key]) => key.id === id);
  return found !== undefined && (await parts.redis.hdel(parts.keys.fleet.apiKeys, found[0])) === 1;
}

/** Keys read at once. */
const PAGE = 500;

/** A tenant's keys by digest. All tenants' are in one hash, which may be large, and is read in pages so that nobody waits for it. */
async function keysOf({ redis, keys }: KeyStoreParts, tenant: string): Promise<Map<string, ApiKey>> {
  const found = new Map<string, ApiKey>();
  let cursor = '0';
  do {
    const [next, flat] = await redis.hscan(keys.fleet.apiKeys, cursor, 'COUNT', PAGE);
    cursor = next;
    for (let position = 0; position + 1 < flat.length; position += 2) {
      const key = apiKeySchema.parse(JSON.parse(flat[position + 1] ?? ''));
      if (key.tenant === tenant) found.set(flat[position] ?? '', key);
    }
  } while (cursor !== '0');
  return found;
}
