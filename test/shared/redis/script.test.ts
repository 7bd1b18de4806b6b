import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runTogether } from '#shared/redis/run-together.ts';
import { loadScripts, runScript, type Script } from '#shared/redis/script.ts';
import { useFolder } from '../../support/use-folder.ts';
import { useRedis, useRedisClient } from '../../support/redis/use-redis.ts';

const server = await useRedis();
const redis = await useRedisClient(server);
const folder = await useFolder('muster scripts ');
await mkdir(join(folder, 'include', 'sums'), { recursive: true });
await writeFile(join(folder, 'include', 'sums', 'twice.lua'), 'local function twice(n) return n * 2 end\n');
const addition = ({ body = 'twice(ARGV[1]) + GIVEN' } = {}): string => `return redis.call('INCRBY', KEYS[1], ${body})\n`;
const script =
  '-- Adds.\n-- KEYS[1] total: a number\n-- ARGV[1] more: a number\n-- RETURNS the total\n-- include: twice\n-- include: given\n';
await writeFile(join(folder, 'add-twice.lua'), `${script}${addition()}`);
await writeFile(
  join(folder, 'include', 'calls.lua'),
  'local more\nlocal function begin_calls(common) more = common end\nlocal function end_calls() return more end\n',
);
await writeFile(join(folder, 'add-all.lua'), `${script}-- include: calls\n${addition({ body: 'twice(ARGV[1]) + GIVEN + more' })}`);
const echo = '-- Echoes.\n-- KEYS[1...] any: text\n-- ARGV[1...] any: text\n-- include: calls\nreturn { more, KEYS, ARGV }\n';
await writeFile(join(folder, 'echo.lua'), echo);
await writeFile(join(folder, 'measure.lua'), echo.replace('{ more, KEYS, ARGV }', '#ARGV[1] + #ARGV[3]'));
const scripts = loadScripts(folder, { given: 'local GIVEN = 100\n' });

const run = async (key: string, more: number): Promise<unknown> =>
  await runScript(redis, scripts.get('add-twice') as Script, [key], [more]);

const bytesReceived = async (): Promise<number> => Number(/total_net_input_bytes:(\d+)/.exec(await redis.info('stats'))?.[1]);

const together = async (...keys: string[]): ReturnType<typeof runTogether> =>
  await runTogether(
    redis,
    scripts.get('add-all') as Script,
    keys.map((key, at) => ({ keys: [key], args: [at] })),
    '1000',
  );

describe('a script', () => {
  it('is read with its includes, those of its folder and those of its caller', async () => {
    expect(await run('a', 1)).toBe(102);
  });

  it('runs by its source again after the server forgot it', async () => {
    await run('b', 1);
    await redis.script('FLUSH');
    expect(await run('b', 1)).toBe(204);
    expect(await redis.script('EXISTS', scripts.get('add-twice')?.sha ?? '')).toEqual([1]);
  });

  it('runs once per call when many calls meet a server that does not have it', async () => {
    await redis.script('FLUSH');
    await Promise.all(Array.from({ length: 50 }, () => run('c', 0)));
    expect(await redis.get('c')).toBe('5000');
  });

  it('throws the server’s error', async () => {
    await redis.set('d', 'not a number');
    await expect(run('d', 1)).rejects.toThrow('not an integer');
  });

  it('cannot be run with another number of keys than its header has', async () => {
    await expect(runScript(redis, scripts.get('add-twice') as Script, ['a', 'b'], [1])).rejects.toThrow('takes 1 keys, not 2');
    await expect(runScript(redis, scripts.get('add-twice') as Script, [], [1])).rejects.toThrow('takes 1 keys, not 0');
  });
});

describe('calls of a script that run together', () => {
  it('answer in order, each for its own keys and arguments, also after the server forgot the script', async () => {
    expect(await together('e', 'f', 'e')).toEqual({ replies: [1100, 1102, 2204], end: '1000' });
    await redis.script('FLUSH');
    expect((await together('f')).replies).toEqual([2202]);
  });

  it('take as many arguments as there are', async () => {
    const args = Array.from({ length: 9000 }, () => 0);
    const call = { keys: ['many'], args: [1, ...args] };
    const { replies } = await runTogether(redis, scripts.get('add-all') as Script, [call, { keys: ['many'], args: [2] }], '0');
    expect(replies).toEqual([102, 206]);
  });

  it('get their own keys and arguments, whatever they share with others and how many there are', async () => {
    const texts = fc.oneof(
      fc.array(fc.constantFrom('', 'a', 'b'), { minLength: 1, maxLength: 6 }),
      fc.constantFrom(39, 40, 41, 90, 5000).map((length) => Array.from({ length }, (_, at) => `${at % 7}`)),
    );
    const calls = fc.array(fc.record({ keys: texts, args: texts }), { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(calls, async (all) => {
        const { replies, end } = await runTogether(redis, scripts.get('echo') as Script, all, 'common');
        expect(replies).toEqual(all.map(({ keys, args }) => ['common', keys, args]));
        expect(end).toBe('common');
      }),
      { numRuns: 60 },
    );
  });

  it('send what they share once', async () => {
    const text = 'x'.repeat(100_000);
    const calls = Array.from({ length: 20 }, (_, at) => ({ keys: ['shared', `own${at}`], args: [text, at, text] }));
    const before = await bytesReceived();
    const { replies } = await runTogether(redis, scripts.get('measure') as Script, calls, '');
    expect(replies).toEqual(calls.map(() => 200_000));
    expect((await bytesReceived()) - before).toBeLessThan(1_000_000);
  });

  it('do not fail with one that fails', async () => {
    await redis.set('g', 'not a number');
    const [first, second, third] = (await together('h', 'g', 'i')).replies;
    expect([first, third]).toEqual([1100, 1104]);
    expect(second).toEqual(new Error('ERR value is not an integer or out of range'));
  });

  it('cannot have another number of keys than its header has', async () => {
    const call = { keys: ['a', 'b'], args: [1] };
    await expect(runTogether(redis, scripts.get('add-all') as Script, [call], '')).rejects.toThrow('takes 1 keys, not 2');
  });
});
