import { createHash } from 'node:crypto';
import type { Request, RequestHandler, Response } from 'express';
import { z } from 'zod';
import { type ErrorCode, MusterError } from '#shared/errors/index.ts';
import type { SignIns } from '#shared/http/index.ts';
import type { Log } from '#shared/log/index.ts';
import type { Keys, RedisClient } from '#shared/redis/index.ts';
import { DEFAULT_TENANT, endSignIns, personId, providerSession, readPersonById } from '#shared/tenants/index.ts';
import type { SignInAudit } from '../sign-in-audit.ts';
import type { SignInLimiter } from '../sign-in-limiter.ts';
import { type LogoutClaims, MAX_TOKEN_AGE_MS } from './logout-tokens.ts';

export interface LogoutOptions {
  signIns: SignIns;
  limiter: SignInLimiter;
  audit: SignInAudit;
  redis: RedisClient;
  keys: Keys;
  log: Log;
}

/** Longer than a token counts, by clocks that differ. */
const USED_MS = 2 * MAX_TOKEN_AGE_MS;
const STATUS_OF: Readonly<Partial<Record<ErrorCode, number>>> = { 'limit.rate': 429, 'unavailable.provider': 503 };
/** What is missing is no token. */
const bodySchema = z.object({ logout_token: z.string().catch('') });

/**
 * `POST /sign-in/oidc/backchannel-logout`: ends the sign-ins of a session that has ended at the provider, or all of a person. Streams of
 * these browsers end as after signing out. Tokens that do not count use up the limit of failed sign-ins of their address.
 */
export function backChannelLogout(options: LogoutOptions, read: (token: string) => Promise<LogoutClaims>): RequestHandler {
  return async (request, response) => {
    try {
      const { limiter, redis } = options;
      await limiter.check(request.ip);
      const { logout_token: token } = bodySchema.parse(request.body ?? {});
      const claims = await readOrCount(options, request, async () => await read(token));
      const used = usedName(options, claims);
      // A token that comes again may not end what was opened since.
      if ((await redis.exists(used)) === 0) await endSessions(options, request, claims);
      await redis.set(used, '1', 'PX', USED_MS);
      response.status(200).end();
    } catch (error) {
      refuse(response, error, options.log);
    }
  };
}

async function readOrCount({ limiter }: LogoutOptions, request: Request, read: () => Promise<LogoutClaims>): Promise<LogoutClaims> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof MusterError && error.code === 'request.invalid') await limiter.consume(request.ip, `logout ${request.ip}`);
    throw error;
  }
}

function usedName({ keys }: LogoutOptions, { iss, jti }: LogoutClaims): string {
  const text = JSON.stringify([iss, jti]);
  return keys.fleet.logoutToken(createHash('sha256').update(text).digest('hex'));
}

async function endSessions(options: LogoutOptions, request: Request, { iss: issuer, sub: subject, sid }: LogoutClaims): Promise<void> {
  if (sid === undefined) {
    await endPerson(options, request, personId({ issuer, subject: subject ?? '' }));
    return;
  }
  const named = await options.signIns.closeSession(providerSession({ issuer, sid }));
  // Sign-ins whose ID token named no session: any of them may be the one.
  const unnamed = subject === undefined ? [] : await options.signIns.closeSession(providerSession({ issuer, subject }));
  const ended = new Map([...named, ...unnamed].map((each) => [JSON.stringify(each), each]));
  for (const { person, tenant } of ended.values()) await recordEnd(options, request, { id: person, tenant });
}

/** Ends all sign-ins of a person. Nothing is written of one who is not known. */
async function endPerson(options: LogoutOptions, request: Request, id: string): Promise<void> {
  const person = await readPersonById(options, id);
  if (person === null) return;
  await endSignIns(options, id);
  await recordEnd(options, request, { id, tenant: person.roles[0]?.tenant ?? DEFAULT_TENANT });
}

async function recordEnd(options: LogoutOptions, request: Request, { id, tenant }: { id: string; tenant: string }): Promise<void> {
  const name = (await readPersonById(options, id))?.name ?? id;
  await options.audit.recordPerson(request, 'signOutByProvider', { id, name }, tenant);
  options.log.info({ event: 'sign-in.closed', tenant, person: id, by: 'oidc' }, 'The identity provider signed a person out');
}

/** As the specification says: 400 with an error of OAuth for a token that does not count. */
function refuse(response: Response, error: unknown, log: Log): void {
  if (!(error instanceof MusterError)) throw error;
  const status = STATUS_OF[error.code] ?? 400;
  if (error.retryAfterMs !== undefined) response.set('Retry-After', String(Math.max(1, Math.ceil(error.retryAfterMs / 1000))));
  if (status === 400) log.warn({ event: 'sign-in.logout-refused', reason: error.message }, 'A logout token was refused');
  response.status(status).json({ error: status === 400 ? 'invalid_request' : 'temporarily_unavailable', error_description: error.message });
}
