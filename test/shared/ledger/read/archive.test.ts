import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { SettingsInput } from '#shared/config/settings/settings.ts';
import { archiveTask } from '#shared/ledger/archive/archive-task.ts';
import { TaskArchiving } from '#shared/ledger/archive/task-archiving.ts';
import { reopenTask } from '#shared/ledger/change-task.ts';
import { removeTask } from '#shared/ledger/ended-tasks.ts';
import type { Ledger } from '#shared/ledger/ledger.ts';
import { readEntry, readJournal, readJournalProgress } from '#shared/ledger/journal/read-journal.ts';
import { readTask, readTaskRow, readTasks } from '#shared/ledger/read/read-tasks.ts';
import { listTasks } from '#shared/ledger/search/list-tasks.ts';
import { measureTenant } from '#shared/ledger/tenants/storage.ts';
import type { Parts } from '#shared/lifecycle/open-parts.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { makeBackup } from '../../../../services/local/backup/make-backup.ts';
import { restoreBackup } from '../../../../services/local/backup/restore-backup.ts';
import type { Task } from '#shared/tasks/task.ts';
import { closeAfterTests } from '../../../support/close-after-tests.ts';
import { openTestParts } from '../../../support/open-test-parts.ts';
import { useRedis } from '../../../support/redis/use-redis.ts';
import { driveTasks } from '../../../services/api/support/drive-tasks.ts';
import { S3_ACCESS, startFakeS3 } from '../../files/storage/fake-s3.ts';

const TENANT = 'default';
const LONG = 'a long text with "quotes" and ünïcode, \\ too. '.repeat(200);
const CONTEXT = { archived: 'x', list: [1, 2, 3] };
const STEP = { kind: 'step', name: 'one', status: 'completed', attempt: 1, startedAt: 1 };
const entry = (name: string): string => JSON.stringify({ ...STEP, name, value: JSON.stringify('x'.repeat(5000)) });
const NEVER = new AbortController().signal;

const folder = mkdtempSync(join(tmpdir(), 'muster-archive-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const s3 = closeAfterTests(await startFakeS3());
const redis = await useRedis();

const bucket = { endpoint: s3.url, bucket: 'files', region: S3_ACCESS.region, timeoutMs: 5000 };
const env = { MUSTER_S3_ACCESS_KEY: S3_ACCESS.accessKey, MUSTER_S3_SECRET_KEY: S3_ACCESS.secretKey };

async function open(archive: SettingsInput['archive'], files: SettingsInput['files'] = {}): Promise<Parts> {
  const settings = { agents: { echo: { kind: 'echo' as const } }, ...(archive && { archive: { afterMs: 0, ...archive } }), files };
  return await openTestParts({ redisUrl: redis.url, settings, env });
}

const die = (): Promise<never> => Promise.reject(new Error('killed'));

/** A member of a class with private fields, which its methods need. */
function bound(target: object, name: string | symbol): unknown {
  const value: unknown = Reflect.get(target, name, target);
  return typeof value === 'function' ? (value.bind(target) as unknown) : value;
}

/** Names of objects that the directory has. */
function objectsOnDisk(): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => /[0-9a-f]{32}$/.test(name));
}

const STORAGES = [
  {
    name: 'a directory',
    archive: { storage: 'directory' as const, dir: folder },
    files: {},
    objects: objectsOnDisk,
    lose: () => rmSync(join(folder, 'tenants'), { recursive: true }),
  },
  {
    name: 'the bucket of files',
    archive: { storage: 's3' as const },
    files: { s3: bucket },
    objects: () => [...s3.objects.keys()],
    lose: () => s3.objects.clear(),
  },
];

