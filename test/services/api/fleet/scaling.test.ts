import { expect, it } from 'vitest';
import { holdTask } from '#shared/ledger/grants/hold-task.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { beat, removeWorker } from '#shared/queue/registry/worker-registry.ts';
import { workerReportSchema } from '#shared/queue/registry/worker-report.ts';
import { useApi } from '../support/use-api.ts';

const api = await useApi();
const { parts } = api;
const { redis, keys } = parts;
const fleet = { redis, keys, settings: parts.config.settings };

const report = async (worker: string, fields: object): Promise<void> =>
  void (await beat(fleet, worker, workerReportSchema.parse({ host: 'h', pid: 1, skewMs: 0, slots: 2, running: 0, ...fields })));
const submit = async (request: object = {}): Promise<string> =>
  (await acceptTask(parts, { tenant: 'default', agent: 'echo', input: 'do it', ...request })).id;
async function scaling(group: string): Promise<unknown> {
  await redis.del(keys.fleet.load, keys.fleet.lastLoad);
  return (await api.call('GET', `/v1/scaling/${group}`)).body;
}

it('counts what could run and what runs, and nothing that something else holds back', async () => {
  await report('w1', { group: 'default', queues: ['tasks', 'chat'], running: 1 });
  await report('w2', { group: 'default', queues: ['tasks', 'chat'], running: 0, isDraining: true });
  await report('g1', { group: 'gpu', queues: ['background'], slots: 1 });
  await report('hub', { role: 'hub', queues: ['tasks'], slots: 100, running: 50 });
  expect(await scaling('gpu')).toEqual({ group: 'gpu', runnable: 0, busy: 0, slots: 1, desired: 0 });
  for (let count = 0; count < 4; count += 1) await submit();
  await submit({ session: 'lobby' });
  await submit({ session: 'lobby' });
  await submit({ scheduledFor: '2100-01-01T00:00:00.000Z' });
  const held = await submit();
  await holdTask(parts.ledger, { tenant: 'default', id: held, hold: { gate: 'budget', what: 'all' }, until: null });
  await parts.relay.idle();
  expect(await scaling('default')).toEqual({ group: 'default', runnable: 5, busy: 1, slots: 2, desired: 3 });
});

it('remembers a group of which no worker is left', async () => {
  for (const worker of ['w1', 'w2']) await removeWorker(fleet, worker);
  expect(await scaling('default')).toEqual({ group: 'default', runnable: 5, busy: 0, slots: 0, desired: 3 });
  expect(await api.call('GET', '/v1/scaling/unknown')).toMatchObject({ status: 404, body: { code: 'group.not-found' } });
});

it('wants a worker for what is held because none is left, and for what is due while there is no worker at all', async () => {
  for (const worker of ['g1', 'hub']) await removeWorker(fleet, worker);
  expect(await scaling('gpu')).toMatchObject({ desired: 0 });
  const held = await submit({ priority: 'low' });
  await holdTask(parts.ledger, { tenant: 'default', id: held, hold: { gate: 'worker', what: 'background' }, until: null });
  expect(await scaling('gpu')).toMatchObject({ runnable: 1, desired: 1 });
  const [late, later] = [Date.now() - 1000, Date.now() + 60_000];
  await redis.zadd(keys.shard(0).due, late, 'default/late-1', late, 'default/late-2', later, 'default/later');
  expect(await scaling('gpu')).toMatchObject({ runnable: 3, desired: 3 });
  await report('other', { group: 'other', queues: ['chat'] });
  expect(await scaling('gpu')).toMatchObject({ runnable: 1, desired: 1 });
});

it('is read by a key that may read nothing else, of the tenant of the fleet alone', async () => {
  const key = await api.keyOf('default', ['scaling']);
  expect((await api.call('GET', '/v1/scaling/default', { key })).status).toBe(200);
  expect((await api.call('GET', '/v1/tasks', { key })).body.code).toBe('auth.forbidden');
  expect((await api.call('GET', '/v1/scaling/default', { key: await api.keyOf('elsewhere', ['admin']) })).body.code).toBe('auth.forbidden');
});
