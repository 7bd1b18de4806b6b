import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '#shared/config/load-config.ts';
import { MAX_KEPT_MS, MAX_TIMER_MS, maxDurationMs } from '#shared/config/settings/durations.ts';
import { settingsSchema } from '#shared/config/settings/settings.ts';

/** Names of settings and their values, of those that are durations. */
function durationsIn(value: unknown, path: readonly string[] = []): [path: string[], value: number][] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]: [string, unknown]) => {
    if (typeof member === 'number' && name.endsWith('Ms')) return [[[...path, name], member] as [string[], number]];
    return durationsIn(member, [...path, name]);
  });
}

const DURATIONS = durationsIn(settingsSchema.parse({}));

function settingsWith(path: readonly string[], value: number): object {
  return path.toReversed().reduce<unknown>((inner, name) => ({ [name]: inner }), value) as object;
}

const problemsOf = (path: readonly string[], value: number): string[] =>
  (settingsSchema.safeParse(settingsWith(path, value)).error?.issues ?? [])
    .filter((issue) => issue.path.join('.') === path.join('.'))
    .map(({ message }) => message);

describe('durations of the configuration', () => {
  it('there are many', () => {
    expect(DURATIONS.length).toBeGreaterThan(140);
  });

  it.each(DURATIONS.map(([path]) => [path.join('.'), path] as const))('%s has a maximum', (_name, path) => {
    const max = maxDurationMs(path.at(-1) ?? '');
    expect(problemsOf(path, max + 1)).not.toEqual([]);
    expect(problemsOf(path, 9e15)).not.toEqual([]);
  });

  it('what a timer runs is below what Node can wait for, and what is kept is not', () => {
    const timers = DURATIONS.filter(([path]) => maxDurationMs(path.at(-1) ?? '') === MAX_TIMER_MS);
    expect(2 * MAX_TIMER_MS).toBeLessThan(2 ** 31);
    expect(timers.filter(([, value]) => value > MAX_TIMER_MS)).toEqual([]);
    expect(problemsOf(['hub', 'graceMs'], 3_000_000_000)).toEqual(['expected at most 1000000000 (11 days), got 3000000000']);
    expect(problemsOf(['tasks', 'retentionMs'], 3_000_000_000)).toEqual([]);
  });

  it('is refused by its name before anything starts, also inside a record', async () => {
    const providers = { one: { baseUrl: 'https://x.example', timeoutMs: 3e9 } };
    expect(settingsSchema.safeParse({ providers }).success).toBe(false);
    await expect(loadConfig({ SHUTDOWN_GRACE_MS: '3000000000' }, '/')).rejects.toMatchObject({
      code: 'config.invalid',
      message: expect.stringContaining('SHUTDOWN_GRACE_MS: expected a whole number, 0 to 1000000000'),
    });
  });
});

interface Schema {
  $ref?: string;
  maximum?: number;
  properties?: Record<string, Schema>;
  [name: string]: unknown;
}

const openapi = JSON.parse(readFileSync(new URL('../../../docs/openapi.json', import.meta.url), 'utf8')) as {
  paths: Record<string, Record<string, { requestBody?: Schema; parameters?: { name: string; schema: Schema }[] }>>;
};

/** Durations that a schema takes: name, and its maximum in any of its forms. */
function durationsOf(schema: unknown, seen: ReadonlySet<unknown> = new Set()): [string, number][] {
  if (typeof schema !== 'object' || schema === null || seen.has(schema)) return [];
  const { $ref } = schema as Schema;
  if ($ref !== undefined) return durationsOf(resolve($ref), new Set([...seen, schema]));
  return Object.entries(schema).flatMap(([name, member]) => {
    if (name.startsWith('example')) return [];
    const inner = durationsOf(member, new Set([...seen, schema]));
    return name.endsWith('Ms') ? inner.concat([[name, maximumOf(member)]]) : inner;
  });
}

function resolve(ref: string): unknown {
  return ref
    .slice(2)
    .split('/')
    .reduce<unknown>((value, name) => (value as Record<string, unknown>)[name], openapi);
}

function maximumOf(schema: unknown): number {
  const [found] = /"maximum":(\d+)/.exec(JSON.stringify(schema))?.slice(1) ?? [];
  return found === undefined ? Infinity : Number(found);
}

it('each duration that the API takes has a maximum', () => {
  const calls = Object.entries(openapi.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { requestBody, parameters = [] }]) => {
      const ofQuery = parameters
        .filter(({ name }) => name.endsWith('Ms'))
        .map(({ name, schema }): [string, number] => [name, maximumOf(schema)]);
      return durationsOf(requestBody)
        .concat(ofQuery)
        .map(([name, max]) => ({ call: `${method} ${path}`, name, max }));
    }),
  );
  expect(calls.length).toBeGreaterThan(10);
  expect(calls.filter(({ name, max }) => max > maxDurationMs(name))).toEqual([]);
  expect(calls.every(({ max }) => max <= MAX_KEPT_MS)).toBe(true);
});