describe.each(STORAGES)('$name', ({ archive, files, objects, lose }) => {
  let parts: Parts;
  beforeAll(async () => {
    parts = await open(archive, files);
  });
  afterAll(() => parts.close());
  afterEach(async () => {
    await parts.redis.flushall();
    await parts.archive?.removeTenant(TENANT);
  });

  const submit = async (input = LONG, session?: string): Promise<string> =>
    (await acceptTask(parts, { tenant: TENANT, agent: 'echo', input, context: CONTEXT, metadata: { topic: 'old' }, session })).id;
  const round = async (): Promise<void> => await new TaskArchiving(parts).run(NEVER);
  /** A task that was archived as soon as it had ended. */
  const archived = async (): Promise<string> => {
    const id = await submit();
    await driveTasks(parts).complete(id, LONG);
    await round();
    return id;
  };
  const due = async (): Promise<number> => await parts.redis.zcard(parts.keys.shard(parts.keys.shardOf(TENANT)).archiveDue);

  it('has the long parts of a task that ended, which is read as before', async () => {
    const id = await submit();
    await driveTasks(parts).complete(id, LONG);
    const before = await readTask(parts.ledger, TENANT, id);
    const bytes = await measureTenant(parts.ledger, TENANT);
    await round();
    expect(objects()).toHaveLength(1);
    expect(await readTask(parts.ledger, TENANT, id)).toEqual(before);
    expect(await readTasks(parts.ledger, TENANT, [id, id])).toEqual([before, before]);
    expect(before).toMatchObject({ body: { input: LONG, context: CONTEXT }, output: LONG, result: { list: [] } });
    expect(await measureTenant(parts.ledger, TENANT)).toBeLessThan(bytes - 15_000);
    // Another round finds nothing to do.
    await round();
    expect([objects().length, await due()]).toEqual([1, 0]);
  });

  it('is not read for lists, which have beginnings and say so', async () => {
    const id = await archived();
    lose();
    const { items } = await listTasks(parts.ledger, TENANT, { metadata: [{ key: 'topic', value: 'old' }] }, { limit: 10 });
    expect(items).toMatchObject([{ body: { id, input: LONG.slice(0, 500), context: null }, output: LONG.slice(0, 500) }]);
    expect(items[0]?.archived).toMatch(/^[0-9a-f]{32} \d+ [0-9a-f]{64}$/);
  });

  it('has a journal, of which what was written since counts', async () => {
    const id = await submit();
    await driveTasks(parts).complete(id, 'done');
    const key = parts.keys.tenant(TENANT).journal(id);
    await parts.redis.hset(key, { 2: entry('one'), 3: entry('two'), done: '2', last: entry('two'), 'replay:2': '2' });
    const read = async () => [
      await readJournal(parts.ledger, { tenant: TENANT, id }),
      await readEntry(parts.ledger, { tenant: TENANT, id }, 3),
      await readEntry(parts.ledger, { tenant: TENANT, id }, 9),
    ];
    const before = await read();
    expect(before).toMatchObject([{ entries: [{ name: 'one' }, { name: 'two' }], replays: [2] }, { seq: 3 }, null]);
    await round();
    expect(await parts.redis.hkeys(key)).toEqual(expect.arrayContaining(['done', 'archived']));
    expect(await parts.redis.hexists(key, '3')).toBe(0);
    expect(await read()).toEqual(before);
    expect(await readJournalProgress(parts.ledger, { tenant: TENANT, id })).toMatchObject({ done: 2 });
    await parts.redis.hset(key, 'replay:3', '3');
    expect((await readJournal(parts.ledger, { tenant: TENANT, id })).replays).toEqual(expect.arrayContaining([2, 3]));
  });

  it('gives a failed task its parts back when it is retried, and loses its object later', async () => {
    const id = await submit(LONG, 'chat');
    await driveTasks(parts).fail(id, null);
    const before = await readTask(parts.ledger, TENANT, id);
    await round();
    expect(await readTask(parts.ledger, TENANT, id)).toEqual(before);
    const place = { tenant: TENANT, id, lane: before?.state.lane ?? null };
    expect(await reopenTask(parts.ledger, place)).toMatchObject({ kind: 'reopened' });
    const row = await readTaskRow(parts.ledger, TENANT, id);
    expect(row?.body).toEqual(before?.body);
    expect(row?.archived).toBeUndefined();
    await driveTasks(parts).complete(id, LONG);
    expect(await readTask(parts.ledger, TENANT, id)).toMatchObject({ output: LONG, body: { input: LONG } });
    // A Redis that lost its last second would need it.
    expect([objects().length, await due()]).toEqual([1, 1]);
  });

  it('loses the object of a task that is removed, and of one that changed while it was written', async () => {
    const id = await archived();
    const row = await readTaskRow(parts.ledger, TENANT, id);
    expect(row && (await removeTask(parts.ledger, row))).toBe(true);
    expect(await due()).toBe(1);
    const failed = await submit();
    await driveTasks(parts).fail(failed, null);
    const write = async (...args: Parameters<NonNullable<Parts['archive']>['write']>): Promise<void> => {
      await parts.archive?.write(...args);
      await reopenTask(parts.ledger, { tenant: TENANT, id: failed, lane: null });
    };
    const slow = new Proxy(parts.archive as NonNullable<Parts['archive']>, {
      get: (target, name): unknown => (name === 'write' ? write : bound(target, name)),
    });
    expect(await archiveTask(parts.ledger, slow, { tenant: TENANT, id: failed })).toBe('changed');
    expect((await readTaskRow(parts.ledger, TENANT, failed))?.body.input).toBe(LONG);
    expect(objects()).toHaveLength(2);
    await round();
    expect([objects().length, await due()]).toEqual([0, 0]);
  });

  it.each(['write', 'archive-task'])('loses nothing where its process dies before its step %s', async (step) => {
    const id = await submit();
    await driveTasks(parts).complete(id, LONG);
    const before = await readTask(parts.ledger, TENANT, id);
    const archiver = parts.archive as NonNullable<Parts['archive']>;
    const dyingArchive = new Proxy(archiver, {
      get: (target, name): unknown => (name === step ? die : bound(target, name)),
    });
    const run: Ledger['run'] = async (name, ...rest) => (name === step ? await die() : await parts.ledger.run(name, ...rest));
    await expect(archiveTask({ ...parts.ledger, run }, dyingArchive, { tenant: TENANT, id })).rejects.toThrow('killed');
    expect([await due(), objects().length]).toEqual([1, step === 'write' ? 0 : 1]);
    expect(await readTask(parts.ledger, TENANT, id)).toEqual(before);
    await round();
    // The hour of the object without a task has passed.
    const { archiveDue } = parts.keys.shard(parts.keys.shardOf(TENANT));
    await parts.redis.zadd(archiveDue, 'XX', '0', ...(await parts.redis.zrange(archiveDue, '0', '-1')));
    await round();
    expect([await due(), objects().length]).toEqual([0, 1]);
    expect(await readTask(parts.ledger, TENANT, id)).toEqual(before);
  });

  it('does not get a task whose object came too late', async () => {
    const id = await submit();
    await driveTasks(parts).complete(id, LONG);
    const before = await readTask(parts.ledger, TENANT, id);
    const archiver = parts.archive as NonNullable<Parts['archive']>;
    const { archiveDue } = parts.keys.shard(parts.keys.shardOf(TENANT));
    const write: typeof archiver.write = async (place, bytes) => {
      await archiver.write(place, bytes);
      await parts.redis.zadd(archiveDue, 'XX', '1000', `${place.tenant}/${place.file}`);
    };
    const slow = new Proxy(archiver, { get: (target, name): unknown => (name === 'write' ? write : bound(target, name)) });
    expect(await archiveTask(parts.ledger, slow, { tenant: TENANT, id })).toBe('changed');
    expect(await readTaskRow(parts.ledger, TENANT, id)).toEqual(before);
  });

  it('answers reads of a lost or changed object with an error, and nothing else', async () => {
    const id = await archived();
    lose();
    await expect(readTask(parts.ledger, TENANT, id)).rejects.toMatchObject({ code: 'unavailable.files' });
    expect((await readTaskRow(parts.ledger, TENANT, id))?.body.id).toBe(id);
  });
});

