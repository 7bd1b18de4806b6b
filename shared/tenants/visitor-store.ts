import { randomBytes } from 'node:crypto';
import { MusterError } from '../errors/index.ts';
import type { Keys, RedisClient } from '../redis/index.ts';
import { apiKeySchema, keyDigest, newKeyId, type ApiKey } from './key-store.ts';
import { runTenantScript, writeOfFleet } from './write-of-tenant.ts';
import { publicTenantId } from './tenant.ts';

interface VisitorPorts {
  redis: RedisClient;
  keys: Keys;
}

export interface NewVisitor {
  tenant: string;
  session: string;
  /** Who the visitor is to the others of the session; by default the key's id. */
  name?: string | undefined;
  expiresInMs: number;
}

/** A visitor's key; there is no visitor without a session and an end. */
export type VisitorKey = ApiKey & { session: string; expiresAt: number };

/** A session of a tenant. */
type VisitedSession = Pick<NewVisitor, 'tenant' | 'session'>;

const TOKEN_BYTES = 32;
/** Tells a visitor's token from an API key without reading either's store. */
const TOKEN = /^mv_[\w-]{43}$/;
/** Tokens read at once. */
const PAGE = 500;
const visitorKeySchema = apiKeySchema.required({ session: true, expiresAt: true });

/**
 * Makes a token for one session of a tenant, which cannot be read again. Redis itself forgets it when it expires.
 * Errors: `limit.visitors` when the tenant has `max` already, `tenant.ended`.
 */
export async function createVisitor(
  { redis, keys }: VisitorPorts,
  { tenant, session, name, expiresInMs }: NewVisitor,
  max: number,
): Promise<VisitorKey & { token: string }> {
  const token = `mv_${randomBytes(TOKEN_BYTES).toString('base64url')}`;
  const digest = keyDigest(token);
  const now = Date.now();
  const id = newKeyId();
  const key: VisitorKey = {
    id,
    tenant,
    name: name ?? id,
    scopes: ['visit'],
    createdAt: now,
    session,
    expiresAt: now + expiresInMs,
  };
  const all = keys.fleet.visitors(tenant);
  await redis.zremrangebyscore(all, '-inf', String(now));
  // Its place first: of two that come at once for the last place, one at most gets it.
  await writeOfFleet({ redis, keys }, { tenant, key: all, command: ['ZADD', key.expiresAt, digest] });
  // The list goes with the last of them.
  const [, last] = await redis.zrange(all, '-1', '-1', 'WITHSCORES');
  if (last !== undefined) await redis.pexpireat(all, Number(last));
  if ((await redis.zcard(all)) > max) {
    await redis.zrem(all, digest);
    throw new MusterError('limit.visitors', `Tenant ${publicTenantId(tenant)} has ${max} visitor tokens already`, {
      details: { max },
    });
  }
  const command = ['SET', JSON.stringify(key), 'PX', expiresInMs] as const;
  await writeOfFleet({ redis, keys }, { tenant, key: keys.fleet.visitor(digest), command });
  return { ...key, token };
}

/** Whether a secret looks like a visitor's token; a key that an operator chose may do so too. */
export function isVisitorToken(secret: string): boolean {
  return TOKEN.test(secret);
}

/** The key of this visitor's token; null when there is none, or no longer, or its tenant has ended. */
export async function findVisitor({ redis, keys }: VisitorPorts, token: string): Promise<ApiKey | null> {
  if (!isVisitorToken(token)) return null;
  const places = [keys.fleet.visitor(keyDigest(token)), keys.shard(0).tenantStates];
  const stored = await runTenantScript<string | null>(redis, 'find-key', places, ['']);
  return stored === null ? null : apiKeySchema.parse(JSON.parse(stored));
}

/** The visitors of a session whose token has not expired, oldest first. */
export async function listVisitors(parts: VisitorPorts, visited: VisitedSession): Promise<VisitorKey[]> {
  const found = await findVisitors(parts, visited);
  return found.map(({ key }) => key).toSorted((one, other) => one.createdAt - other.createdAt);
}

/** Ends a visitor's token by its id. Returns whether there was one. */
export async function revokeVisitor(parts: VisitorPorts, visited: VisitedSession, id: string): Promise<boolean> {
  const { redis, keys } = parts;
  const found = (await findVisitors(parts, visited)).find(({ key }) => key.id === id);
  if (found === undefined) return false;
  // The token before its place: a process that dies in between leaves a place taken until the token would have expired.
  const wasThere = (await redis.del(keys.fleet.visitor(found.digest))) === 1;
  await redis.zrem(keys.fleet.visitors(visited.tenant), found.digest);
  return wasThere;
}

/** Ends all tokens of a tenant that are chosen. */
export async function removeVisitors(parts: VisitorPorts, tenant: string, isChosen: (key: VisitorKey) => boolean): Promise<void> {
  const { redis, keys } = parts;
  for (const { digest } of await findTokens(parts, tenant, isChosen)) {
    await redis.del(keys.fleet.visitor(digest));
    await redis.zrem(keys.fleet.visitors(tenant), digest);
  }
}

interface FoundToken {
  digest: string;
  key: VisitorKey;
}

async function findVisitors(parts: VisitorPorts, { tenant, session }: VisitedSession): Promise<FoundToken[]> {
  return await findTokens(parts, tenant, (key) => key.session === session);
}

/** Reads all of the tenant's: they are few, bounded, and hardly ever listed, so no session has a list of its own. */
async function findTokens({ redis, keys }: VisitorPorts, tenant: string, isChosen: (key: VisitorKey) => boolean): Promise<FoundToken[]> {
  const digests = await redis.zrange(keys.fleet.visitors(tenant), '0', '-1');
  const found: FoundToken[] = [];
  for (let from = 0; from < digests.length; from += PAGE) {
    const page = digests.slice(from, from + PAGE);
    const stored = await redis.mget(...page.map((digest) => keys.fleet.visitor(digest)));
    for (const [position, digest] of page.entries()) {
      const json = stored[position];
      // Redis forgot it since: it expired.
      if (json === null || json === undefined) continue;
      const key = visitorKeySchema.parse(JSON.parse(json));
      if (isChosen(key)) found.push({ digest, key });
    }
  }
  return found;
}
