import { beforeEach, expect, test } from 'vitest';
import { Seal } from '#shared/tenants/sealing/seal.ts';
import { createKeys } from '#shared/redis/keys.ts';
import { hookDraftSchema, type Hook } from '../../../services/webhooks/hook.ts';
import { HookStore } from '../../../services/webhooks/hook-store.ts';
import { useRedisClient } from '../../support/redis/use-redis.ts';

const ID = (n: number): string => `01ARZ3NDEKTSV4RRFFQ69G5F${String(n).padStart(2, '0')}`;
const keys = createKeys(2);
let store: HookStore;

const redis = await useRedisClient();
beforeEach(async () => {
  await redis.flushall();
  store = new HookStore({ redis, keys, seal: new Seal(), maxHooksPerTenant: 5 });
});

function hook(n: number, tenant = 'acme'): Hook {
  const draft = hookDraftSchema.parse({ provider: 'github', secret: `secret-${n}`, agent: 'echo', priority: { 'payment*': 8 } });
  return { ...draft, formerSecrets: [], id: ID(n), tenant, createdAt: '2026-01-01T00:00:00.000Z', updatedAt: '2026-01-01T00:00:00.000Z' };
}

test('a hook is found by its tenant, and by its id alone, and not by another tenant', async () => {
  await store.create(hook(1));
  expect(await store.find('acme', ID(1))).toEqual(hook(1));
  expect(await store.findAnywhere(ID(1))).toEqual(hook(1));
  expect(await store.find('rival', ID(1))).toBeNull();
  expect(await store.remove('rival', ID(1))).toBe(false);
  expect(await store.findAnywhere(ID(2))).toBeNull();
  expect(await store.findAnywhere(ID(1))).toEqual(hook(1));
});

test('hooks are listed page by page in the order they were made, each tenant its own', async () => {
  for (const n of [3, 1, 2]) await store.create(hook(n));
  await store.create(hook(4, 'rival'));
  const first = await store.list('acme', { limit: 2, cursor: null });
  expect(first).toEqual({ hooks: [hook(1), hook(2)], unreadable: [], nextCursor: ID(2) });
  expect(await store.list('acme', { limit: 2, cursor: first.nextCursor })).toEqual({ hooks: [hook(3)], unreadable: [], nextCursor: null });
  expect(await store.list('nobody', { limit: 2, cursor: null })).toEqual({ hooks: [], unreadable: [], nextCursor: null });
});

test('a tenant has at most its number of hooks, also when ten are made at once', async () => {
  const made = await Promise.allSettled(Array.from({ length: 10 }, (_, n) => store.create(hook(n))));
  const refused = made.filter((result) => result.status === 'rejected');
  const { hooks } = await store.list('acme', { limit: 100, cursor: null });
  expect(hooks.length).toBeLessThanOrEqual(5);
  expect(hooks).toHaveLength(10 - refused.length);
  expect(refused[0]?.reason).toMatchObject({ code: 'request.invalid' });
  expect(await redis.hlen(keys.fleet.hookOwners)).toBe(hooks.length);
  await store.create(hook(20, 'rival'));
});

test('the last free place is taken, and given again after a removal', async () => {
  for (const n of [1, 2, 3, 4, 5]) await store.create(hook(n));
  await expect(store.create(hook(6))).rejects.toMatchObject({ code: 'request.invalid' });
  expect(await store.findAnywhere(ID(6))).toBeNull();
  expect(await store.remove('acme', ID(1))).toBe(true);
  await store.create(hook(6));
});

test('a removed hook is found by nobody, and a late change does not bring it back', async () => {
  await store.create(hook(1));
  const rename = (): Promise<Hook | null> => store.change('acme', ID(1), (seen) => ({ ...seen, name: 'changed' }));
  expect(await rename()).toMatchObject({ name: 'changed' });
  expect(await store.findAnywhere(ID(1))).toMatchObject({ name: 'changed' });
  expect(await store.remove('acme', ID(1))).toBe(true);
  expect(await store.remove('acme', ID(1))).toBe(false);
  expect(await rename()).toBeNull();
  expect(await store.find('acme', ID(1))).toBeNull();
  expect(await redis.keys('*')).toEqual([]);
});

test('changes and a removal at the same time leave nothing behind', async () => {
  for (let round = 0; round < 50; round += 1) {
    await store.create(hook(1));
    const same = (): Promise<Hook | null> => store.change('acme', ID(1), (seen) => seen);
    await Promise.all([same(), store.remove('acme', ID(1)), same()]);
    expect(await store.find('acme', ID(1))).toBeNull();
  }
});

test('a change of a hook whose tenant has ended is refused', async () => {
  await store.create(hook(1));
  await redis.hset(keys.shard(keys.shardOf('acme')).tenantStates, 'acme', 'ended');
  await expect(store.change('acme', ID(1), (seen) => seen)).rejects.toMatchObject({ code: 'tenant.ended' });
});
