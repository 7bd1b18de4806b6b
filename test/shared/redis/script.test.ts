import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadScripts, runScript, type Script } from '#shared/redis/script.ts';
import { useFolder } from '../../support/use-folder.ts';
import { useRedis, useRedisClient } from '../../support/redis/use-redis.ts';

const server = await useRedis();
const redis = await useRedisClient(server);
const folder = await useFolder('muster scripts ');
await mkdir(join(folder, 'include'));
await writeFile(join(folder, 'include', 'twice.lua'), 'local function twice(n) return n * 2 end\n');
const script =
  '-- Adds.\n-- KEYS[1] total: a number\n-- ARGV[1] more: a number\n-- RETURNS the total\n-- include: twice\n-- include: given\n';
await writeFile(join(folder, 'add-twice.lua'), `${script}return redis.call('INCRBY', KEYS[1], twice(ARGV[1]) + GIVEN)\n`);
const scripts = loadScripts(folder, { given: 'local GIVEN = 100\n' });

const run = async (key: string, more: number): Promise<unknown> =>
  await runScript(redis, scripts.get('add-twice') as Script, [key], [more]);

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
