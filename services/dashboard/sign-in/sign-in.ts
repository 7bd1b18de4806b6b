import type { RequestHandler, Response } from 'express';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { z } from 'zod';
import { hasCode, MusterError } from '#shared/errors/index.ts';
import { networkOf, type SignIns } from '#shared/http/index.ts';
import type { Log } from '#shared/log/index.ts';
import type { Keys, RedisClient } from '#shared/redis/index.ts';
import { keyDigest, publicTenantId, type ApiKey, type TenantDirectory } from '#shared/tenants/index.ts';
import { html, sendPage, type Html } from '../pages/page.ts';

export interface SignInOptions {
  signIns: SignIns;
  limiter: SignInLimiter;
  tenants: TenantDirectory;
  /** Finds the key with this secret; null when there is none. */
  findKey: (secret: string) => Promise<ApiKey | null>;
  log: Log;
}

/** Unreadable fields count as no key and no path, so the person sees the form again. */
const formSchema = z.object({ key: z.string().trim().max(512).catch(''), next: z.string().optional().catch(undefined) });

/** `GET /sign-in`: the form. */
export function showSignIn(): RequestHandler {
  return (request, response) => {
    showForm(response, { next: nextPath(request.query['next']) });
  };
}

/** `POST /sign-in`: signs the browser in with a key and redirects to the page that the person wanted. */
export function signIn({ signIns, limiter, tenants, findKey, log }: SignInOptions): RequestHandler {
  return async (request, response) => {
    const form = formSchema.parse(request.body ?? {});
    const next = nextPath(form.next);
    try {
      // In parallel, because each waits for its timeout while Redis is away. A sign-in over the limit fails even with the right key.
      const [key] = await Promise.all([findKey(form.key), limiter.consume(request.ip, form.key)]);
      if (key === null) throw new MusterError('auth.invalid', 'This key is not known.');
      await limiter.refund(request.ip, form.key);
      if (tenants.get(key.tenant)?.disabled === true)
        throw new MusterError('tenant.disabled', `The tenant ${publicTenantId(key.tenant)} is disabled.`);
      await signIns.open(request, response, keyDigest(form.key));
      log.info({ event: 'sign-in.opened', tenant: key.tenant, keyId: key.id }, 'A person signed in');
      response.redirect(303, next);
    } catch (error) {
      refuse(response, error, next);
    }
  };
}

/** Shows the form again with the reason; unexpected errors go to the error page. */
function refuse(response: Response, error: unknown, next: string): void {
  if (!(error instanceof MusterError)) throw error;
  const status = hasCode(error, 'limit.rate') ? 429 : hasCode(error, 'tenant.disabled') ? 403 : 401;
  if (error.retryAfterMs !== undefined) response.set('Retry-After', String(Math.max(1, Math.ceil(error.retryAfterMs / 1000))));
  showForm(response, { next, problem: error.message }, status);
}

function showForm(response: Response, options: SignInPageOptions, status = 200): void {
  sendPage(response, { title: 'Sign in', person: null, content: signInPage(options) }, status);
}

interface SignInPageOptions {
  /** The path of this site to redirect to after the sign-in. */
  next: string;
  /** Why the last sign-in failed. */
  problem?: string;
}

/** The form for an API key. */
function signInPage({ next, problem }: SignInPageOptions): Html {
  return html`<section class="card narrow">
    <h1>Sign in</h1>
    <p class="faint">With an API key. The first one was printed when this installation started for the first time.</p>
    ${problem === undefined ? null : html`<p class="problem" role="alert">${problem}</p>`}
    <form method="post" action="/sign-in">
      <input type="hidden" name="next" value="${next}" />
      <label for="key">API key</label>
      <input
        id="key"
        name="key"
        type="password"
        required
        autofocus
        autocomplete="current-password"
        maxlength="512"
        placeholder="mk_…"
        spellcheck="false"
      />
      <button>Sign in</button>
    </form>
  </section>`;
}

/** Base for resolving paths; nothing is ever sent there. */
const NOWHERE = 'http://nowhere.invalid';

/** The path to redirect to after the sign-in. Everything but a path of this site becomes `/`, so that no link leads elsewhere. */
export function nextPath(wanted: unknown): string {
  if (typeof wanted !== 'string' || !wanted.startsWith('/')) return '/';
  const url = URL.parse(wanted, NOWHERE);
  if (url?.origin !== NOWHERE) return '/';
  // `/.//elsewhere` resolves to `//elsewhere`, which browsers read as a host.
  return url.pathname.startsWith('//') ? '/' : `${url.pathname}${url.search}`;
}

/** `GET /sign-out`: shows a confirmation, because a link alone must not sign anybody out. */
export function showSignOut(): RequestHandler {
  return (_request, response) => {
    const content = html`<section class="card narrow">
      <h1>Sign out</h1>
      <form method="post" action="/sign-out"><button>Sign out</button></form>
    </section>`;
    sendPage(response, { title: 'Sign out', person: null, content });
  };
}

/** `POST /sign-out`: ends the sign-in in the browser and in Redis. */
export function signOut(signIns: SignIns): RequestHandler {
  return async (request, response) => {
    await signIns.close(request, response);
    response.redirect(303, '/sign-in');
  };
}

interface SignInLimiterOptions {
  redis: RedisClient;
  keys: Keys;
  /** Failed sign-ins per minute, of one address and with one key. */
  perMinute: number;
}

const WINDOW_S = 60;

/** A counter's name, which does not reveal the key. */
function counterOf(key: string): string {
  return `key:${keyDigest(key)}`;
}

/** SignInLimiter is responsible for limiting failed sign-ins. While Redis is away, each process counts for itself. */
export class SignInLimiter {
  readonly #limiter: RateLimiterRedis;

  constructor({ redis, keys, perMinute }: SignInLimiterOptions) {
    const limit = { points: perMinute, duration: WINDOW_S };
    this.#limiter = new RateLimiterRedis({
      ...limit,
      storeClient: redis,
      keyPrefix: `${keys.fleet.http}:sign-in`,
      rejectIfRedisNotReady: true,
      insuranceLimiter: new RateLimiterMemory(limit),
    });
  }

  /** Counts a sign-in before its key is checked, so that parallel requests cannot exceed the limit. Errors: `limit.rate`. */
  async consume(address: string | undefined, key: string): Promise<void> {
    try {
      await this.#limiter.consume(networkOf(address));
      await this.#limiter.consume(counterOf(key));
    } catch (error) {
      if (!(error instanceof RateLimiterRes)) throw error;
      throw new MusterError('limit.rate', 'Too many tries from this address, or with this key. Wait a minute, then try again.', {
        retryAfterMs: error.msBeforeNext,
      });
    }
  }

  /** Uncounts a sign-in whose key was right. */
  async refund(address: string | undefined, key: string): Promise<void> {
    await Promise.all([this.#limiter.reward(networkOf(address)), this.#limiter.reward(counterOf(key))]);
  }
}
