import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { settingsSchema } from '#shared/config/settings/settings.ts';
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

const ROOT = new URL('../../../', import.meta.url);
/** Every file of the product that may write a key. */
const SOURCES = ['shared', 'services'].flatMap((folder) =>
  readdirSync(new URL(folder, ROOT), { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.(?:ts|lua)$/.test(path))
    .map((path) => `${folder}/${path}`),
);

/** A write in a script of the ledger: its command, and the key as the script has it. */
const WRITE = /(?:redis\.p?call|call_many)\('(\w+)', (KEYS\[\d+\]|[\w.]+)|write_shared\(context, '(\w+)', ([\w.]+)/g;
const READS =
  /^(?:EXISTS|TIME|TYPE|H?GET|HMGET|HGETALL|HEXISTS|HLEN|HKEYS|MGET|H?STRLEN|X(?:LEN|RANGE|REVRANGE)|Z(?:M?SCORE|CARD|RANK|COUNT|LEXCOUNT|RANGE\w*|REVRANGE\w*))$/;
/** Keys that scripts call otherwise than the program does. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  held: 'laneHeld',
  wait: 'laneWait',
  channel: 'signal',
  workers: 'workerSignal',
  tree: 'taskTree',
};

/** By key, the scripts of the ledger that write it. What they compute is not seen. */
const LEDGER_WRITERS = new Map<string, string[]>();
for (const path of SOURCES.filter((each) => /^shared\/ledger\/scripts\/.*\.lua$/.test(each))) {
  const text = readFileSync(new URL(path, ROOT), 'utf8');
  const inHeader = new Map([...text.matchAll(/^-- (KEYS\[\d+\]) (\w+):/gm)].map(([, key = '', name = '']) => [key, name]));
  for (const [, first, key, second, sharedKey] of text.matchAll(WRITE)) {
    const written = key ?? sharedKey ?? '';
    const name = inHeader.get(written) ?? written.split('.').at(-1) ?? '';
    const property = OTHER_NAMES[name] ?? name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
    if (READS.test(first ?? second ?? '')) continue;
    LEDGER_WRITERS.set(property, [...(LEDGER_WRITERS.get(property) ?? []), path.split('/').at(-1) ?? '']);
  }
}

describe('the comment of a key', () => {
  const TYPE =
    /^(String|Hash|List|Set|Sorted set|Sorted set, scores 0|Stream|Channel|Prefix): \S.*\. Written by: \S.*\. Kept: \S.*\. Bound: \S.*\.$/;
  const settings: unknown = settingsSchema.parse({});
  const folder = new URL('../../../shared/redis/', import.meta.url);
  const entries = ['keys.ts', 'fleet-keys.ts', 'tenant-keys.ts', 'openai-keys.ts'].flatMap((file) => {
    const text = readFileSync(new URL(file, folder), 'utf8');
    const found = [...text.matchAll(/^ {4}\/\*\*(.*?)\*\/\n {4}(\w+): /gms)];
    return found.map(([, comment = '', name = '']) => [name, comment.replaceAll(/\s*\n\s+\*?\s*/g, ' ').trim(), file] as const);
  });
  const isSetting = (path: string): boolean =>
    path.split('.').reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], settings) !== undefined;

  it('is there for every key', () => {
    const keys = createKeys(1);
    const names = [keys.fleet, keys.shard(0), keys.tenant('x')].flatMap((part) => Object.keys(part));
    expect(entries.map(([name]) => name).toSorted()).toEqual(names.toSorted());
  });

  it.each(entries)('names the type of %s, what writes it, how long it is kept, and what bounds it', (_name, comment) => {
    expect(comment).toMatch(TYPE);
  });

  it.each(entries)('names one file for each that writes %s', (_name, comment) => {
    const [, writers = ''] = / Written by: (.*?)\. Kept: /.exec(comment) ?? [];
    const named = [...writers.matchAll(/`([^`]+)`/g)].map(([, path = '']) => path);
    expect(named.map((path) => [path, SOURCES.filter((source) => `/${source}`.endsWith(`/${path}`)).length])).toEqual(
      named.map((path) => [path, 1]),
    );
  });

  // The ledger writes no key of the fleet by a script.
  const ofLedger = entries.filter(([name, , file]) => file !== 'fleet-keys.ts' && LEDGER_WRITERS.has(name));

  it.each(ofLedger)('names the scripts of the ledger that write %s', (name, comment) => {
    const [, writers = ''] = / Written by: (.*?)\. Kept: /.exec(comment) ?? [];
    const missing = (LEDGER_WRITERS.get(name) ?? []).filter((file) => !writers.includes(`\`${file}\``) && !writers.endsWith(' and others'));
    expect(missing).toEqual([]);
  });

  it('of the scripts of the ledger is compared with what they write', () => {
    expect(ofLedger.length).toBeGreaterThan(20);
  });

  it.each(entries)('names settings that exist for %s', (_name, comment) => {
    const settingsNamed = [...comment.slice(comment.indexOf('Kept:')).matchAll(/`(\w+(?:\.\w+)+)`/g)].map(([, path = '']) => path);
    expect(settingsNamed.filter((path) => !isSetting(path))).toEqual([]);
  });
});
