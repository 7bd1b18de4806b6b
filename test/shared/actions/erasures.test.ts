import { expect, it } from 'vitest';
import type { Erasure } from '#shared/actions/erase/erasure.ts';
import { eraseNext } from '#shared/actions/erase/erasure-step.ts';
import { ErasureStore } from '#shared/actions/erase/erasure-store.ts';
import { runErasures } from '#shared/actions/erase/run-erasures.ts';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import type { AcceptRequest } from '#shared/queue/accept/request.ts';
import { systemClock } from '#shared/time/clock.ts';
import { driveTasks } from '../../services/api/support/drive-tasks.ts';
import { useEmptyParts } from '../../support/use-parts.ts';

const TENANT = 'default';
const SECRET = 'the-secret-of-ann';
const parts = await useEmptyParts();
const { ledger, redis, keys } = parts;
const own = keys.tenant(TENANT);
const drive = driveTasks(parts);
const store = new ErasureStore(ledger);

const submit = async (request: Partial<AcceptRequest>): Promise<string> =>
  (await acceptTask(parts, { tenant: TENANT, agent: 'echo', input: SECRET, ...request })).id;
const create = async (kind: Erasure['kind'], of: string): Promise<Erasure> =>
  await store.create({ tenant: TENANT, kind, of, by: 'k1', withSignIn: true });
const runAll = async (): Promise<void> => {
  await redis.zadd(keys.shard(0).erasuresDue, 'XX', 0, ...(await redis.zrange(keys.shard(0).erasuresDue, '0', '-1')).slice(0, 1));
  await runErasures(parts, systemClock, 5000);
};

/** Every text in Redis that holds this one, by its key. */
async function keysWith(text: string): Promise<string[]> {
  const found: string[] = [];
  for (const key of await redis.keys('*')) {
    const dump = await redis.dumpBuffer(key);
    const type = await redis.type(key);
    const values =
      type === 'hash'
        ? JSON.stringify(await redis.hgetall(key))
        : type === 'zset'
          ? JSON.stringify(await redis.zrange(key, '0', '-1'))
          : type === 'stream'
            ? JSON.stringify(await redis.xrange(key, '-', '+'))
            : type === 'set'
              ? JSON.stringify(await redis.smembers(key))
              : String(await redis.get(key).catch(() => dump));
    if (key.includes(text) || values.includes(text)) found.push(key);
  }
  return found;
}

it('removes a session: what ended, what runs once it has stopped, what they delegated, and leaves other sessions', async () => {
  const ended = await submit({ session: 'ann' });
  await drive.complete(ended, SECRET);
  const running = await submit({ session: 'ann' });
  const waiting = await submit({ session: 'ann' });
  const attempt = await drive.start(running);
  await redis.hset(own.session('ann'), 'mode', 'queue');
  const other = await submit({ session: 'ben', input: 'of ben' });
  const child = await submit({ parentTaskId: ended, source: 'delegation' });
  await redis.xadd(own.hookDeliveries('h1', 'accepted'), '*', 'delivery', JSON.stringify({ taskId: ended, payload: SECRET }));
  await redis.hset(own.hooks, 'h1', '{}');

  const { id } = await create('session', 'ann');
  expect((await create('session', 'ann')).id).toBe(id);
  await runAll();
  expect(await store.find(TENANT, id)).toMatchObject({ phase: 'remove', stopping: 1 });
  expect(await readTask(ledger, TENANT, waiting)).toBeNull();
  // Its worker answers the stop.
  await drive.end(attempt, SECRET);
  await runAll();
  const done = await store.find(TENANT, id);
  expect(done).toMatchObject({ phase: 'done', of: null, removed: { tasks: 4, webhooks: 1, sessions: 1 } });
  expect(await keysWith(SECRET)).toEqual([]);
  // Tickets in BullMQ and counts of a minute have random ids alone, and go by themselves.
  const named = (await Promise.all([ended, running, waiting, child].map(keysWith))).flat().filter((key) => !/:bull:|:delegated$/.test(key));
  expect(named).toEqual([]);
  expect(await readTask(ledger, TENANT, other)).not.toBeNull();
  expect(await redis.exists(own.session('ann'))).toBe(0);
});

it('removes what a person wrote in any session, and nothing that others wrote there', async () => {
  const ofAnn = await submit({ session: 'room', user: 'ann' });
  const ofBen = await submit({ session: 'room', user: 'ben', input: 'of ben' });
  const byKey = await submit({ keyId: 'ann' });
  const { id } = await create('person', 'ann');
  await runAll();
  expect(await store.find(TENANT, id)).toMatchObject({ phase: 'done', removed: { tasks: 2 } });
  for (const task of [ofAnn, byKey]) expect(await readTask(ledger, TENANT, task)).toBeNull();
  expect(await readTask(ledger, TENANT, ofBen)).not.toBeNull();
});

it('goes on where a process died, in each part', async () => {
  for (let n = 0; n < 3; n += 1) await drive.complete(await submit({ session: 'ann' }), SECRET);
  const erasure = await create('session', 'ann');
  // Each part is done and not written down: the next process has the same record as this one had.
  for (let part: Erasure = erasure; part.phase !== 'done';) part = await eraseNext(parts, part, () => true);
  await runAll();
  expect(await store.find(TENANT, erasure.id)).toMatchObject({ phase: 'done' });
  expect(await keysWith(SECRET)).toEqual([]);
});
