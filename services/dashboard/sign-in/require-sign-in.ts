import type { Request, RequestHandler, Response } from 'express';
import { MusterError } from '#shared/errors/index.ts';
import { assertSameOrigin, type SignIns } from '#shared/http/index.ts';
import { publicTenantId, type ApiKey } from '#shared/tenants/index.ts';
import type { PersonAnswer } from './person-answer.ts';

const people = new WeakMap<object, ApiKey>();

/**
 * Admits people who are signed in, and reads their key for each request. Redirects other people to the sign-in. Whether the tenant is
 * disabled is for `requireOpenTenant`. Errors: `auth.missing` for calls of programs.
 */
export function requireSignIn(signIns: SignIns): RequestHandler {
  return async (request, response, next) => {
    const key = await signIns.find(request);
    if (key === null) {
      redirectToSignIn(request, response);
      return;
    }
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
    const answer: PersonAnswer = { tenant: publicTenantId(tenant), name, scopes, kind, email: person?.email ?? null, tenants, provider };
    response.json(answer);
  };
}
