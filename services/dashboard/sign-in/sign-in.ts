import { type ApiKey, publicTenantId, type TenantDirectory } from '#shared/tenants/index.ts';
import type { RequestHandler, Response } from 'express';
import { z } from 'zod';
import { hasCode, MusterError } from '#shared/errors/index.ts';
import type { SignIns } from '#shared/http/index.ts';
import type { Log } from '#shared/log/index.ts';
import type { SignInLimiter } from './sign-in-limiter.ts';
import { sendPage, html, type Html } from '../pages/page.ts';

export interface SignInOptions {
  signIns: SignIns;
  limiter: SignInLimiter;
  tenants: TenantDirectory;
  /** The key with this secret, or null. */
  findKey: (secret: string) => Promise<ApiKey | null>;
  log: Log;
}

/** What does not fit is no key and no path; the form says so. */
const formSchema = z.object({ key: z.string().trim().max(512).catch(''), next: z.string().optional().catch(undefined) });

/** `GET /sign-in`: the form. */
export function showSignIn(): RequestHandler {
  return (request, response) => {
    showForm(response, { next: nextPath(request.query['next']) });
  };
}

/** `POST /sign-in`: signs the browser in with a key and goes on to where the person was heading. */
export function signIn({ signIns, limiter, tenants, findKey, log }: SignInOptions): RequestHandler {
  return async (request, response) => {
    const form = formSchema.parse(request.body ?? {});
    const next = nextPath(form.next);
    try {
      // At once, because while Redis is away each takes its time to find out. A try over the limit fails whatever the key is.
      const [key] = await Promise.all([findKey(form.key), limiter.take(request.ip, form.key)]);
      if (key === null) throw new MusterError('auth.invalid', 'This key is not known.');
      await limiter.giveBack(request.ip, form.key);
      if (tenants.get(key.tenant)?.disabled === true)
        throw new MusterError('tenant.disabled', `The tenant ${publicTenantId(key.tenant)} is disabled.`);
      await signIns.open(request, response, form.key);
      log.info({ event: 'sign-in.opened', tenant: key.tenant, keyId: key.id }, 'Somebody signed in');
      response.redirect(303, next);
    } catch (error) {
      refuse(response, error, next);
    }
  };
}

/** Shows the form again with the reason; what is not the person's doing goes to the error page. */
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
  /** Where to go on to afterwards; a path of this site. */
  next: string;
  /** Why the last try did not work. */
  problem?: string;
}

/** The form that asks for a key. */
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

/** Only to resolve against; nothing is ever sent there. */
const NOWHERE = 'http://nowhere.invalid';

/** The path to go on to after signing in, when it is one of this site; `/` for everything else, so that no link leads elsewhere. */
export function nextPath(wanted: unknown): string {
  if (typeof wanted !== 'string' || !wanted.startsWith('/')) return '/';
  const url = URL.parse(wanted, NOWHERE);
  if (url?.origin !== NOWHERE) return '/';
  // `/.//elsewhere` resolves to `//elsewhere`, which a browser takes for a host.
  return url.pathname.startsWith('//') ? '/' : `${url.pathname}${url.search}`;
}
