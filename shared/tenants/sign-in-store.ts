import { createHash, randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { Keys, RedisClient } from '../redis/index.ts';
import { type ApiKey, findKeyByDigest } from './key-store.ts';

export interface SignInStoreOptions {
  redis: RedisClient;
  keys: Keys;
  /** How long a sign-in lasts, in milliseconds, whatever happens in it. */
  lifetimeMs: number;
}

const ID_BYTES = 32;
const signInSchema = z.object({ key: z.string() });

/**
 * SignInStore is responsible for which browsers are signed in. Redis holds the digests of a sign-in's id and of its key, so neither can be
 * taken from there, and a sign-in ends with its key.
 */
export class SignInStore {
  readonly #options: SignInStoreOptions;

  constructor(options: SignInStoreOptions) {
    this.#options = options;
  }

  /** Signs a browser in with the key of this digest, which the caller has checked, and returns the id that its cookie carries. */
  async open(key: string): Promise<string> {
    const { redis, lifetimeMs } = this.#options;
    const id = randomBytes(ID_BYTES).toString('base64url');
    await redis.set(this.#nameOf(id), JSON.stringify({ key }), 'PX', lifetimeMs);
    return id;
  }

  /** The key behind a sign-in, as it is now; null when the sign-in is over or its key is revoked. */
  async find(id: string): Promise<ApiKey | null> {
    const { redis, keys } = this.#options;
    const stored = await redis.get(this.#nameOf(id));
    if (stored === null) return null;
    return await findKeyByDigest({ redis, keys }, signInSchema.parse(JSON.parse(stored)).key);
  }

  async close(id: string): Promise<void> {
    await this.#options.redis.del(this.#nameOf(id));
  }

  #nameOf(id: string): string {
    return this.#options.keys.fleet.signIn(createHash('sha256').update(id).digest('hex'));
  }
}
