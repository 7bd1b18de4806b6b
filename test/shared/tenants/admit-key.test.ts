import { afterEach, describe, expect, it } from 'vitest';
import { createKeys } from '#shared/redis/keys.ts';
import { KeyAdmissions } from '#shared/tenants/admit-key.ts';
import { createKey, revokeKey } from '#shared/tenants/key-store.ts';
import { createVisitor } from '#shared/tenants/visitor-store.ts';
import { useRedisClient } from '../../support/redis/use-redis.ts';

const parts = { redis: await useRedisClient(), keys: createKeys(4) };
const counterOf = ({ id }: { id: string }): string => `${parts.keys.fleet.http}:key:${id}`;
const admissions = (): KeyAdmissions => new KeyAdmissions(parts, { counterOf, windowS: 60 });
const chosen = { tenant: 'acme', name: 'chosen', scopes: ['submit' as const], secret: 'a-secret-of-the-operator' };

afterEach(async () => {
  await parts.redis.flushall();
});

describe('calls with a key', () => {
  it('are counted under its id, and the window ends', async () => {
    const { secret, ...key } = await createKey(parts, chosen);
    const all = admissions();
    expect(await all.admit(secret, 3)).toMatchObject({ key, counted: 3, calls: 3 });
    expect(await all.admit(secret, 2)).toMatchObject({ key, counted: 5, calls: 2 });
    const leftMs = await parts.redis.pttl(counterOf(key));
    expect(leftMs).toBeGreaterThan(50_000);
    expect(leftMs).toBeLessThanOrEqual(60_000);
    expect((await all.admit(secret, 1))?.leftMs).toBeLessThanOrEqual(leftMs);
  });

  it('take one trip once its counter is known', async () => {
    const { secret } = await createKey(parts, chosen);
    const all = admissions();
    await all.admit(secret, 1);
    await parts.redis.config('RESETSTAT');
    await all.admit(secret, 1);
    expect(/cmdstat_evalsha:calls=(\d+)/.exec(await parts.redis.info('commandstats'))?.[1]).toBe('1');
  });

  it('of processes that began apart are counted together', async () => {
    const { secret } = await createKey(parts, chosen);
    const [one, other] = [admissions(), admissions()];
    const answers = await Promise.all([one.admit(secret, 1), other.admit(secret, 1), one.admit(secret, 1)]);
    expect(new Set(answers.map((answer) => answer?.counted))).toEqual(new Set([1, 2, 3]));
  });

  it('are taken uncounted while Redis is full, so that what only reads or removes goes on', async () => {
    const { secret, ...key } = await createKey(parts, chosen);
    const all = admissions();
    await parts.redis.config('SET', 'maxmemory', '1mb');
    try {
      expect(await all.admit(secret, 1)).toMatchObject({ key, counted: 0, calls: 1 });
    } finally {
      await parts.redis.config('SET', 'maxmemory', '0');
    }
    expect(await all.admit(secret, 1)).toMatchObject({ key, counted: 1 });
  });

  it('open nothing from the moment on in which it is revoked', async () => {
    const { id, secret } = await createKey(parts, chosen);
    const all = admissions();
    await all.admit(secret, 1);
    await revokeKey(parts, 'acme', id);
    expect(await all.admit(secret, 1)).toBeNull();
  });

  it('count for the new key once another has the same secret', async () => {
    const { secret } = await createKey(parts, chosen);
    const all = admissions();
    await all.admit(secret, 7);
    const { id } = await createKey(parts, { ...chosen, scopes: ['read'] });
    expect(await all.admit(secret, 1)).toMatchObject({ key: { id, scopes: ['read'] }, counted: 1 });
  });

  it('open nothing once its tenant has ended', async () => {
    const { secret } = await createKey(parts, chosen);
    const all = admissions();
    await all.admit(secret, 1);
    await parts.redis.hset(parts.keys.shard(0).tenantStates, 'acme', 'ended');
    expect(await all.admit(secret, 1)).toBeNull();
  });

  it('are refused as unreadable when its record is', async () => {
    const { secret } = await createKey(parts, chosen);
    const [digest = ''] = await parts.redis.hkeys(parts.keys.fleet.apiKeys);
    for (const stored of ['no JSON', '"a text"', '{"id":7}']) {
      await parts.redis.hset(parts.keys.fleet.apiKeys, digest, stored);
      await expect(admissions().admit(secret, 1)).rejects.toMatchObject({ code: 'record.unreadable' });
    }
  });
});

describe("calls with a visitor's token", () => {
  it('are counted under its id', async () => {
    const visitor = await createVisitor(parts, { tenant: 'acme', session: 's', expiresInMs: 60_000 }, 10);
    expect(await admissions().admit(visitor.token, 2)).toMatchObject({ key: { id: visitor.id, session: 's' }, counted: 2 });
  });

  it('open nothing when the token is not known', async () => {
    expect(await admissions().admit(`mv_${'x'.repeat(43)}`, 1)).toBeNull();
  });
});
