import { afterEach, describe, expect, it } from 'vitest';
import { daemonNameSchema } from '#shared/daemons/daemon.ts';
import {
  changeDaemon,
  createDaemon,
  type DaemonSignal,
  findDaemonByToken,
  isAccessGone,
  listDaemonRecords,
  listDaemons,
  parseDaemonSignal,
  readDaemon,
  readDaemons,
  type Registration,
  removeDaemon,
  rotateDaemonToken,
} from '#shared/daemons/index.ts';
import { tokenDigest } from '#shared/daemons/daemon-tokens.ts';
import { hasCode } from '#shared/errors/error-codes.ts';
import { createKeys } from '#shared/redis/keys.ts';
import { cleanTenant } from '#shared/tenants/end-tenant.ts';
import { useRedis, useRedisClient } from '../../support/redis/use-redis.ts';
import { waitFor } from '../../support/wait-for.ts';

const server = await useRedis();
const parts = { redis: await useRedisClient(server), keys: createKeys(4) };
const subscriber = await useRedisClient(server);
const { redis, keys } = parts;

afterEach(async () => {
  await redis.flushall();
});

const REGISTRATION: Registration = { name: 'laptop', user: null, capabilities: null, slots: null, agents: null, enabled: true };

const make = async (given: Partial<Registration> & { tenant?: string } = {}, max = 10): ReturnType<typeof createDaemon> =>
  await createDaemon(parts, { ...REGISTRATION, tenant: 'acme', ...given }, max);

const everything = async (): Promise<string> => {
  const names = await redis.keys('*');
  const stored = await Promise.all(names.map((name) => redis.hgetall(name)));
  return JSON.stringify(stored);
};

describe('a daemon that is registered', () => {
  it('is found by its token, with what its person decided', async () => {
    const { daemon, token } = await make({ user: 'ada', capabilities: ['gpu'], slots: 2, agents: ['coder'] });
    expect(daemon).toMatchObject({ tenant: 'acme', name: 'laptop', user: 'ada', capabilities: ['gpu'], slots: 2, agents: ['coder'] });
    expect(await findDaemonByToken(parts, token)).toEqual(daemon);
    expect(await readDaemon(parts, daemon)).toEqual(daemon);
  });

  it('leaves its token nowhere in Redis', async () => {
    const { token } = await make();
    expect(await everything()).not.toContain(token.slice(3, 20));
  });

  it.each(['', 'md_', 'mk_x', '../..', `md_${'a'.repeat(43)}`])('is not found by %j', async (token) => {
    await make();
    expect(await findDaemonByToken(parts, token)).toBeNull();
  });

  it('has a name that no other of its tenant has, and another tenant may use', async () => {
    await make();
    await expect(make()).rejects.toSatisfy((error) => hasCode(error, 'daemon.name-taken'));
    const { daemon } = await make({ tenant: 'other' });
    expect(await listDaemons(parts, 'other')).toEqual([daemon]);
    expect(await listDaemons(parts, 'acme')).toHaveLength(1);
  });

  it('is one of at most so many, also of those that are registered at once', async () => {
    const made = await Promise.allSettled(Array.from({ length: 8 }, (_, n) => make({ name: `d${n}` }, 3)));
    expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
    expect(await listDaemons(parts, 'acme')).toHaveLength(3);
    await expect(make({ name: 'one more' }, 3)).rejects.toSatisfy((error) => hasCode(error, 'limit.daemons'));
  });

  it('is not registered for a tenant that has ended', async () => {
    await redis.hset(keys.shard(0).tenantStates, 'acme', 'ended');
    await expect(make()).rejects.toSatisfy((error) => hasCode(error, 'tenant.ended'));
    expect(await redis.exists(keys.fleet.daemons('acme'), keys.fleet.daemonTokens, keys.fleet.daemonNames('acme'))).toBe(0);
  });

  it('is not found by a former token, also when that is still listed', async () => {
    const { daemon, token } = await make();
    const rotated = await rotateDaemonToken(parts, daemon);
    await redis.hset(keys.fleet.daemonTokens, tokenDigest(token), `acme/${daemon.id}`);
    expect(await findDaemonByToken(parts, token)).toBeNull();
    expect(await findDaemonByToken(parts, rotated?.token ?? '')).toMatchObject({ id: daemon.id });
  });

  it('is found by nobody while its tenant is disabled', async () => {
    const { daemon, token } = await make();
    await redis.hset(keys.shard(0).tenantStates, 'acme', 'disabled');
    expect(await findDaemonByToken(parts, token)).toBeNull();
    expect(await readDaemons(parts, [daemon])).toEqual([null]);
    await redis.hdel(keys.shard(0).tenantStates, 'acme');
    expect(await readDaemons(parts, [daemon])).toEqual([daemon]);
  });
});

