import type { Request, Response, CookieOptions } from 'express';
import { type ApiKey, SignInStore, type SignInSubject } from '../tenants/index.ts';
import type { HttpPorts } from './request-context.ts';
import { MusterError } from '../errors/index.ts';
import { isLoopback } from './rate-limits.ts';
import type { Call } from './route.ts';

/** SignIns is responsible for whose key a browser acts with, so that every service knows a person who signed in at one of them. */
export class SignIns {
  readonly #store: SignInStore;
  readonly #cookie: HostCookie;

  constructor({ redis, keys, config }: HttpPorts) {
    const lifetimeMs = config.settings.http.signInMs;
    this.#store = new SignInStore({ redis, keys, lifetimeMs });
    this.#cookie = new HostCookie({ name: NAME, pattern: VALUE, publicUrl: config.env.MUSTER_PUBLIC_URL, lifetimeMs });
  }

  /** The key that the browser signed in with, as it is now; null when it did not, or no longer. */
  async find(request: Request): Promise<ApiKey | null> {
    const id = this.#cookie.read(request);
    return id === null ? null : await this.#store.find(id);
  }

  /** Signs the browser in with what the caller has checked, instead of whatever it was signed in with. */
  async open(request: Request, response: Response, subject: SignInSubject): Promise<void> {
    const before = this.#cookie.read(request);
    if (before !== null) await this.#store.close(before);
    this.#cookie.write(response, await this.#store.open(subject));
  }

  /** Lets a person of a provider act in another tenant from now on. */
  async changeTenant(request: Request, tenant: string): Promise<void> {
    const id = this.#cookie.read(request);
    if (id !== null) await this.#store.changeTenant(id, tenant);
  }

  /** Signs the browser out, here and in Redis. Returns the token that a provider gave for the sign-in; null without one. */
  async close(request: Request, response: Response): Promise<string | null> {
    const id = this.#cookie.read(request);
    const idToken = id === null ? null : await this.#store.close(id);
    this.#cookie.clear(response);
    return idToken;
  }

  /** Signs out all browsers of a session at the provider. Returns whose they were, and the tenants in which these people acted. */
  async closeSession(session: string): Promise<{ person: string; tenant: string }[]> {
    return await this.#store.closeSession(session);
  }
}

const NAME = 'muster_session';
const VALUE = /^[\w-]{43}$/;

interface HostCookieOptions {
  name: string;
  /** What a value looks like. */
  pattern: RegExp;
  /** The public address, when the operator gave one. */
  publicUrl: string | undefined;
  /** How long the browser keeps it, in milliseconds. */
  lifetimeMs: number;
}

/** HostCookie is responsible for how a value travels with a browser, so that no script and no other site's form can use it. */
export class HostCookie {
  readonly #options: HostCookieOptions;

  constructor(options: HostCookieOptions) {
    this.#options = options;
  }

  read(request: Request): string | null {
    const wanted = `${this.#nameFor(request)}=`;
    const found = (request.get('cookie') ?? '').split(';').find((pair) => pair.trim().startsWith(wanted));
    const value = found?.trim().slice(wanted.length);
    return value !== undefined && this.#options.pattern.test(value) ? value : null;
  }

  write(response: Response, value: string): void {
    response.cookie(this.#nameFor(response.req), value, { ...this.#attributes(response.req), maxAge: this.#options.lifetimeMs });
  }

  clear(response: Response): void {
    response.clearCookie(this.#nameFor(response.req), this.#attributes(response.req));
  }

  /** `__Host-` makes browsers refuse a cookie from a neighbouring subdomain or a plain connection. */
  #nameFor(request: Request): string {
    const { name } = this.#options;
    return this.#isSecure(request) ? `__Host-${name}` : name;
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
  const host = hostOf(request.get('origin'));
  return host !== null && host === request.get('host');
}

/** Null for no origin, and for what is none. */
function hostOf(origin: string | undefined): string | null {
  return origin !== undefined && URL.canParse(origin) ? new URL(origin).host : null;
}

/**
 * For what takes a key only: refuses what a page of another site makes a browser send, also of one whose name leads to this machine (DNS rebinding). A
 * program sends no `Origin`. Errors: `auth.csrf`.
 */
export function assertOwnOrigin({ headers, address }: Pick<Call, 'headers' | 'address'>, publicUrl: string | undefined): void {
  if (headers.origin === undefined) return;
  const host = hostOf(headers.origin);
  if (host !== null && (host === hostOf(publicUrl) || (host === headers.host && (!isLoopback(address) || LOCAL.test(host))))) return;
  throw new MusterError('auth.csrf', 'A browser may send this from the pages of this installation only');
}

const LOCAL = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i;
