import type { RequestHandler, Response } from 'express';
import { z } from 'zod';
import { MusterError } from '#shared/errors/index.ts';
import { isLoopback } from '#shared/http/index.ts';
import { type ApiKey, publicTenantId, type SignInLink, type SignInLinks } from '#shared/tenants/index.ts';
import { html, type Html, sendPage } from '../pages/page.ts';
import type { SignInOptions } from './sign-in.ts';

export interface SignInLinkOptions extends Pick<SignInOptions, 'signIns' | 'limiter' | 'tenants' | 'audit' | 'log'> {
  links: SignInLinks;
  /** Finds the key with this digest; null when there is none. */
  findKeyByDigest: (digest: string) => Promise<ApiKey | null>;
}

const tokenSchema = z.object({ token: z.string().max(100).catch('') });

/**
 * `GET /sign-in/link`: a form that uses the link up when it is sent. Its script sends it; without scripts a person presses its button. Opening
 * the address alone uses nothing up, because chats and browsers open addresses to preview them. A browser that is signed in already gets no
 * script: a link from somebody else would have the person act with the key of that other one, unnoticed.
 */
export function showSignInLink({ links, signIns, findKeyByDigest }: SignInLinkOptions): RequestHandler {
  return async (request, response) => {
    const { token } = tokenSchema.parse(request.query);
    const [link, before] = await Promise.all([links.find(token), signIns.find(request)]);
    const key = link === null ? null : await findKeyByDigest(link.key);
    if (key === null) {
      sendUsedUp(response);
      return;
    }
    const page = { title: 'Sign in', person: null, content: linkForm(token, before === null ? null : { before, key }) };
    sendPage(response, before === null ? { ...page, script: '/dashboard/sign-in-link.js' } : page);
  };
}

/** `POST /sign-in/link`: signs the browser in with the key that the link was made with. Errors: `auth.forbidden`, `limit.rate`, `tenant.disabled`. */
export function useSignInLink(options: SignInLinkOptions): RequestHandler {
  const { links, limiter, log, signIns } = options;
  return async (request, response) => {
    const { token } = tokenSchema.parse(request.body ?? {});
    await limiter.consume(request.ip, token);
    const link = await links.redeem(token);
    const key = link === null ? null : await options.findKeyByDigest(link.key);
    if (link === null || key === null) {
      sendUsedUp(response);
      return;
    }
    assertUsable(options, link, { key, address: request.ip });
    await limiter.refundAddress(request.ip);
    await signIns.open(request, response, { key: link.key });
    await options.audit.recordDone(request, 'signInByLink', key);
    log.info({ event: 'sign-in.opened', tenant: key.tenant, keyId: key.id, by: 'link' }, 'A person signed in');
    response.redirect(303, '/');
  };
}

function assertUsable(
  { tenants }: SignInLinkOptions,
  link: SignInLink,
  { key, address }: { key: ApiKey; address: string | undefined },
): void {
  if (link.isLocal && !isLoopback(address))
    throw new MusterError('auth.forbidden', 'This link works only in a browser on the machine of the fleet. It is used up now.');
  if (tenants.get(key.tenant)?.disabled === true)
    throw new MusterError('tenant.disabled', `The tenant ${publicTenantId(key.tenant)} is disabled.`);
}

/** Who the browser is signed in as, and who it will be. */
interface SignInChange {
  before: ApiKey;
  key: ApiKey;
}

function linkForm(token: string, change: SignInChange | null): Html {
  return html`<section class="card narrow">
    <h1>Sign in</h1>
    ${change === null ? html`<p class="faint">This link signs this browser in, once.</p>` : changeText(change)}
    <form method="post" action="/sign-in/link">
      <input type="hidden" name="token" value="${token}" />
      <button>Sign in</button>
    </form>
  </section>`;
}

function changeText({ before, key }: SignInChange): Html {
  return html`<p>This browser is signed in as ${whoIs(before)}.</p>
    <p>This link signs it in as ${whoIs(key)} instead. Go on only if you asked for the link.</p>
    <p><a href="/">Stay signed in as before</a></p>`;
}

function whoIs({ person, name, tenant }: ApiKey): Html {
  return html`<strong>${name}</strong> (${person === undefined ? 'key' : 'person'}, tenant ${publicTenantId(tenant)})`;
}

function sendUsedUp(response: Response): void {
  const content = html`<section class="card narrow">
    <h1>This link was used, or is too old</h1>
    <p>Each link signs one browser in, once and soon. For another one:</p>
    <pre>npx muster open</pre>
    <p><a class="button" href="/sign-in">Sign in with a key</a></p>
  </section>`;
  sendPage(response, { title: 'Sign in', person: null, content }, 410);
}
