import { createHash, randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { Keys, RedisClient } from '../redis/index.ts';
import { type ApiKey, findKeyByDigest } from './key-store.ts';
import { findPersonKey, readSignInMark } from './person-store.ts';
import { openSealed, sealText } from './sealing/sealed-text.ts';

export interface SignInStoreOptions {
  redis: RedisClient;
  keys: Keys;
  /** How long a sign-in lasts, in milliseconds, whatever happens in it. */
  lifetimeMs: number;
}

/** What a browser is signed in with: the key of a digest, or a person of a provider, acting in a tenant. */
export type SignInSubject = { key: string } | PersonSubject;

interface PersonSubject {
  person: string;
  /** The session at the provider, by which that ends the sign-in; see `providerSession`. */
  session: string;
  tenant: string;
  idToken: string | null;
}

const ID_BYTES = 32;
const signInSchema = z.union([
  z.object({ key: z.string() }),
  z.object({
    person: z.string(),
    tenant: z.string(),
    /** Sign-ins of earlier releases have none. */
    session: z.string().optional(),
    /** Of the person's sign-ins; sign-ins of earlier releases have none. */
    mark: z.string().default(''),
    /** Under the id of the sign-in, which only the browser has. */
    sealedIdToken: z.string().nullable(),
  }),
]);
type StoredSignIn = z.infer<typeof signInSchema>;

/**
 * SignInStore is responsible for which browsers are signed in. Redis holds the digests of a sign-in's id and of its key, so neither can be
 * taken from there, and a sign-in ends with its key, when its person is
 * disabled or forgotten, or when all sign-ins of the person are ended.
 */
export class SignInStore {
  readonly #options: SignInStoreOptions;

  constructor(options: SignInStoreOptions) {
    this.#options = options;
  }

  /** Signs a browser in with what the caller has checked, and returns the id that its cookie carries. */
  async open(subject: SignInSubject): Promise<string> {
    const { redis, keys, lifetimeMs } = this.#options;
    const id = randomBytes(ID_BYTES).toString('base64url');
    const stored = 'key' in subject ? subject : sealSubject(subject, id, await readSignInMark({ redis, keys }, subject.person));
    const name = this.#nameOf(id);
    const opening = redis.multi().set(name, JSON.stringify(stored), 'PX', lifetimeMs);
    if ('session' in subject) {
      const session = keys.fleet.providerSession(subject.session);
      opening.sadd(session, name).pexpire(session, lifetimeMs);
    }
    await opening.exec();
    return id;
  }

  /** The key behind a sign-in, as it is now; null when the sign-in is over, or what it stands for. */
  async find(id: string): Promise<ApiKey | null> {
    const { redis, keys } = this.#options;
    const stored = await this.#read(id);
    if (stored === null) return null;
    if ('key' in stored) return await findKeyByDigest({ redis, keys }, stored.key);
    return await findPersonKey({ redis, keys }, stored);
  }

  /** Lets a person act in another tenant from now on; the sign-in ends when it would have. */
  async changeTenant(id: string, tenant: string): Promise<void> {
    const stored = await this.#read(id);
    if (stored === null || 'key' in stored) return;
    await this.#options.redis.set(this.#nameOf(id), JSON.stringify({ ...stored, tenant }), 'KEEPTTL', 'XX');
  }

  /** Ends a sign-in. Returns the token that its provider gave for it; null without one. */
  async close(id: string): Promise<string | null> {
    const { redis, keys } = this.#options;
    const name = this.#nameOf(id);
    const stored = readStored(await redis.getdel(name));
    if (stored === null || 'key' in stored) return null;
    if (stored.session !== undefined) await redis.srem(keys.fleet.providerSession(stored.session), name);
    return stored.sealedIdToken === null ? null : openSealed(stored.sealedIdToken, keyOf(id));
  }

  /** Ends all sign-ins of a session at the provider. Returns whose they were, and the tenants in which these people acted. */
  async closeSession(session: string): Promise<Pick<PersonSubject, 'person' | 'tenant'>[]> {
    const { redis, keys } = this.#options;
    const name = keys.fleet.providerSession(session);
    const names = await redis.smembers(name);
    const ended = (await Promise.all(names.map((each) => redis.getdel(each)))).map(readStored);
    if (names.length > 0) await redis.srem(name, ...names);
    return ended.flatMap((each) => (each === null || 'key' in each ? [] : [{ person: each.person, tenant: each.tenant }]));
  }

  async #read(id: string): Promise<StoredSignIn | null> {
    return readStored(await this.#options.redis.get(this.#nameOf(id)));
  }

  #nameOf(id: string): string {
    return this.#options.keys.fleet.signIn(createHash('sha256').update(id).digest('hex'));
  }
}

function readStored(text: string | null): StoredSignIn | null {
  return text === null ? null : signInSchema.parse(JSON.parse(text));
}

function sealSubject({ person, tenant, session, idToken }: PersonSubject, id: string, mark: string): StoredSignIn {
  return { person, tenant, session, mark, sealedIdToken: idToken === null ? null : sealText(idToken, keyOf(id)) };
}

/** The key of an id, which is random itself. */
function keyOf(id: string): Buffer {
  return createHash('sha256').update(`sealed-text\n${id}`).digest();
}

interface SessionClaims {
  issuer: string;
  /** The provider's name of the session. */
  sid?: string | undefined;
  /** The person's, for providers whose tokens name no session. */
  subject?: string | undefined;
}

/** The same digest for sign-ins by the same session at a provider; without `sid` by all unnamed sessions of a person. */
export function providerSession({ issuer, sid, subject }: SessionClaims): string {
  const text = JSON.stringify(sid === undefined ? [issuer, 'sub', subject] : [issuer, 'sid', sid]);
  return createHash('sha256').update(text).digest('hex');
}
