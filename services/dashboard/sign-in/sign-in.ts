import type { Request, RequestHandler, Response } from 'express';
import { z } from 'zod';
import { type ErrorCode, MusterError } from '#shared/errors/index.ts';
import { actorOf } from '#shared/audit/index.ts';
import type { SignIns } from '#shared/http/index.ts';
import type { Log } from '#shared/log/index.ts';
import { keyDigest, publicTenantId, type ApiKey, type TenantDirectory } from '#shared/tenants/index.ts';
import { html, sendPage, type Html } from '../pages/page.ts';
import type { SignInAudit } from './sign-in-audit.ts';
import type { SignInLimiter } from './sign-in-limiter.ts';

export interface SignInOptions {
  signIns: SignIns;
  limiter: SignInLimiter;
  tenants: TenantDirectory;
  /** Finds the key with this secret; null when there is none. */
  findKey: (secret: string) => Promise<ApiKey | null>;
  /** What people call the identity provider; null without one. */
  label: string | null;
  audit: SignInAudit;
  log: Log;
}

/** Unreadable fields count as no key and no path, so the person sees the form again. */
const formSchema = z.object({ key: z.string().trim().max(512).catch(''), next: z.string().optional().catch(undefined) });

/** `GET /sign-in`: the form. */
export function showSignIn({ label }: Pick<SignInOptions, 'label'>): RequestHandler {
  return (request, response) => {
    showForm(response, { next: nextPath(request.query['next']), label });
  };
}

/** `POST /sign-in`: signs the browser in with a key and redirects to the page that the person wanted. */
export function signIn({ signIns, limiter, tenants, findKey, label, audit, log }: SignInOptions): RequestHandler {
  return async (request, response) => {
    const form = formSchema.parse(request.body ?? {});
    const next = nextPath(form.next);
    try {
      // In parallel, because each waits for its timeout while Redis is away. A sign-in over the limit fails even with the right key.
      const [key] = await Promise.all([findKey(form.key), limiter.consume(request.ip, form.key)]);
      if (key === null) throw new MusterError('auth.invalid', 'This key is not known.');
      if (tenants.get(key.tenant)?.disabled === true) {
        await audit.recordRefusal(request, 'signIn', { tenant: key.tenant, actor: actorOf(key), code: 'tenant.disabled' });
        throw new MusterError('tenant.disabled', `The tenant ${publicTenantId(key.tenant)} is disabled.`);
      }
      await limiter.refundAddress(request.ip);
      await signIns.open(request, response, { key: keyDigest(form.key) });
      await audit.recordDone(request, 'signIn', key);
      log.info({ event: 'sign-in.opened', tenant: key.tenant, keyId: key.id }, 'A person signed in');
      response.redirect(303, next);
    } catch (error) {
      refuse(response, error, { next, label });
    }
  };
}

const STATUS_OF_REFUSAL: Readonly<Partial<Record<ErrorCode, number>>> = {
  'limit.rate': 429,
  'tenant.disabled': 403,
  'auth.claim-missing': 403,
  'auth.no-role': 403,
  'unavailable.provider': 503,
};

/** Shows the form again with the reason; unexpected errors go to the error page. */
export function refuse(response: Response, error: unknown, form: Pick<SignInPageOptions, 'next' | 'label'>): void {
  if (!(error instanceof MusterError)) throw error;
  if (error.retryAfterMs !== undefined) response.set('Retry-After', String(Math.max(1, Math.ceil(error.retryAfterMs / 1000))));
  showForm(response, { ...form, problem: error.message }, STATUS_OF_REFUSAL[error.code] ?? 401);
}

function showForm(response: Response, options: SignInPageOptions, status = 200): void {
  sendPage(response, { title: 'Sign in', person: null, content: signInPage(options) }, status);
}

interface SignInPageOptions {
  /** The path of this site to redirect to after the sign-in. */
  next: string;
  /** What people call the identity provider; null without one. */
  label: string | null;
  /** Why the last sign-in failed. */
  problem?: string;
}

const KEY_HINT = {
  only: 'With an API key. The first one was printed when this installation started for the first time.',
  other: 'Or with an API key.',
} as const;

/** The way to the identity provider, and the form for an API key. */
function signInPage({ next, label, problem }: SignInPageOptions): Html {
  const address = next === '/' ? '/sign-in/oidc' : `/sign-in/oidc?next=${encodeURIComponent(next)}`;
  return html`<section class="card narrow">
    <h1>Sign in</h1>
    ${problem === undefined ? null : html`<p class="problem" role="alert">${problem}</p>`}
    ${label === null ? null : html`<p><a class="button" href="${address}">Sign in with ${label}</a></p>`}
    <p class="faint">${KEY_HINT[label === null ? 'only' : 'other']}</p>
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

/** Where a person ends the sign-in at the provider too; null when there is no such place. */
export type FindEndSession = (request: Request, idToken: string) => Promise<string | null>;

/** `POST /sign-out`: ends the sign-in in the browser and in Redis. Who signed in by a provider is shown the way to end that too. */
export function signOut(
  { signIns, label, audit }: Pick<SignInOptions, 'signIns' | 'label' | 'audit'>,
  findEndSession: FindEndSession | null,
): RequestHandler {
  return async (request, response) => {
    const key = await signIns.find(request);
    const idToken = await signIns.close(request, response);
    if (key !== null) await audit.recordDone(request, 'signOut', key);
    const address = idToken === null || findEndSession === null ? null : await findEndSession(request, idToken);
    if (address === null) {
      response.redirect(303, '/sign-in');
      return;
    }
    // A redirect to the provider would be a form that leads to another site, which the page's policy refuses.
    const content = html`<section class="card narrow">
      <h1>You are signed out</h1>
      <p>You are still signed in at ${label}, so signing in again asks for nothing.</p>
      <p><a class="button" href="${address}">Sign out there too</a></p>
      <p><a href="/sign-in">Sign in again</a></p>
    </section>`;
    sendPage(response, { title: 'Signed out', person: null, content });
  };
}
