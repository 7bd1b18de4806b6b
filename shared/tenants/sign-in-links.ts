import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { Keys, RedisClient } from '../redis/index.ts';
import { keyDigest } from './key-store.ts';

interface SignInLinkOptions {
  redis: RedisClient;
  keys: Keys;
  /** How long a link may be used, in milliseconds. */
  lifetimeMs: number;
}

interface NewSignInLink {
  /** The secret of the key that the browser will be signed in with; the caller has checked it. */
  secret: string;
  /** Whether only a browser on the server's own machine may use it. */
  isLocal: boolean;
}

export interface SignInLink {
  /** The digest of the key that the browser will be signed in with. */
  readonly key: string;
  readonly isLocal: boolean;
}

const TOKEN_BYTES = 32;
const linkSchema = z.object({ key: z.string(), isLocal: z.boolean() });

/** SignInLinks is responsible for links that sign a browser in once. Redis holds the digests of a link's token and of its key. */
export class SignInLinks {
  readonly #options: SignInLinkOptions;

  constructor(options: SignInLinkOptions) {
    this.#options = options;
  }

  /** Makes a link. Its token cannot be read again. */
  async create({ secret, isLocal }: NewSignInLink): Promise<{ token: string; expiresAt: number }> {
    const { redis, lifetimeMs } = this.#options;
    const token = `ml_${randomBytes(TOKEN_BYTES).toString('base64url')}`;
    const link: SignInLink = { key: keyDigest(secret), isLocal };
    await redis.set(this.#nameOf(token), JSON.stringify(link), 'PX', lifetimeMs);
    return { token, expiresAt: Date.now() + lifetimeMs };
  }

  /** Reads a link without using it; null when there is none, or it was used, or its time is over. */
  async find(token: string): Promise<SignInLink | null> {
    const stored = await this.#options.redis.get(this.#nameOf(token));
    return stored === null ? null : linkSchema.parse(JSON.parse(stored));
  }

  /** Uses a link up: of several callers one gets it. */
  async redeem(token: string): Promise<SignInLink | null> {
    const stored = await this.#options.redis.getdel(this.#nameOf(token));
    return stored === null ? null : linkSchema.parse(JSON.parse(stored));
  }

  #nameOf(token: string): string {
    return this.#options.keys.fleet.signInLink(keyDigest(token));
  }
}

/** The page that uses a link up, on the site of the fleet. */
export function signInLinkPath(token: string): string {
  return `/sign-in/link?token=${token}`;
}