describe('a directory', () => {
  const archive = { storage: 'directory' as const, dir: folder };

  it('leaves short tasks, those that have not ended, and those that ended lately', async () => {
    const parts = await open({ ...archive, afterMs: 60_000 });
    const submit = async (input: string): Promise<string> => (await acceptTask(parts, { tenant: TENANT, agent: 'echo', input })).id;
    const ended = await submit(LONG);
    await driveTasks(parts).complete(ended, LONG);
    await new TaskArchiving(parts).run(NEVER);
    const eager = await open(archive);
    const short = await submit('short');
    await driveTasks(parts).complete(short, 'short');
    const waiting = await submit(LONG);
    expect((await readTaskRow(parts.ledger, TENANT, ended))?.archived).toBeUndefined();
    await new TaskArchiving(eager).run(NEVER);
    const rows = await Promise.all([ended, short, waiting].map((id) => readTaskRow(parts.ledger, TENANT, id)));
    expect(rows.map((row) => row?.archived !== undefined)).toEqual([true, false, false]);
    await parts.redis.flushall();
    await Promise.all([parts.close(), eager.close()]);
  });

  it('takes as many tasks in a round as it may, and all of them in time', async () => {
    const parts = await open({ ...archive, maxTasksPerRound: 2 });
    const ids: string[] = [];
    for (let count = 0; count < 5; count += 1) {
      const { id } = await acceptTask(parts, { tenant: TENANT, agent: 'echo', input: LONG });
      await driveTasks(parts).complete(id, `answer ${count}`);
      ids.push(id);
    }
    const archiving = new TaskArchiving(parts);
    const counts: number[] = [];
    for (let rounds = 0; rounds < 3; rounds += 1) {
      await archiving.run(NEVER);
      const rows = await Promise.all(ids.map((id) => readTaskRow(parts.ledger, TENANT, id)));
      counts.push(rows.filter((row) => row?.archived !== undefined).length);
    }
    expect(counts).toEqual([2, 4, 5]);
    expect((await readTasks(parts.ledger, TENANT, ids)).map((task) => task?.output)).toEqual(
      [0, 1, 2, 3, 4].map((count) => `answer ${count}`),
    );
    await parts.redis.flushall();
    await parts.close();
  });

  it('takes tasks in time that ended long after others which were accepted later', async () => {
    const parts = await open(archive);
    const submit = async (): Promise<string> => (await acceptTask(parts, { tenant: TENANT, agent: 'echo', input: LONG })).id;
    const [first, second] = [await submit(), await submit()];
    await driveTasks(parts).complete(second, 'second');
    const archiving = new TaskArchiving(parts);
    await archiving.run(NEVER);
    await driveTasks(parts).complete(first, 'first');
    for (let rounds = 0; rounds < 20; rounds += 1) await archiving.run(NEVER);
    const rows = await Promise.all([first, second].map((id) => readTaskRow(parts.ledger, TENANT, id)));
    expect(rows.map((row) => row?.archived !== undefined)).toEqual([true, true]);
    await parts.redis.flushall();
    await parts.close();
  });

  it('refuses bytes that are not those which were written, and a process without an archive', async () => {
    const parts = await open(archive);
    await parts.archive?.removeTenant(TENANT);
    const { id } = await acceptTask(parts, { tenant: TENANT, agent: 'echo', input: LONG });
    await driveTasks(parts).complete(id, LONG);
    await new TaskArchiving(parts).run(NEVER);
    const without = await open(undefined);
    await expect(readTask(without.ledger, TENANT, id)).rejects.toMatchObject({ code: 'unavailable.files', message: /set `archive`/ });
    for (const name of objectsOnDisk()) writeFileSync(join(folder, name), 'x');
    await expect(readTask(parts.ledger, TENANT, id)).rejects.toMatchObject({ code: 'record.unreadable' });
    await parts.redis.flushall();
    await Promise.all([parts.close(), without.close()]);
  });
});