describe('a change of a daemon', () => {
  it('keeps what it does not name', async () => {
    const { daemon } = await make({ capabilities: ['gpu'] });
    expect(await changeDaemon(parts, daemon, { slots: 4 })).toEqual({ ...daemon, slots: 4 });
    expect(await readDaemon(parts, daemon)).toEqual({ ...daemon, slots: 4 });
  });

  it('frees its former name', async () => {
    const { daemon } = await make();
    await changeDaemon(parts, daemon, { name: 'desk' });
    await make();
    await expect(changeDaemon(parts, daemon, { name: 'laptop' })).rejects.toSatisfy((error) => hasCode(error, 'daemon.name-taken'));
    expect((await listDaemons(parts, 'acme')).map(({ name }) => name)).toEqual(['desk', 'laptop']);
  });

  it('loses nothing of another at the same time', async () => {
    const { daemon } = await make();
    await Promise.all([
      changeDaemon(parts, daemon, { slots: 4 }),
      changeDaemon(parts, daemon, { user: 'ada' }),
      rotateDaemonToken(parts, daemon),
    ]);
    expect(await readDaemon(parts, daemon)).toMatchObject({ slots: 4, user: 'ada', tokenGeneration: 2 });
  });

  it('that disables it makes its token open nothing, and one that enables it restores it', async () => {
    const { daemon, token } = await make();
    const disabled = await changeDaemon(parts, daemon, { enabled: false });
    expect(await findDaemonByToken(parts, token)).toBeNull();
    expect(isAccessGone(daemon, disabled)).toBe(true);
    await changeDaemon(parts, daemon, { enabled: true });
    expect(await findDaemonByToken(parts, token)).toEqual(daemon);
  });

  it('of a daemon of another tenant finds none', async () => {
    const { daemon } = await make();
    const other = { tenant: 'other', id: daemon.id };
    expect(await changeDaemon(parts, other, { slots: 4 })).toBeNull();
    expect(await rotateDaemonToken(parts, other)).toBeNull();
    expect(await removeDaemon(parts, other)).toBe(false);
    expect(await readDaemon(parts, other)).toBeNull();
    expect(await readDaemon(parts, daemon)).toEqual(daemon);
  });
});

describe('a rotated token', () => {
  it('is refused, and the new one is accepted', async () => {
    const { daemon, token } = await make();
    const rotated = await rotateDaemonToken(parts, daemon);
    expect(rotated?.token).not.toBe(token);
    expect(await findDaemonByToken(parts, token)).toBeNull();
    expect(await findDaemonByToken(parts, rotated?.token ?? '')).toEqual(rotated?.daemon);
    expect(isAccessGone(daemon, rotated?.daemon ?? null)).toBe(true);
    expect(await redis.hlen(keys.fleet.daemonTokens)).toBe(1);
  });
});

describe('a daemon that is removed', () => {
  it('leaves nothing, and its name is free', async () => {
    const { daemon, token } = await make();
    expect(await removeDaemon(parts, daemon)).toBe(true);
    expect(await removeDaemon(parts, daemon)).toBe(false);
    expect(await findDaemonByToken(parts, token)).toBeNull();
    expect(await redis.keys('*')).toEqual([]);
  });

  it('goes with its tenant, and none of another', async () => {
    const { token } = await make();
    const other = await make({ tenant: 'acme2' });
    await cleanTenant(parts, 'acme');
    expect(await findDaemonByToken(parts, token)).toBeNull();
    expect(await listDaemons(parts, 'acme')).toEqual([]);
    expect(await findDaemonByToken(parts, other.token)).toEqual(other.daemon);
  });

  it('can be one that this version cannot read, which hides no other', async () => {
    const { daemon } = await make();
    await redis.hset(keys.fleet.daemons('acme'), 'dmn_broken', '{}');
    const { items, unreadable } = await listDaemonRecords(parts, 'acme');
    expect([items, unreadable.map(({ id }) => id)]).toEqual([[daemon], ['dmn_broken']]);
    expect(await readDaemons(parts, [{ tenant: 'acme', id: 'dmn_broken' }, daemon])).toEqual([null, daemon]);
    await redis.hset(keys.fleet.daemonNames('acme'), 'broken', 'dmn_broken');
    expect(await removeDaemon(parts, { tenant: 'acme', id: 'dmn_broken' })).toBe(true);
    expect(await redis.hkeys(keys.fleet.daemonNames('acme'))).toEqual(['laptop']);
  });
});

it('each change of a registration is published to the hubs', async () => {
  const signals: (DaemonSignal | null)[] = [];
  subscriber.on('message', (_channel: string, text: string) => signals.push(parseDaemonSignal(text)));
  await subscriber.subscribe(keys.fleet.daemonSignal);
  const { daemon } = await make();
  await changeDaemon(parts, daemon, { slots: 1 });
  await rotateDaemonToken(parts, daemon);
  await removeDaemon(parts, daemon);
  await waitFor(() => signals.length === 3, { deadlineMs: 5000, what: '3 messages' });
  expect(signals).toEqual(Array.from({ length: 3 }, () => ({ kind: 'changed', tenant: 'acme', id: daemon.id })));
});

it('a message that is none is no signal', () => {
  for (const text of ['', '{', '{}', '{"kind":"else"}', 'null']) expect(parseDaemonSignal(text)).toBeNull();
});

it.each([
  ['laptop', true],
  ["Ada's Mac-Book 2.local", true],
  ['dmn_laptop', false],
  ['', false],
  [' x', false],
  ['a/b', false],
  ['a\nb', false],
  ['x'.repeat(65), false],
])('the name %j is allowed: %s', (name, isAllowed) => {
  expect(daemonNameSchema.safeParse(name).success).toBe(isAllowed);
});
