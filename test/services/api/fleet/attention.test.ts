import { expect, it } from 'vitest';
import { noteRefusal } from '#shared/deliveries/refused-platforms.ts';
import { useApi } from '../support/use-api.ts';

const api = await useApi({ agents: { echo: { kind: 'echo', sameInput: { hold: 1, sources: ['api'] } } } });
const { redis, keys } = api.parts;
const REPEATED = { agent: 'echo', input: 'again' };
// The Redis of tests keeps nothing, which is a finding of its own.
await redis.call('CONFIG', 'SET', 'appendonly', 'yes');

interface Item {
  id: string;
  code: string;
  level: string;
  subject: string | null;
  acknowledged: unknown;
}

async function attention(key = api.key, query = ''): Promise<Item[]> {
  const { status, body } = await api.call('GET', `/v1/attention${query}`, { key });
  expect([status, body.nextCursor]).toEqual([200, null]);
  return body.items;
}

it('names what a person should look at, the worst first, and the fleet only for its owner', async () => {
  const key = await api.keyOf('acme', ['admin']);
  expect(await attention(key)).toEqual([]);
  for (let count = 0; count < 3; count += 1) await api.call('POST', '/v1/tasks', { key, body: REPEATED });
  await redis.hset(keys.fleet.unservedQueues, 'chat', Date.now(), 'chat notified', Date.now());
  const schedule = { every: '1h', agent: 'echo', message: 'x', name: 'hourly' };
  const made = await api.call('POST', '/v1/schedules', { key, body: schedule });
  await api.call('PATCH', `/v1/schedules/${made.body.id}`, { key, body: { status: 'paused' } });
  const nameless = await api.call('POST', '/v1/schedules', { key, body: { every: '1h', agent: 'echo', message: 'x' } });
  await api.call('PATCH', `/v1/schedules/${nameless.body.id}`, { key, body: { status: 'paused' } });
  await api.call('PUT', '/v1/budgets/all', { key, body: { scope: 'tenant', per: 'total', softMicroUsd: 0, hardMicroUsd: 0 } });
  await api.call('POST', '/v1/agents/echo/pause', { key, body: { reason: 'it is broken' } });
  expect(await attention(key)).toMatchObject([
    { code: 'input.held', level: 'critical', count: 2, gate: 'repeats' },
    { code: 'budget.hard', level: 'critical', subject: 'all', link: '/usage' },
    {
      code: 'agent.paused',
      level: 'warning',
      subject: 'echo',
      link: '/agents/echo',
      text: expect.stringMatching(/^Tasks of echo wait until somebody resumes it: .*: it is broken\.$/) as string,
    },
    { code: 'schedule.paused', subject: nameless.body.id, text: expect.stringContaining('The schedule #2 is paused') as string },
    { code: 'schedule.paused', level: 'warning', subject: made.body.id, text: expect.stringContaining('hourly') as string },
  ]);
  const own = await attention();
  expect(own).toMatchObject([{ code: 'queue.unserved', level: 'critical', scope: 'fleet', subject: 'chat', link: '/queues' }]);
  await redis.hdel(keys.fleet.unservedQueues, 'chat', 'chat notified');
  expect(await attention()).toEqual([]);
});

it('names to the owner of the fleet a chat platform that refuses the bot, until it does no more', async () => {
  await noteRefusal(api.parts, 'discord', { reason: 'Discord refuses the token (4004)', since: 0 });
  const key = await api.keyOf('acme', ['admin']);
  expect((await attention(key)).map(({ code }) => code)).not.toContain('chat.refused');
  const text = 'Discord refuses the token (4004). What people write there is not answered.';
  expect(await attention()).toMatchObject([{ code: 'chat.refused', level: 'critical', subject: 'discord', text }]);
  await noteRefusal(api.parts, 'discord', null);
  expect(await attention()).toEqual([]);
});