it('lets a task be removed while Redis has no memory for more', async () => {
  const parts = await open({ storage: 'directory', dir: folder });
  await parts.archive?.removeTenant(TENANT);
  const { id } = await acceptTask(parts, { tenant: TENANT, agent: 'echo', input: LONG });
  await driveTasks(parts).complete(id, LONG);
  await new TaskArchiving(parts).run(NEVER);
  const row = await readTaskRow(parts.ledger, TENANT, id);
  await parts.redis.config('SET', 'maxmemory', '1mb');
  const isRemoved = await removeTask(parts.ledger, row as Task);
  await parts.redis.config('SET', 'maxmemory', '0');
  expect([isRemoved, await readTaskRow(parts.ledger, TENANT, id), objectsOnDisk()]).toEqual([true, null, []]);
  await parts.redis.flushall();
  await parts.close();
});

it('is in a backup, which a fleet without an archive restores', async () => {
  const parts = await open({ storage: 'directory', dir: folder });
  const { id } = await acceptTask(parts, { tenant: TENANT, agent: 'echo', input: LONG, context: CONTEXT });
  await driveTasks(parts).complete(id, LONG);
  await parts.redis.hset(parts.keys.tenant(TENANT).journal(id), { 2: JSON.stringify({ ...STEP, value: JSON.stringify(LONG) }), done: '1' });
  const read = async ({ ledger }: Parts): Promise<unknown[]> => [
    await readTask(ledger, TENANT, id),
    await readJournal(ledger, { tenant: TENANT, id }),
  ];
  const before = await read(parts);
  await new TaskArchiving(parts).run(NEVER);
  const file = join(folder, 'fleet.backup');
  await makeBackup(parts.ledger, { file, passphrase: null });
  // The same fleet, after its Redis and its archive were lost.
  await parts.redis.flushall();
  await parts.archive?.removeTenant(TENANT);
  const without = await open(undefined);
  expect((await restoreBackup(without.ledger, { file, passphrase: null })).tasks).toBe(1);
  expect(await read(without)).toEqual(before);
  await parts.redis.flushall();
  await Promise.all([parts.close(), without.close()]);
});

it('refuses a bucket of which nothing is said', async () => {
  await expect(open({ storage: 's3' })).rejects.toMatchObject({ code: 'config.invalid' });
});

it('has an error for a bucket that does not answer, and Redis keeps what it could not take', async () => {
  const parts = await open({ storage: 's3' }, { s3: bucket });
  const { id } = await acceptTask(parts, { tenant: TENANT, agent: 'echo', input: LONG });
  await driveTasks(parts).complete(id, LONG);
  s3.failNext(503, 'SlowDown');
  await expect(new TaskArchiving(parts).run(NEVER)).rejects.toMatchObject({ code: 'unavailable.files' });
  expect((await readTaskRow(parts.ledger, TENANT, id))?.archived).toBeUndefined();
  await new TaskArchiving(parts).run(NEVER);
  s3.failNext(503, 'SlowDown');
  await expect(readTask(parts.ledger, TENANT, id)).rejects.toMatchObject({ code: 'unavailable.files' });
  expect(await readTask(parts.ledger, TENANT, id)).toMatchObject({ output: LONG });
  await parts.redis.flushall();
  await parts.close();
});
