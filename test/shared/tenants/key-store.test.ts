import { afterEach, describe, expect, it } from 'vitest';
import { createLog } from '#shared/log/create-log.ts';
import { createKeys } from '#shared/redis/keys.ts';
import { ensureFirstKey } from '#shared/tenants/ensure-first-key.ts';
import { createKey, findKey, hasScope, listKeys, revokeKey, type Scope, SCOPES } from '#shared/tenants/key-store.ts';
import { useRedisClient } from '../../support/redis/use-redis.ts';

const parts = { redis: await useRedisClient(), keys: createKeys(4) };

afterEach(async () => {
  await parts.redis.flushall();
});

const make = async (tenant = 'acme', scopes: Scope[] = ['submit']): ReturnType<typeof createKey> =>
  await createKey(parts, { tenant, name: 'ci', scopes });

describe('a key', () => {
  it('is found by its secret and by nothing else', async () => {
    const { secret, ...key } = await make();
    expect(secret).toMatch(/^mk_[A-Za-z0-9_-]{43}$/);
    expect(await findKey(parts, secret)).toEqual(key);
    for (const other of [secret.slice(0, -1), secret.toLowerCase(), key.id, '', `${secret} `])
      expect(await findKey(parts, other)).toBeNull();
  });

  it('is different each time', async () => {
    const all = await Promise.all(Array.from({ length: 50 }, () => make()));
    expect(new Set(all.map(({ secret }) => secret)).size).toBe(50);
    expect(new Set(all.map(({ id }) => id)).size).toBe(50);
  });

  it('opens nothing once its tenant has ended', async () => {
    const { secret } = await make();
    await parts.redis.hset(parts.keys.shard(0).tenantStates, 'acme', 'ended');
    expect(await findKey(parts, secret)).toBeNull();
  });

  it('leaves its secret nowhere in Redis', async () => {
    const { secret } = await make();
    const stored = JSON.stringify(await parts.redis.hgetall(parts.keys.fleet.apiKeys));
    expect(stored).not.toContain(secret);
    expect(stored).not.toContain(secret.slice(3, 20));
  });

  it('is listed for its own tenant, oldest first, without the secret', async () => {
    const first = await make();
    await make('other');
    const listed = await listKeys(parts, 'acme');
    expect(listed.map(({ id }) => id)).toEqual([first.id]);
    expect(JSON.stringify(listed)).not.toContain(first.secret);
  });

  it('opens nothing once it is revoked, which its own tenant alone can do, once', async () => {
    const { id, secret } = await make();
    expect(await revokeKey(parts, 'other', id)).toBe(false);
    expect(await findKey(parts, secret)).not.toBeNull();
    expect([await revokeKey(parts, 'acme', id), await revokeKey(parts, 'acme', id)]).toEqual([true, false]);
    expect(await findKey(parts, secret)).toBeNull();
  });

  it('takes the place of an earlier one with the same chosen secret', async () => {
    const chosen = { tenant: 'acme', name: 'chosen', secret: 'a-secret-of-the-operator' };
    await createKey(parts, { ...chosen, scopes: ['admin'] });
    await createKey(parts, { ...chosen, scopes: ['read'] });
    expect((await listKeys(parts, 'acme')).map(({ scopes }) => scopes)).toEqual([['read']]);
  });
});

const warnings: string[] = [];
const log = createLog({ level: 'warn', service: 'test', destination: { write: (line) => warnings.push(line) } });
const ensure = async (chosen?: string): Promise<string | null> =>
  await ensureFirstKey({ ...parts, log, config: { env: { MUSTER_ADMIN_KEY: chosen } } });

describe('the first key', () => {
  it('is made when there is none, with every scope, and told once', async () => {
    const secret = await ensure();
    expect(await findKey(parts, `${secret}`)).toMatchObject({ tenant: 'default', scopes: ['admin'] });
    expect(await ensure()).toBeNull();
    expect(await listKeys(parts, 'default')).toHaveLength(1);
  });

  it('is the operator’s when one was chosen, and is never told', async () => {
    expect([await ensure('chosen-by-the-operator'), await ensure('chosen-by-the-operator')]).toEqual([null, null]);
    expect(await findKey(parts, 'chosen-by-the-operator')).toMatchObject({ tenant: 'default', scopes: ['admin'] });
    expect(await listKeys(parts, 'default')).toHaveLength(1);
  });

  it('may be short, which is said once', async () => {
    warnings.length = 0;
    await ensure('test-key');
    await ensure('test-key');
    expect(await findKey(parts, 'test-key')).toMatchObject({ scopes: ['admin'] });
    expect(warnings.map((line) => (JSON.parse(line) as { event: string }).event)).toEqual(['key.short']);
    expect(warnings[0]).not.toContain('test-key');
    warnings.length = 0;
  });

  it('leaves another one that was there valid, and says so once, by its id', async () => {
    await ensure('chosen-by-the-operator');
    expect(warnings).toEqual([]);
    const [first] = await listKeys(parts, 'default');
    await ensure('chosen-after-a-leak');
    await ensure('chosen-after-a-leak');
    expect(await findKey(parts, 'chosen-by-the-operator')).not.toBeNull();
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain(`earlier admin keys stay valid: ${first?.id}.`);
    expect(warnings[0]).not.toContain('chosen-');
  });

  it('is made again when only keys with less are left', async () => {
    await createKey(parts, { tenant: 'default', name: 'reader', scopes: ['read'] });
    expect(await ensure()).not.toBeNull();
  });

  it('is one, when several processes start at once', async () => {
    const secrets = await Promise.all(Array.from({ length: 10 }, () => ensure()));
    expect(secrets.filter((secret) => secret !== null)).toHaveLength(1);
    expect(await listKeys(parts, 'default')).toHaveLength(1);
  });
});

describe('the keys of a tenant', () => {
  it('are found among those of many others, without reading all at once', async () => {
    for (let count = 0; count < 1200; count += 1) await createKey(parts, { tenant: `other-${count}`, name: 'one', scopes: ['read'] });
    const made = await createKey(parts, { tenant: 'acme', name: 'one', scopes: ['read'] });
    await parts.redis.config('RESETSTAT');
    expect((await listKeys(parts, 'acme')).map(({ id }) => id)).toEqual([made.id]);
    expect(await revokeKey(parts, 'acme', made.id)).toBe(true);
    expect(await listKeys(parts, 'acme')).toEqual([]);
    expect(await parts.redis.info('commandstats')).not.toContain('cmdstat_hgetall');
  });
});

describe('scopes', () => {
  it.each([
    ['admin', SCOPES],
    ['operate', ['operate', 'journal', 'submit', 'answer', 'read', 'scaling', 'visit']],
    ['journal', ['journal', 'read', 'scaling', 'visit']],
    ['submit', ['submit', 'read', 'scaling', 'visit']],
    ['answer', ['answer', 'read', 'scaling', 'visit']],
    ['read', ['read', 'scaling', 'visit']],
    ['scaling', ['scaling']],
    ['visit', ['visit']],
  ] as const)('%s includes these', (scope, included) => {
    expect(SCOPES.filter((wanted) => hasScope([scope], wanted))).toEqual(included);
  });

  it('of none include none', () => {
    expect(SCOPES.filter((wanted) => hasScope([], wanted))).toEqual([]);
  });
});