it('what somebody acknowledged is listed no more, until it ends and comes again', async () => {
  await redis.hset(keys.fleet.unservedQueues, 'chat', Date.now(), 'chat notified', Date.now());
  const [found] = await attention();
  const path = `/v1/attention/${encodeURIComponent(found?.id ?? '')}/acknowledge`;
  const other = await api.keyOf('acme', ['admin']);
  expect((await api.call('POST', path, { key: other })).body.code).toBe('finding.not-found');
  expect((await api.call('POST', path, { key: await api.keyOf('default', ['read']) })).status).toBe(403);
  const { status, body } = await api.call('POST', path);
  expect([status, body]).toMatchObject([200, { id: 'queue.unserved:chat', acknowledged: { by: expect.any(String) as string } }]);
  expect(await attention()).toEqual([]);
  expect(await attention(api.key, '?acknowledged=true')).toMatchObject([{ id: 'queue.unserved:chat', acknowledged: body.acknowledged }]);
  // The installation's checks say what is, whoever knows of it.
  const rows = (await api.call('GET', '/v1/checks')).body.items;
  expect(rows).toContainEqual(expect.objectContaining({ id: 'queue.unserved:chat', name: 'Queues', state: 'fail' }));
  await redis.hdel(keys.fleet.unservedQueues, 'chat', 'chat notified');
  expect(await attention(api.key, '?acknowledged=true')).toEqual([]);
  await redis.hset(keys.fleet.unservedQueues, 'chat', Date.now(), 'chat notified', Date.now());
  expect(await attention()).toMatchObject([{ id: 'queue.unserved:chat', acknowledged: null }]);
  await redis.hdel(keys.fleet.unservedQueues, 'chat', 'chat notified');
  expect((await api.call('POST', '/v1/attention/nothing/acknowledge')).body.code).toBe('finding.not-found');
});

it('an agent that failed stays found when nobody has tried it for longer than its failures count', async () => {
  const { counts } = api.parts.metrics;
  const task = { queue: 'tasks', priority: 5, source: 'api' } as const;
  const end = async (status: 'completed' | 'permanently_failed'): Promise<void> => {
    const result = status === 'completed' ? 'success' : 'failed';
    counts.attemptEnded('forgetful', task, { agent: 'echo', result, code: '', ranMs: 5, status, usage: null });
    await api.parts.metrics.flush();
  };
  const key = await api.keyOf('forgetful', ['admin']);
  for (let time = 0; time < 5; time += 1) await end('permanently_failed');
  const found = await attention(key);
  expect(found).toMatchObject([{ id: 'agent.failing:echo', level: 'critical' }]);
  const minute = Math.floor(Date.now() / 60_000);
  // As after the ten minutes that these count.
  await redis.del(...[minute - 1, minute, minute + 1].map((each) => keys.tenant('forgetful').agentMinute(each)));
  expect(await attention(key)).toEqual(found);
  await end('completed');
  expect(await attention(key)).toEqual([]);
});

it('a process that died with a worker and a hub is found once, and a hub of its own by itself', async () => {
  const { deadWorkers, workerNotes } = keys.fleet;
  const note = async (id: string, report: object): Promise<void> => {
    await redis.hset(workerNotes, id, JSON.stringify({ host: 'h', skewMs: 0, slots: 1, queues: [], ...report }));
    await redis.zadd(deadWorkers, Date.now() - 60_000, id);
  };
  await note('h-hub-1', { pid: 1, role: 'hub', running: 0 });
  await note('h-1', { pid: 1, role: 'worker', running: 2 });
  await note('h-hub-2', { pid: 2, role: 'hub', running: 0 });
  expect((await attention()).toSorted((one, other) => (one.id < other.id ? -1 : 1))).toMatchObject([
    { id: 'worker.dead:h-1', text: 'The worker h-1 stopped without saying so; its tasks went to others.' },
    { id: 'worker.dead:h-hub-2', text: 'The hub h-hub-2 stopped without saying so; it ran nothing.' },
  ]);
  await redis.del(deadWorkers, workerNotes, keys.fleet.findings);
});

it('a worker that died stays found when its record is kept no longer, until somebody acknowledges it', async () => {
  const { workers, deadWorkers, workerNotes } = keys.fleet;
  await redis.hset(workerNotes, 'w-1', JSON.stringify({ host: 'h', pid: 1, skewMs: 0 }));
  await redis.zadd(deadWorkers, Date.now() - 60_000, 'w-1');
  expect(await attention()).toMatchObject([{ id: 'worker.dead:w-1' }]);
  await redis.del(workers, deadWorkers, workerNotes);
  expect(await attention()).toMatchObject([{ id: 'worker.dead:w-1' }]);
  await api.call('POST', '/v1/attention/worker.dead:w-1/acknowledge');
  expect(await attention(api.key, '?acknowledged=true')).toEqual([]);
});
