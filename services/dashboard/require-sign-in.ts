import type { Request, RequestHandler, Response } from 'express';
import { MusterError } from '#shared/errors/muster-error.ts';
import type { ApiKey } from '#shared/tenants/api-key.ts';
import type { TenantDirectory } from '#shared/tenants/tenant-directory.ts';
import { isApiCall } from './is-api-call.ts';
import type { SessionCookie } from './session-cookie.ts';
import type { SessionStore } from './session-store.ts';

export interface RequireSessionOptions {
  sessions: SessionStore;
  cookie: SessionCookie;
  tenants: TenantDirectory;
}

const visitors = new WeakMap<object, ApiKey>();

/**
 * Lets signed-in people through: their session and its key are looked up anew at each request. People without one are sent
 * to sign in. Errors, for calls that no person sees: `auth.missing`; for all: `tenant.disabled`.
 */
export function requireSession({ sessions, cookie, tenants }: RequireSessionOptions): RequestHandler {
  return async (request, response, next) => {
    const id = cookie.read(request);
    const key = id === null ? null : await sessions.find(id);
    if (key === null) {
      askToSignIn(request, response);
      return;
    }
    if (tenants.get(key.tenant)?.disabled === true) throw new MusterError('tenant.disabled', `The tenant ${key.tenant} is disabled`);
    visitors.set(request, key);
    next();
  };
}

/** The key that the visitor signed in with. Only behind `requireSession`. */
export function visitorOf(request: object): ApiKey {
  const key = visitors.get(request);
  if (!key) throw new Error('This handler is not behind requireSession');
  return key;
}

function askToSignIn(request: Request, response: Response): void {
  if (isApiCall(request) || request.method !== 'GET')
    throw new MusterError('auth.missing', 'You are not signed in, or no longer. Reload the page.');
  const next = request.originalUrl === '/' ? '' : `?next=${encodeURIComponent(request.originalUrl)}`;
  response.redirect(303, `/sign-in${next}`);
}
