import type { Request } from 'express';
import { MusterError } from '../errors/index.ts';
import { type ApiKey, findKey, findVisitor, hasScope, publicTenantId, type Scope } from '../tenants/index.ts';
import { LATE, withinAttentive } from '../time/index.ts';
import { actingKey } from './acting-tenant.ts';
import { assertSameOrigin } from './assert-same-origin.ts';
import { createRateLimit } from './create-rate-limit.ts';
import type { HttpParts } from './http-parts.ts';
import type { Route } from './route.ts';
import { networkOf } from './network-of.ts';
import { SignIns } from './sign-ins.ts';

export interface AuthenticatorOptions {
  parts: HttpParts;
}

/** What a route asks of a key. */
type Access = Pick<Route, 'scope' | 'forVisitors'>;

/**
 * The client holds a command back while one before it hangs, and counts its own time from then on: the two together may be
 * longer than a caller was promised to wait. This is the first that every call asks of Redis, so it is cut off here.
 */
const AUTHENTICATE_MS = 1500;

const BEARER = /^Bearer +(\S{1,512})$/i;

export interface Authenticator {
  /**
   * Says whose key a request carries: the one in its header, else the one that the browser signed in with. Null for a scope of `none`.
   * Errors: `auth.missing`, `auth.invalid`, `auth.forbidden`, `auth.csrf`, `tenant.disabled`, `tenant.not-found`, `limit.rate`, `unavailable.redis`.
   */
  admit(request: Request, access: Access): Promise<ApiKey | null>;
  /** Whether a request that was admitted with this key still carries it, and the key still opens anything. Counts towards no limit. */
  isStillAdmitted(request: Request, key: ApiKey): Promise<boolean>;
}

/** Checks keys, browsers' sign-ins and visitors' tokens of requests. */
export function createAuthenticator({ parts }: AuthenticatorOptions): Authenticator {
  const { limits } = parts.config.settings;
  const limit = (name: string, perMinute: number): ((name: string) => Promise<void>) =>
    createRateLimit({ redis: parts.redis, prefix: `${parts.keys.fleet.http}:${name}`, perMinute });
  const countKey = limit('key', limits.httpPerMinute);
  const countVisitor = limit('visitor', limits.httpVisitorPerMinute);
  const countAddress = limit('address', limits.httpAnonymousPerMinute);
  const signIns = new SignIns(parts);
  const find = async (request: Request): Promise<ApiKey | null> => {
    const header = request.get('authorization');
    return header === undefined ? await signIns.find(request) : await findByHeader(parts, header);
  };
  const authenticate = async (request: Request, access: Access): Promise<ApiKey | null> => {
    const { scope } = access;
    if (scope === 'none') {
      await countAddress(networkOf(request.ip));
      return null;
    }
    const key = await find(request);
    if (!key) {
      await countAddress(networkOf(request.ip));
      throw refusal(request);
    }
    if (request.get('authorization') === undefined) assertSameOrigin(request);
    await (key.session === undefined ? countKey : countVisitor)(key.id);
    assertEnabled(parts, key);
    if (key.session !== undefined) {
      assertVisits(key, access, request);
      return key;
    }
    assertScope(key, scope);
    return actingKey(parts, request, key);
  };
  return {
    admit: async (request, access) => {
      const key = await withinAttentive(authenticate(request, access), AUTHENTICATE_MS);
      if (key === LATE) throw new MusterError('unavailable.redis', 'Redis does not answer in time', { retryAfterMs: AUTHENTICATE_MS });
      return key;
    },
    // A key never changes; one that was made anew under the same secret has another id.
    isStillAdmitted: async (request, key) => (await find(request))?.id === key.id && !isDisabled(parts, key),
  };
}

function refusal(request: Request): MusterError {
  if (request.get('authorization') === undefined) return new MusterError('auth.missing', 'Send a key: Authorization: Bearer <key>');
  return new MusterError('auth.invalid', 'This key is not known, or the header is not "Bearer <key>"');
}

async function findByHeader(parts: HttpParts, header: string): Promise<ApiKey | null> {
  const secret = BEARER.exec(header)?.[1];
  return secret === undefined ? null : ((await findVisitor(parts, secret)) ?? (await findKey(parts, secret)));
}

function assertEnabled(parts: HttpParts, key: ApiKey): void {
  if (isDisabled(parts, key)) throw new MusterError('tenant.disabled', `Tenant ${publicTenantId(key.tenant)} is disabled`);
}

/** A tenant that was made a moment ago may not be known here yet; only one known to be disabled counts. */
function isDisabled(parts: HttpParts, key: ApiKey): boolean {
  return parts.tenants.get(key.tenant)?.disabled === true;
}

/** Whether there is such a session makes no difference, so that nobody learns it. */
function assertVisits({ session }: ApiKey, { forVisitors }: Access, request: Request): void {
  if (forVisitors === true && request.params['id'] === session) return;
  throw new MusterError('auth.forbidden', "This is a visitor's token: it is for talking in its own session and for nothing else");
}

function assertScope(key: ApiKey, scope: Scope): void {
  if (hasScope(key.scopes, scope)) return;
  throw new MusterError('auth.forbidden', `This needs a key with the scope "${scope}"`, { details: { needed: scope, scopes: key.scopes } });
}
