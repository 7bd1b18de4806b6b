import { expect, it } from 'vitest';
import { holdTask } from '#shared/ledger/grants/hold-task.ts';
import { startIndexing } from '#shared/ledger/search/index-ends.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { useWorker } from '../../../support/use-worker.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { driveTasks } from '../../api/support/drive-tasks.ts';
import { useApi } from '../../api/support/use-api.ts';

const DEADLINE_MS = 20_000;
const api = await useApi({
  agents: { echo: { kind: 'echo' }, hand: { kind: 'daemon' } },
  metrics: { flushMs: 100 },
  search: { indexMs: 1000 },
});
const { parts } = api;
const { ledger, redis, keys } = parts;

const accept = async (agent: string): Promise<string> => (await acceptTask(parts, { tenant: 'default', agent, input: 'x' })).id;

// Made before there is a worker: one task that ended without the entry of its end, as an older release leaves it, and one for daemons.
const ended = await accept('echo');
await driveTasks(parts).complete(ended, 'done');
const { index } = keys.tenant('default');
const entries = (await redis.zrange(index, '0', '-1')).filter((member) => member.startsWith('end='));
await redis.zrem(index, ...entries);
const held = await accept('hand');
await parts.relay.idle();
await holdTask(ledger, { tenant: 'default', id: held, hold: { gate: 'daemon', what: '{}' }, until: null });
// A hub ends the ticket of a task that it holds.
await Promise.all(parts.queues.all().map(async ({ queue }) => await queue.drain()));
await useWorker(parts);

interface Minute {
  at: string;
  accepted: number;
  completed: number;
  running: number | null;
  waiting: number | null;
  slots: number | null;
  queues: { name: string; waiting: number }[];
}

async function history(query: string, key = api.key): Promise<Minute[]> {
  const { status, body } = await api.call('GET', `/v1/metrics/history${query}`, { key });
  expect([status, body.nextCursor]).toEqual([200, null]);
  return body.items;
}

it('a worker adds the ends that an older release left out to the index', async () => {
  expect(entries).toHaveLength(1);
  await waitFor(async () => (await startIndexing(ledger, 'default')) === null, { deadlineMs: DEADLINE_MS, what: 'the index' });
  expect(await redis.zrange(index, '0', '-1')).toEqual(expect.arrayContaining(entries));
});

it('a worker measures what waits and runs, and the history has it minute by minute', async () => {
  const sampled = async (): Promise<Minute | undefined> => (await history('?scope=fleet&minutes=3')).find(({ slots }) => slots !== null);
  const found = await waitFor(sampled, { deadlineMs: DEADLINE_MS, what: 'a sample' });
  expect(found).toMatchObject({ running: 0, slots: expect.any(Number) });
  expect(found?.slots).toBeGreaterThan(0);
  expect(found?.waiting).toBeGreaterThanOrEqual(1);
  // A task that is held for a daemon has no ticket, and waits all the same.
  expect(found?.queues.find(({ name }) => name === 'remote')?.waiting).toBe(1);
  const minutes = await history('?minutes=3');
  expect(minutes).toHaveLength(3);
  expect(minutes.map(({ accepted }) => accepted).reduce((sum, each) => sum + each, 0)).toBe(2);
  expect(minutes.every(({ slots, queues }) => slots === null && queues.length === 0)).toBe(true);
  expect(await history('')).toHaveLength(60);
});

it('the history of the fleet is its owner’s, and a tenant has its own', async () => {
  const key = await api.keyOf('acme', ['read']);
  expect((await api.call('GET', '/v1/metrics/history?scope=fleet', { key })).body.code).toBe('auth.forbidden');
  expect((await history('?minutes=2', key)).every(({ accepted, waiting }) => accepted === 0 && waiting === null)).toBe(true);
  for (const query of ['?minutes=0', '?minutes=1441', '?scope=all', '?hours=1']) {
    expect([query, (await api.call('GET', `/v1/metrics/history${query}`)).body.code]).toEqual([query, 'request.invalid']);
  }
});

it('tasks that are held for daemons wait in the queue `remote`', async () => {
  const { body } = await api.call('GET', '/v1/queues');
  const queues: { name: string; held: number }[] = body.items;
  expect(queues.find(({ name }) => name === 'remote')).toMatchObject({ held: 1, waiting: 1, tickets: 0, ready: 0 });
  expect(queues.filter(({ name }) => name !== 'remote').every((queue) => queue.held === 0)).toBe(true);
});
