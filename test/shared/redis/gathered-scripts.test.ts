import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runGathered } from '#shared/redis/gathered-scripts.ts';
import { loadScripts, type Script } from '#shared/redis/script.ts';
import { useFolder } from '../../support/use-folder.ts';
import { useRedis, useRedisClient } from '../../support/redis/use-redis.ts';

const server = await useRedis();
const redis = await useRedisClient(server);
const folder = await useFolder('muster gathered ');
const header = '-- KEYS[1] total: a number\n-- ARGV[1] more: a number\n-- RETURNS the total\n';
await writeFile(join(folder, 'add.lua'), `${header}local more = ARGV[1]\nreturn redis.call('INCRBY', KEYS[1], more)\n`);
await writeFile(join(folder, 'set.lua'), `${header}redis.call('SET', KEYS[1], ARGV[1])\n`);
const scripts = loadScripts(folder);

const run = async (name: 'add' | 'set', key: string, value: number): Promise<unknown> =>
  await runGathered(redis, scripts.get(name) as Script, [key], [value]);

async function scriptCalls(work: () => Promise<void>): Promise<number> {
  await redis.config('RESETSTAT');
  await work();
  const stats = await redis.info('commandstats');
  return [...stats.matchAll(/^cmdstat_eval(?:sha)?:calls=(\d+)/gm)].reduce((total, [, count]) => total + Number(count), 0);
}

async function setThenAdd(): Promise<void> {
  const later = Promise.resolve()
    .then(() => null)
    .then(() => run('add', '{a}', 2));
  expect(await Promise.all([run('set', '{a}', 10), run('add', '{a}', 1), later])).toEqual([null, 11, 13]);
}

async function useTwoTags(): Promise<void> {
  expect(await Promise.all([run('set', '{b}', 1), run('set', '{c}', 2), run('add', '{b}', 1)])).toEqual([null, null, 2]);
}

async function addOften(): Promise<void> {
  await Promise.all(Array.from({ length: 100 }, () => run('add', '{e}', 1)));
}

describe('scripts of one turn', () => {
  it('run in one call, in their order, also those that started a few steps later', async () => {
    await setThenAdd();
    expect(await scriptCalls(setThenAdd)).toBe(1);
  });

  it('run in a call for each hash tag', async () => {
    await useTwoTags();
    expect(await scriptCalls(useTwoTags)).toBe(2);
  });

  it('fail each for itself', async () => {
    await redis.set('{d}', 'not a number');
    const [failed, done] = await Promise.allSettled([run('add', '{d}', 1), run('add', '{d}1', 1)]);
    expect(failed).toMatchObject({ status: 'rejected' });
    expect(String((failed as PromiseRejectedResult).reason)).toContain('not an integer');
    expect(done).toEqual({ status: 'fulfilled', value: 1 });
  });

  it('run in bounded calls', async () => {
    await addOften();
    expect(await scriptCalls(addOften)).toBe(4);
    expect(await redis.get('{e}')).toBe('200');
  });

  it('fail together when the server is away', async () => {
    const lost = await useRedisClient(server);
    lost.disconnect();
    const add = scripts.get('add') as Script;
    const ended = await Promise.allSettled([runGathered(lost, add, ['{f}'], [1]), runGathered(lost, add, ['{f}'], [1])]);
    expect(ended.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });
});
