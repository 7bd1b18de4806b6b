import type { Request, RequestHandler, Response } from 'express';
import { z } from 'zod';
import { MusterError } from '#shared/errors/index.ts';
import { assertSameOrigin, type SignIns } from '#shared/http/index.ts';
import { publicTenantId, type ApiKey, type TenantDirectory } from '#shared/tenants/index.ts';

interface RequireSignInOptions {
  signIns: SignIns;
  tenants: TenantDirectory;
}

const people = new WeakMap<object, ApiKey>();

/**
 * Admits people who are signed in, and reads their key for each request. Redirects other people to the sign-in.
 * Errors: `auth.missing` for calls of programs, `tenant.disabled`.
 */
export function requireSignIn({ signIns, tenants }: RequireSignInOptions): RequestHandler {
  return async (request, response, next) => {
    const key = await signIns.find(request);
    if (key === null) {
      redirectToSignIn(request, response);
      return;
    }
    if (tenants.get(key.tenant)?.disabled === true)
      throw new MusterError('tenant.disabled', `The tenant ${publicTenantId(key.tenant)} is disabled`);
    people.set(request, key);
    next();
  };
}

/** Refuses changes from pages of another site. Errors: `auth.csrf`. */
export const requireSameOrigin: RequestHandler = (request, _response, next) => {
  assertSameOrigin(request);
  next();
};

/** The key of the person who is signed in; null when no one is, and before `requireSignIn`. */
export function knownPerson(request: object): ApiKey | null {
  return people.get(request) ?? null;
}

/** The key of the person who is signed in. Throws unless `requireSignIn` ran before. */
export function personOf(request: object): ApiKey {
  const key = knownPerson(request);
  if (!key) throw new Error('This handler does not come after requireSignIn');
  return key;
}

function redirectToSignIn(request: Request, response: Response): void {
  if (isApiCall(request) || request.method !== 'GET')
    throw new MusterError('auth.missing', 'You are not signed in, or no longer. Reload the page.');
  const next = request.originalUrl === '/' ? '' : `?next=${encodeURIComponent(request.originalUrl)}`;
  response.redirect(303, `/sign-in${next}`);
}

/** Whether a program made the request, not a person. */
export function isApiCall(request: Request): boolean {
  return request.originalUrl.startsWith('/board/api/') || request.accepts(['html', 'json']) !== 'html';
}

/** `GET /console/person`: the person who is signed in, and what people call the identity provider; null without one. */
export function sendPerson(provider: string | null): RequestHandler {
  return (request, response) => {
    const { tenant, name, scopes, person } = personOf(request);
    const tenants = person?.roles.map((role) => publicTenantId(role.tenant)) ?? [publicTenantId(tenant)];
    const kind = person ? 'person' : 'key';
    response.json({ tenant: publicTenantId(tenant), name, scopes, kind, email: person?.email ?? null, tenants, provider });
  };
}

/** `POST /console/tenant`: a person of a provider acts in another of the person's tenants from now on. Errors: `auth.forbidden`. */
export function changeTenant(signIns: SignIns): RequestHandler {
  return async (request, response) => {
    const { tenant: named } = z.object({ tenant: z.string().max(100) }).parse(request.body ?? {});
    const role = personOf(request).person?.roles.find(({ tenant }) => publicTenantId(tenant) === named);
    if (role === undefined) throw new MusterError('auth.forbidden', 'You have no role in that tenant');
    await signIns.changeTenant(request, role.tenant);
    response.redirect(303, '/');
  };
}
