import { beforeEach, expect, it } from 'vitest';
import { settingsSchema } from '#shared/config/settings/settings.ts';
import { createLog } from '#shared/log/create-log.ts';
import { beatProcess, type ProcessIdentity, removeProcess } from '#shared/queue/registry/process-registry.ts';
import { beat } from '#shared/queue/registry/worker-registry.ts';
import { assertInstallation, installationProblem, readForeignProcesses } from '#shared/redis/installation.ts';
import { createKeys, type Keys } from '#shared/redis/keys.ts';
import { useRedisClient } from '../../support/redis/use-redis.ts';

const redis = await useRedisClient();
const lines: object[] = [];
const log = createLog({ level: 'info', service: 'test', destination: { write: (line) => lines.push(JSON.parse(line)) } });
beforeEach(async () => {
  lines.length = 0;
  await redis.flushall();
});

const assertWith = (keys: Keys): Promise<void> => assertInstallation({ redis, keys, log });

it('an empty Redis is taken, and found again', async () => {
  const keys = createKeys(4);
  await assertWith(keys);
  await assertWith(keys);
  expect(await redis.keys('*')).toEqual([keys.fleet.installation]);
});

it('another number of shards is refused, with the number that is right', async () => {
  await assertWith(createKeys(4));
  await expect(assertWith(createKeys(1))).rejects.toMatchObject({
    code: 'config.invalid',
    message: expect.stringContaining('Set SHARDS=4,'),
  });
  await assertWith(createKeys(4));
});

it('of two that come first at once with different numbers, one is refused', async () => {
  const ends = await Promise.allSettled([assertWith(createKeys(1)), assertWith(createKeys(2))]);
  expect(ends.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
});

it.each([
  ['99 1', 'a newer'],
  ['0 1', 'an older'],
  ['what?', 'an older'],
])('data of another form is refused: %s', async (written, age) => {
  const keys = createKeys(1);
  await redis.set(keys.fleet.installation, written);
  await expect(assertWith(keys)).rejects.toMatchObject({
    code: 'config.invalid',
    message: expect.stringContaining(`written by ${age} Muster`),
  });
  expect(await redis.get(keys.fleet.installation)).toBe(written);
});

const PROCESS: ProcessIdentity = { id: 'api@host:1', services: ['api'], startedAt: 1, release: '0.1.0', configuration: 'x', zoneData: '' };

it('the data of 0.1 is taken over where no process of it runs, beside others of this release', async () => {
  const keys = createKeys(2);
  await redis.set(keys.fleet.installation, '2 2');
  await redis.zadd(keys.fleet.processes, Date.now() - 60_000, JSON.stringify(PROCESS));
  await beatProcess({ redis, keys }, PROCESS);
  await Promise.all([assertWith(keys), assertWith(keys)]);
  expect(await redis.get(keys.fleet.installation)).toBe('3 2');
  expect(lines).toEqual([]);
  await removeProcess({ redis, keys }, PROCESS);
  expect(await redis.zcard(keys.fleet.processes)).toBe(1);
});

it('the data of 0.1 is taken over once its last process has ended, and the log says once that this waits', async () => {
  const keys = createKeys(1);
  await redis.set(keys.fleet.installation, '2 1');
  // Killed: this beat is its last, and almost old enough.
  await redis.zadd(keys.fleet.processes, Date.now() - 9500, JSON.stringify(PROCESS));
  await assertWith(keys);
  expect(await redis.get(keys.fleet.installation)).toBe('3 1');
  expect(lines).toMatchObject([{ level: 'info', event: 'installation.awaited', reason: expect.stringContaining('api@host:1') }]);
});

it('the data of 0.1 is refused while processes of it run, with their names and what to do', async () => {
  const keys = createKeys(1);
  await redis.set(keys.fleet.installation, '2 1');
  await redis.zadd(keys.fleet.processes, Date.now() + 60_000, JSON.stringify(PROCESS), Date.now(), 'rubbish');
  const message = expect.stringContaining('processes of it run: api@host:1. Stop all of them, then start this one');
  expect(await installationProblem({ redis, keys })).toEqual(message);
  await expect(assertInstallation({ redis, keys, log }, 0)).rejects.toMatchObject({ code: 'config.invalid', message });
  expect(await redis.get(keys.fleet.installation)).toBe('2 1');
});

it('the data of 0.1 is refused while workers beat of a build that lists no processes, and taken over once they are silent', async () => {
  const keys = createKeys(1);
  const report = { host: 'host', pid: 1, skewMs: 0 };
  await redis.set(keys.fleet.installation, '2 1');
  await redis.zadd(keys.fleet.workers, Date.now() - 60_000, 'killed', Date.now(), 'old');
  await redis.hset(keys.fleet.workerNotes, { killed: JSON.stringify(report), old: JSON.stringify(report) });
  // Of this release, in a start that Redis did not answer at first.
  await beat({ redis, keys, settings: settingsSchema.parse({}) }, 'new', report);
  const message = expect.stringContaining('processes of it run: old. Stop all of them');
  await expect(assertInstallation({ redis, keys, log }, 0)).rejects.toMatchObject({ code: 'config.invalid', message });
  await redis.zadd(keys.fleet.workers, Date.now() - 60_000, 'old');
  await assertWith(keys);
  expect(await redis.get(keys.fleet.installation)).toBe('3 1');
});

it('a process of 0.1 that comes back beside the data that was taken over is named', async () => {
  const keys = createKeys(1);
  await redis.set(keys.fleet.installation, '2 1');
  await redis.zadd(keys.fleet.processes, Date.now() - 60_000, JSON.stringify(PROCESS));
  expect(await readForeignProcesses({ redis, keys })).toEqual([]);
  await assertWith(keys);
  await beatProcess({ redis, keys }, { ...PROCESS, id: 'worker@host:2' });
  expect(await readForeignProcesses({ redis, keys })).toEqual([]);
  await redis.zadd(keys.fleet.processes, Date.now(), JSON.stringify(PROCESS));
  expect(await readForeignProcesses({ redis, keys })).toEqual(['api@host:1 (0.1.0)']);
});

it('the data of 0.1 with another number of shards is refused, with the number that is right', async () => {
  const keys = createKeys(1);
  await redis.set(keys.fleet.installation, '2 4');
  await expect(assertWith(keys)).rejects.toMatchObject({ code: 'config.invalid', message: expect.stringContaining('Set SHARDS=4,') });
});
