import { type ApiKey, publicTenantId, type TenantDirectory } from '#shared/tenants/index.ts';
import type { Request, RequestHandler, Response } from 'express';
import { MusterError } from '#shared/errors/index.ts';
import type { SignIns } from '#shared/http/index.ts';
import { isApiCall } from './is-api-call.ts';

export interface RequireSignInOptions {
  signIns: SignIns;
  tenants: TenantDirectory;
}

const people = new WeakMap<object, ApiKey>();

/**
 * Lets signed-in people through: their sign-in and its key are looked up anew at each request. Others are sent to sign in. Errors, for calls that no person sees: `auth.missing`; for all: `tenant.disabled`.
 */
export function requireSignIn({ signIns, tenants }: RequireSignInOptions): RequestHandler {
  return async (request, response, next) => {
    const key = await signIns.find(request);
    if (key === null) {
      askToSignIn(request, response);
      return;
    }
    if (tenants.get(key.tenant)?.disabled === true)
      throw new MusterError('tenant.disabled', `The tenant ${publicTenantId(key.tenant)} is disabled`);
    people.set(request, key);
    next();
  };
}

/** The same where it need not be: null for somebody who is not signed in, and before `requireSignIn`. */
export function knownPerson(request: object): ApiKey | null {
  return people.get(request) ?? null;
}

/** The key that the person signed in with. Only behind `requireSignIn`. */
export function personOf(request: object): ApiKey {
  const key = knownPerson(request);
  if (!key) throw new Error('This handler is not behind requireSignIn');
  return key;
}

function askToSignIn(request: Request, response: Response): void {
  if (isApiCall(request) || request.method !== 'GET')
    throw new MusterError('auth.missing', 'You are not signed in, or no longer. Reload the page.');
  const next = request.originalUrl === '/' ? '' : `?next=${encodeURIComponent(request.originalUrl)}`;
  response.redirect(303, `/sign-in${next}`);
}
