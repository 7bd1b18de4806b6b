import { createHash, randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { RedisClient } from '#shared/redis/connect-redis.ts';
import type { Keys } from '#shared/redis/keys.ts';
import { apiKeySchema, keyDigest, type ApiKey } from '#shared/tenants/api-key.ts';

export interface SessionStoreOptions {
  redis: RedisClient;
  keys: Keys;
  /** How long a sign-in lasts, in milliseconds, whatever happens in it. */
  lifetimeMs: number;
}

const ID_BYTES = 32;
const sessionSchema = z.object({ key: z.string() });

/**
 * SessionStore is responsible for who is signed in. Redis holds the digest of a session's id and the digest of the key that
 * opened it, so that neither can be taken from there, and a session ends with its key.
 */
export class SessionStore {
  readonly #options: SessionStoreOptions;

  constructor(options: SessionStoreOptions) {
    this.#options = options;
  }

  /** Opens a session for the key with this secret, which the caller has checked, and returns the session's id. */
  async open(secret: string): Promise<string> {
    const { redis, lifetimeMs } = this.#options;
    const id = randomBytes(ID_BYTES).toString('base64url');
    await redis.set(this.#nameOf(id), JSON.stringify({ key: keyDigest(secret) }), 'PX', lifetimeMs);
    return id;
  }

  /** The key behind a session, as it is now; null when the session is over or its key is revoked. */
  async find(id: string): Promise<ApiKey | null> {
    const { redis, keys } = this.#options;
    const stored = await redis.get(this.#nameOf(id));
    if (stored === null) return null;
    const key = await redis.hget(keys.fleet.apiKeys, sessionSchema.parse(JSON.parse(stored)).key);
    return key === null ? null : apiKeySchema.parse(JSON.parse(key));
  }

  async close(id: string): Promise<void> {
    await this.#options.redis.del(this.#nameOf(id));
  }

  #nameOf(id: string): string {
    return `${this.#options.keys.fleet.http}:session:${createHash('sha256').update(id).digest('hex')}`;
  }
}
