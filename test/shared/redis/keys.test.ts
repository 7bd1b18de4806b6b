import { describe, expect, it } from 'vitest';
import { createKeys, type Keys } from '#shared/redis/keys.ts';

const TENANTS = Array.from({ length: 200 }, (_, number) => `tenant-${number}`);

/** The names of all keys that a folder of key names has, functions called with `name`. */
const namesOf = (keys: object, name: string): string[] =>
  Object.values(keys).map((value: unknown) =>
    typeof value === 'function' ? (value as (name: string) => string)(name) : (value as string),
  );

const tenantNames = (keys: Keys, tenant: string, name = 'x'): string[] => namesOf(keys.tenant(tenant), name);
/** What Redis Cluster hashes: between the first brace and the next. */
const tagOf = (key: string): string => /\{([^}]+)\}/.exec(key)?.[1] ?? '';

describe.each([1, 4, 16])('the keys of an installation with %i shard(s)', (shards) => {
  const keys = createKeys(shards);

  it('have one hash tag per shard, the same for all of a tenant’s, so that every script is single-slot', () => {
    for (const tenant of TENANTS) {
      const shard = keys.shardOf(tenant);
      const names = [...tenantNames(keys, tenant), ...namesOf(keys.shard(shard), 'x')];
      expect(new Set(names.map(tagOf))).toEqual(new Set([`s${shard}`]));
    }
  });

  it('put the fleet’s own on the first shard', () => {
    expect(new Set(namesOf(keys.fleet, 'x').map(tagOf))).toEqual(new Set(['s0']));
  });

  it('spread tenants over every shard, and always the same way', () => {
    expect(new Set(TENANTS.map((tenant) => keys.shardOf(tenant))).size).toBe(shards);
    expect(TENANTS.map((tenant) => createKeys(shards).shardOf(tenant))).toEqual(TENANTS.map((tenant) => keys.shardOf(tenant)));
  });

  it('are different for different tenants and names', () => {
    const names = TENANTS.flatMap((tenant) => [...tenantNames(keys, tenant, 'a'), ...tenantNames(keys, tenant, 'b')]);
    const plain = TENANTS.length * Object.values(keys.tenant('x')).filter((value) => typeof value === 'string').length;
    expect(new Set(names).size).toBe(names.length - plain);
  });
});

describe('a name chosen by a caller', () => {
  const keys = createKeys(4);
  const EVIL = ['{s9}', '}', '{', 'a:held', 'a:wait', ':', '../x', 'a b', 'ä', ''];

  it.each(EVIL)('cannot move a key to another slot: "%s"', (name) => {
    for (const key of tenantNames(keys, 'acme', name)) expect(tagOf(key)).toBe(`s${keys.shardOf('acme')}`);
  });

  it('cannot make two lanes share a key', () => {
    const tenant = keys.tenant('acme');
    const names = EVIL.flatMap((name) => [tenant.laneHeld(name), tenant.laneWait(name)]);
    expect(new Set(names).size).toBe(names.length);
  });
});
