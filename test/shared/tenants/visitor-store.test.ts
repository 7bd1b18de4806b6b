import { afterEach, describe, expect, it } from 'vitest';
import { hasCode } from '#shared/errors/error-codes.ts';
import { createKeys } from '#shared/redis/keys.ts';
import { findKey, hasScope, keyDigest, listKeys, SCOPES } from '#shared/tenants/key-store.ts';
import { createVisitor, findVisitor, listVisitors, revokeVisitor, type VisitorKey } from '#shared/tenants/visitor-store.ts';
import { useRedisClient } from '../../support/redis/use-redis.ts';

const parts = { redis: await useRedisClient(), keys: createKeys(4) };

afterEach(async () => {
  await parts.redis.flushall();
});

const make = async (tenant = 'acme', max = 10): Promise<VisitorKey & { token: string }> =>
  await createVisitor(parts, { tenant, session: 'room', name: 'Ada', expiresInMs: 60_000 }, max);

/** Lets the token's time pass, as Redis and we see it. */
async function expire(token: string, tenant = 'acme'): Promise<void> {
  const digest = keyDigest(token);
  await parts.redis.pexpireat(parts.keys.fleet.visitor(digest), 1);
  await parts.redis.zadd(parts.keys.fleet.visitors(tenant), 1, digest);
}

describe('a visitor’s token', () => {
  it('is found by itself, with its one session, and is no key of the tenant', async () => {
    const { token, ...key } = await make();
    expect(await findVisitor(parts, token)).toEqual(key);
    expect(key).toMatchObject({ tenant: 'acme', session: 'room', name: 'Ada', scopes: ['visit'] });
    expect(key.expiresAt - key.createdAt).toBe(60_000);
    expect(await findKey(parts, token)).toBeNull();
    expect(await listKeys(parts, 'acme')).toEqual([]);
    for (const other of ['', token.slice(0, -1), `${token}x`, token.replace('mv_', 'mk_')])
      expect(await findVisitor(parts, other)).toBeNull();
  });

  it('has a scope that includes no other', () => {
    expect(SCOPES.filter((scope) => hasScope(['visit'], scope))).toEqual(['visit']);
  });

  it('opens nothing once its tenant has ended', async () => {
    const { token } = await make();
    await parts.redis.hset(parts.keys.shard(0).tenantStates, 'acme', 'ended');
    expect(await findVisitor(parts, token)).toBeNull();
  });

  it('leaves its secret nowhere in Redis', async () => {
    const { token } = await make();
    const names = await parts.redis.keys('*');
    expect(names).toHaveLength(2);
    expect(names.join(' ')).not.toContain(token.slice(3, 20));
    expect(await parts.redis.get(parts.keys.fleet.visitor(keyDigest(token)))).not.toContain(token.slice(3, 20));
  });

  it('is listed no longer than the last of its tenant is valid', async () => {
    const [, last] = [await make(), await make()];
    expect(await parts.redis.pexpiretime(parts.keys.fleet.visitors('acme'))).toBeGreaterThanOrEqual(last.expiresAt - 1);
    expect(await parts.redis.pexpiretime(parts.keys.fleet.visitors('acme'))).toBeLessThan(last.expiresAt + 1000);
  });

  it('opens nothing once it expired, and nothing is left of it', async () => {
    const { token } = await make();
    expect(await parts.redis.pttl(parts.keys.fleet.visitor(keyDigest(token)))).toBeGreaterThan(50_000);
    await expire(token);
    expect(await findVisitor(parts, token)).toBeNull();
    expect(await parts.redis.exists(parts.keys.fleet.visitor(keyDigest(token)))).toBe(0);
  });

  it('is listed with the others of its session until it expires, and ends for its own tenant and session only', async () => {
    const room = { tenant: 'acme', session: 'room' };
    const [gone, { token, ...ended }, { token: _token, ...staying }] = [await make(), await make(), await make()];
    await make('other');
    await createVisitor(parts, { ...room, session: 'hall', expiresInMs: 60_000 }, 10);
    await parts.redis.del(parts.keys.fleet.visitor(keyDigest(gone.token)));
    expect(new Set(await listVisitors(parts, room))).toEqual(new Set([ended, staying]));
    for (const other of [
      { ...room, session: 'hall' },
      { ...room, tenant: 'other' },
    ])
      expect(await revokeVisitor(parts, other, ended.id)).toBe(false);
    expect(await findVisitor(parts, token)).not.toBeNull();
    expect([await revokeVisitor(parts, room, ended.id), await revokeVisitor(parts, room, ended.id)]).toEqual([true, false]);
    expect(await findVisitor(parts, token)).toBeNull();
    expect(await listVisitors(parts, room)).toEqual([staying]);
  });

  it('gives its place back when it is ended early', async () => {
    const first = await make('acme', 1);
    expect(await revokeVisitor(parts, first, first.id)).toBe(true);
    await make('acme', 1);
  });

  it('is refused when the tenant has as many as it may, until one expires', async () => {
    const first = await make('acme', 2);
    await make('acme', 2);
    await expect(make('acme', 2)).rejects.toSatisfy((error) => hasCode(error, 'limit.visitors'));
    await make('other', 2);
    await expire(first.token);
    await make('acme', 2);
    await expect(make('acme', 2)).rejects.toSatisfy((error) => hasCode(error, 'limit.visitors'));
    expect(await parts.redis.zcard(parts.keys.fleet.visitors('acme'))).toBe(2);
  });
});
