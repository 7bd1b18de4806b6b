import type { Request } from 'express';
import { MusterError } from '../errors/muster-error.ts';
import type { ApiKey } from '../tenants/api-key.ts';
import { findKey } from '../tenants/key-store.ts';
import { LATE, within } from '../time/wait.ts';
import { hasScope, type Scope } from '../tenants/scopes.ts';
import { assertSameOrigin } from './assert-same-origin.ts';
import { createRateLimit } from './create-rate-limit.ts';
import type { HttpParts } from './http-parts.ts';

export interface AuthenticatorOptions {
  parts: HttpParts;
  /** The key behind a browser's session, or null: for pages that signed in. */
  resolveSession?: (request: Request) => Promise<ApiKey | null>;
}

/**
 * The client holds a command back while one before it hangs, and counts its own time from then on: the two together may be
 * longer than a caller was promised to wait. This is the first that every call asks of Redis, so it is cut off here.
 */
const AUTHENTICATE_MS = 1500;

const BEARER = /^Bearer +(\S{1,512})$/i;

/**
 * Says whose key a request carries. Null for a scope of `none`.
 * Errors: `auth.missing`, `auth.invalid`, `auth.forbidden`, `auth.csrf`, `tenant.disabled`, `limit.rate`, `unavailable.redis`.
 */
export function createAuthenticator({
  parts,
  resolveSession,
}: AuthenticatorOptions): (request: Request, scope: Scope | 'none') => Promise<ApiKey | null> {
  const { limits } = parts.config.settings;
  const limit = (name: string, perMinute: number): ((name: string) => Promise<void>) =>
    createRateLimit({ redis: parts.redis, prefix: `${parts.keys.fleet.http}:${name}`, perMinute });
  const countKey = limit('key', limits.httpPerMinute);
  const countAddress = limit('address', limits.httpAnonymousPerMinute);
  const find = async (request: Request): Promise<ApiKey | null> => {
    const header = request.get('authorization');
    if (header !== undefined) return await findByHeader(parts, header);
    const key = (await resolveSession?.(request)) ?? null;
    if (key) assertSameOrigin(request);
    return key;
  };
  const authenticate = async (request: Request, scope: Scope | 'none'): Promise<ApiKey | null> => {
    if (scope === 'none') {
      await countAddress(addressOf(request));
      return null;
    }
    const key = await find(request);
    if (!key) {
      await countAddress(addressOf(request));
      throw refusal(request);
    }
    await countKey(key.id);
    assertAllowed(parts, key, scope);
    return key;
  };
  return async (request, scope) => {
    const key = await within(authenticate(request, scope), AUTHENTICATE_MS);
    if (key === LATE) throw new MusterError('unavailable.redis', 'Redis does not answer in time', { retryAfterMs: AUTHENTICATE_MS });
    return key;
  };
}

function addressOf(request: Request): string {
  return request.ip ?? 'unknown';
}

function refusal(request: Request): MusterError {
  if (request.get('authorization') === undefined) return new MusterError('auth.missing', 'Send a key: Authorization: Bearer <key>');
  return new MusterError('auth.invalid', 'This key is not known, or the header is not "Bearer <key>"');
}

async function findByHeader(parts: HttpParts, header: string): Promise<ApiKey | null> {
  const secret = BEARER.exec(header)?.[1];
  return secret === undefined ? null : await findKey(parts, secret);
}

function assertAllowed(parts: HttpParts, key: ApiKey, scope: Scope): void {
  // A tenant that was made a moment ago may not be known here yet; only one known to be disabled counts.
  if (parts.tenants.get(key.tenant)?.disabled) throw new MusterError('tenant.disabled', `Tenant ${key.tenant} is disabled`);
  if (hasScope(key.scopes, scope)) return;
  throw new MusterError('auth.forbidden', `This needs a key with the scope "${scope}"`, { details: { needed: scope, scopes: key.scopes } });
}
