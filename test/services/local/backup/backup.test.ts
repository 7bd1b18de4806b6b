import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import { afterAll, expect, it } from 'vitest';
import { expireOfProcess } from '#shared/execution/leases/expire-lease.ts';
import { parseLease } from '#shared/ledger/claim/leases.ts';
import { readDue } from '#shared/ledger/grants/due-times.ts';
import { promoteDue } from '#shared/ledger/grants/promote-tasks.ts';
import type { Ledger } from '#shared/ledger/ledger.ts';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import type { Parts } from '#shared/lifecycle/open-parts.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import type { AcceptRequest } from '#shared/queue/accept/request.ts';
import { readParts } from '../../../../services/local/backup/backup-file.ts';
import { makeBackup } from '../../../../services/local/backup/make-backup.ts';
import { restoreBackup, wipeRestore } from '../../../../services/local/backup/restore-backup.ts';
import { closeAfterTests } from '../../../support/close-after-tests.ts';
import { openTestParts } from '../../../support/open-test-parts.ts';
import { startRedis } from '../../../support/redis/start-redis.ts';
import { useParts } from '../../../support/use-parts.ts';
import { driveTasks } from '../../api/support/drive-tasks.ts';

const TENANT = 'default';
const TASKS = 7;
const folder = mkdtempSync(join(tmpdir(), 'muster-backup-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const file = join(folder, 'all.backup');

const source = await useParts();
const drive = driveTasks(source);
const submit = async (request: Partial<AcceptRequest> = {}): Promise<string> =>
  (await acceptTask(source, { tenant: TENANT, agent: 'echo', input: 'x', ...request })).id;

/** An empty fleet of three shards. */
async function openTarget(): Promise<Parts> {
  const redis = await startRedis();
  const settings = { agents: { echo: { kind: 'echo' as const } } };
  const parts = await openTestParts({ redisUrl: redis.url, env: { SHARDS: '3' }, settings });
  const close = async (): Promise<void> => {
    await parts.close();
    await redis.stop();
  };
  closeAfterTests({ close });
  return parts;
}
const target = await openTarget();
const second = await openTarget();

/** What the chores of a worker do: take lost attempts back, and promote what is due. */
async function goOn({ ledger, keys, redis, relay }: Parts): Promise<void> {
  const shard = keys.shardOf(TENANT);
  for (const member of await redis.zrange(keys.shard(shard).leases, '0', '-1')) {
    const attempt = parseLease(member);
    const lane = (await readTask(ledger, attempt.tenant, attempt.id))?.state.lane ?? null;
    await expireOfProcess(ledger, { ...attempt, lane }, { worker: 'worker-1' });
  }
  const { tasks } = await readDue(ledger, shard, 100);
  const due = tasks.map(({ id }) => id);
  await promoteDue(ledger, TENANT, due);
  await relay.idle();
}

it('gives what waits, runs, is scheduled, retried or ended to a fleet of another number of shards, where it goes on in order', async () => {
  const done = await submit({ correlationId: 'c1' });
  await drive.complete(done, 'the answer');
  const running = await submit({ session: 'chat' });
  await drive.start(running);
  const behind = [await submit({ session: 'chat' }), await submit({ session: 'chat' })];
  const granted = await submit();
  const retried = await submit();
  await drive.fail(retried, 3_600_000);
  const later = await submit();
  await drive.throttle(later, 3_600_000);
  const { counts, manifest } = await makeBackup(source.ledger, { file, passphrase: null });
  expect([counts['tasks'], manifest.secrets]).toEqual([TASKS, 'left-out']);

  expect((await restoreBackup(target.ledger, { file, passphrase: null })).tasks).toBe(TASKS);
  const stateOf = async (id: string) => (await readTask(target.ledger, TENANT, id))?.state;
  expect(await readTask(target.ledger, TENANT, done)).toMatchObject({ output: 'the answer', state: { status: 'completed' } });
  await goOn(target);
  // The lost attempt is repeated, and the others stand behind it as they did.
  expect((await stateOf(running))?.status).not.toBe('running');
  expect((await Promise.all(behind.map(stateOf))).map((state) => [state?.status, state?.gate])).toEqual([
    ['pending', 'lane'],
    ['pending', 'lane'],
  ]);
  expect(await stateOf(granted)).toMatchObject({ status: 'queued', granted: true });
  expect(await stateOf(retried)).toMatchObject({ gate: 'retry' });
  expect((await stateOf(later))?.notBefore).toBeGreaterThan(Date.now());
  await driveTasks(target).complete(granted, 'after');
  expect((await stateOf(granted))?.status).toBe('completed');
});

it('refuses a file that was changed, one without its end, and a fleet that has data', async () => {
  await expect(restoreBackup(target.ledger, { file, passphrase: null })).rejects.toMatchObject({ code: 'backup.refused' });
  const bytes = readFileSync(file);
  const changed = join(folder, 'changed.backup');
  const middle = Math.floor(bytes.length / 2);
  writeFileSync(changed, Buffer.concat([bytes.subarray(0, middle), Buffer.from('changed'), bytes.subarray(middle + 7)]));
  await expect(restoreBackup(target.ledger, { file: changed, passphrase: null })).rejects.toMatchObject({ code: 'backup.damaged' });
  const ends: number[] = [];
  for await (const part of readParts(file)) ends.push(part.end);
  writeFileSync(changed, bytes);
  truncateSync(changed, ends.at(-2) ?? 0);
  await expect(restoreBackup(target.ledger, { file: changed, passphrase: null })).rejects.toMatchObject({ code: 'backup.damaged' });
});

it('refuses a file that is no backup as what it may be', async () => {
  const other = join(folder, 'other.backup');
  writeFileSync(other, 'a file of something else');
  await expect(restoreBackup(target.ledger, { file: other, passphrase: null })).rejects.toMatchObject({
    code: 'backup.damaged',
    message: expect.stringContaining('another file'),
  });
});

it.each([
  ['that is not there', 'gone.backup', 'is not there'],
  ['that is a folder', '', 'is no file'],
])('refuses a file %s', async (_what, name, message) => {
  const restoring = restoreBackup(target.ledger, { file: join(folder, name), passphrase: null });
  await expect(restoring).rejects.toMatchObject({ code: 'backup.damaged', message: expect.stringContaining(message) });
});

/** A part as a backup has it, its digest right, of what somebody made. */
function partOf(packed: Buffer): Buffer {
  const sha256 = createHash('sha256').update(packed).digest('hex');
  const note = Buffer.from(JSON.stringify({ bytes: packed.length, sha256 }));
  const head = Buffer.alloc(8);
  head.writeUInt32LE(0x184d2a50, 0);
  head.writeUInt32LE(note.length, 4);
  return Buffer.concat([head, note, packed]);
}

it.each([
  ['is no zstd', Buffer.from('not packed')],
  ['has no JSON', zstdCompressSync('{')],
  ['has records of another sort', zstdCompressSync('{"t":"script","body":"redis.call()"}\n')],
  ['unpacks to a gigabyte', zstdCompressSync(Buffer.alloc(1_000_000_000, 10))],
])('refuses a backup that somebody made whose part %s', async (_, packed) => {
  const made = join(folder, 'made.backup');
  writeFileSync(made, partOf(packed));
  await expect(restoreBackup(target.ledger, { file: made, passphrase: null })).rejects.toMatchObject({ code: 'backup.damaged' });
});

it('lets nobody but its owner read a backup', () => {
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

it('removes all that a tenant had before it replaces it, also when the process that began so died', async () => {
  const { ledger, redis, keys } = target;
  const { hooks } = keys.tenant(TENANT);
  await redis.hset(hooks, 'of-before', '{}');
  const dies = new Proxy(redis, {
    get: (of, name): unknown => {
      if (name === 'scan') return () => Promise.reject(new Error('killed'));
      const value: unknown = Reflect.get(of, name, of);
      return typeof value === 'function' ? (value.bind(of) as unknown) : value;
    },
  });
  const options = { file, passphrase: null, replaces: true };
  await expect(restoreBackup({ ...ledger, redis: dies }, options)).rejects.toThrow('killed');
  await restoreBackup(ledger, { ...options, replaces: false });
  expect(await redis.hexists(hooks, 'of-before')).toBe(0);
});

it('goes on with a backup and a restore whose process died', async () => {
  const broken = join(folder, 'broken.backup');
  let calls = 0;
  const dying = new Proxy(source.redis, {
    get: (redis, name): unknown => {
      if (name === 'type' && (calls += 1) > 3) return () => Promise.reject(new Error('killed'));
      const value: unknown = Reflect.get(redis, name, redis);
      return typeof value === 'function' ? (value.bind(redis) as unknown) : value;
    },
  });
  const secret = { passphrase: 'a passphrase' };
  await expect(makeBackup({ ...source.ledger, redis: dying }, { file: broken, ...secret })).rejects.toThrow('killed');
  expect(existsSync(`${broken}.partial`)).toBe(true);
  const { resumed, manifest } = await makeBackup(source.ledger, { file: broken, ...secret });
  expect([resumed, manifest.secrets]).toEqual([TASKS, 'passphrase']);

  const { redis, keys, ledger } = second;
  await expect(restoreBackup(ledger, { file: broken, passphrase: 'a wrong one' })).rejects.toMatchObject({ code: 'backup.refused' });
  const dies: Ledger = { ...ledger, run: () => Promise.reject(new Error('killed')) };
  await expect(restoreBackup(dies, { file: broken, ...secret })).rejects.toThrow('killed');
  expect(await redis.hlen(keys.fleet.restores)).toBe(1);
  expect((await restoreBackup(ledger, { file: broken, ...secret })).tasks).toBe(TASKS);
  expect(await redis.exists(keys.fleet.restores)).toBe(0);
  // One that is half done may be removed as well.
  await redis.hset(
    keys.fleet.restores,
    '*',
    JSON.stringify({ backup: manifest.id, step: 'parts', tenants: manifest.tenants, replaces: false }),
  );
  expect(await wipeRestore(ledger)).toEqual([TENANT]);
  expect(await redis.exists(keys.tenant(TENANT).bodies)).toBe(0);
});
