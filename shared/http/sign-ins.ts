import type { Request, Response, CookieOptions } from 'express';
import { type ApiKey, SignInStore } from '../tenants/index.ts';
import type { HttpPorts } from './request-context.ts';
import { MusterError } from '../errors/index.ts';

/** SignIns is responsible for whose key a browser acts with, so that every service knows a person who signed in at one of them. */
export class SignIns {
  readonly #store: SignInStore;
  readonly #cookie: SignInCookie;

  constructor({ redis, keys, config }: HttpPorts) {
    const lifetimeMs = config.settings.http.signInMs;
    this.#store = new SignInStore({ redis, keys, lifetimeMs });
    this.#cookie = new SignInCookie({ publicUrl: config.env.MUSTER_PUBLIC_URL, lifetimeMs });
  }

  /** The key that the browser signed in with, as it is now; null when it did not, or no longer. */
  async find(request: Request): Promise<ApiKey | null> {
    const id = this.#cookie.read(request);
    return id === null ? null : await this.#store.find(id);
  }

  /** Signs the browser in with the key of this digest, which the caller has checked, instead of whatever it was signed in with. */
  async open(request: Request, response: Response, key: string): Promise<void> {
    const before = this.#cookie.read(request);
    if (before !== null) await this.#store.close(before);
    this.#cookie.write(response, await this.#store.open(key));
  }

  /** Signs the browser out, here and in Redis. */
  async close(request: Request, response: Response): Promise<void> {
    const id = this.#cookie.read(request);
    if (id !== null) await this.#store.close(id);
    this.#cookie.clear(response);
  }
}

const NAME = 'muster_session';
const VALUE = /^[\w-]{43}$/;

interface SignInCookieOptions {
  /** The public address, when the operator gave one. */
  publicUrl: string | undefined;
  /** How long the browser keeps it, in milliseconds. */
  lifetimeMs: number;
}

/** SignInCookie is responsible for how a sign-in's id travels, so that no script and no other site's form can use it. */
class SignInCookie {
  readonly #options: SignInCookieOptions;

  constructor(options: SignInCookieOptions) {
    this.#options = options;
  }

  read(request: Request): string | null {
    const wanted = `${this.#nameFor(request)}=`;
    const found = (request.get('cookie') ?? '').split(';').find((pair) => pair.trim().startsWith(wanted));
    const value = found?.trim().slice(wanted.length);
    return value !== undefined && VALUE.test(value) ? value : null;
  }

  write(response: Response, id: string): void {
    response.cookie(this.#nameFor(response.req), id, { ...this.#attributes(response.req), maxAge: this.#options.lifetimeMs });
  }

  clear(response: Response): void {
    response.clearCookie(this.#nameFor(response.req), this.#attributes(response.req));
  }

  /** `__Host-` makes browsers refuse a cookie from a neighbouring subdomain or a plain connection. */
  #nameFor(request: Request): string {
    return this.#isSecure(request) ? `__Host-${NAME}` : NAME;
  }

  /**
   * Lax, not Strict: a link from a chat message or a ticket has to find the person signed in. What a link can do is read;
   * everything that changes something also has to come from this site, see `assertSameOrigin`.
   */
  #attributes(request: Request): CookieOptions {
    return { httpOnly: true, sameSite: 'lax', path: '/', secure: this.#isSecure(request) };
  }

  #isSecure(request: Request): boolean {
    return request.secure || this.#options.publicUrl?.startsWith('https:') === true;
  }
}

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Refuses what another site makes a signed-in browser send: a cookie proves who the browser is, not who wrote the request.
 * Errors: `auth.csrf`.
 */
export function assertSameOrigin(request: Request): void {
  if (SAFE.has(request.method)) return;
  const site = request.get('sec-fetch-site');
  if (site !== undefined ? site === 'same-origin' : isOwnOrigin(request)) return;
  throw new MusterError('auth.csrf', 'A signed-in browser may send this from the pages of this installation only');
}

/** For browsers that do not say where a request comes from but in `Origin`. */
function isOwnOrigin(request: Request): boolean {
  const origin = request.get('origin');
  if (origin === undefined) return false;
  try {
    return new URL(origin).host === request.get('host');
  } catch {
    return false;
  }
}
