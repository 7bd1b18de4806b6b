import { expect, it } from 'vitest';
import { noteRefusal } from '#shared/deliveries/refused-platforms.ts';
import { useApi } from '../support/use-api.ts';

const api = await useApi({ agents: { echo: { kind: 'echo', sameInput: { hold: 1, sources: ['api'] } } } });
const REPEATED = { agent: 'echo', input: 'again' };

interface Item {
  code: string;
  level: string;
  subject: string | null;
}

async function attention(key = api.key): Promise<Item[]> {
  const { status, body } = await api.call('GET', '/v1/attention', { key });
  expect([status, body.nextCursor]).toEqual([200, null]);
  return body.items;
}

it('names what a person should look at, the worst first, and the fleet only for its owner', async () => {
  const key = await api.keyOf('acme', ['admin']);
  expect(await attention(key)).toEqual([]);
  for (let count = 0; count < 3; count += 1) await api.call('POST', '/v1/tasks', { key, body: REPEATED });
  const { redis, keys } = api.parts;
  await redis.hset(keys.fleet.unservedQueues, 'chat', Date.now(), 'chat notified', Date.now());
  const schedule = { every: '1h', agent: 'echo', message: 'x', name: 'hourly' };
  const made = await api.call('POST', '/v1/schedules', { key, body: schedule });
  await api.call('PATCH', `/v1/schedules/${made.body.id}`, { key, body: { status: 'paused' } });
  const nameless = await api.call('POST', '/v1/schedules', { key, body: { every: '1h', agent: 'echo', message: 'x' } });
  await api.call('PATCH', `/v1/schedules/${nameless.body.id}`, { key, body: { status: 'paused' } });
  await api.call('PUT', '/v1/budgets/all', { key, body: { scope: 'tenant', per: 'total', softMicroUsd: 0, hardMicroUsd: 0 } });
  await api.call('POST', '/v1/agents/echo/pause', { key, body: { reason: 'it is broken' } });
  expect(await attention(key)).toMatchObject([
    { code: 'input.held', level: 'critical', count: 2 },
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
  expect(own).toMatchObject([{ code: 'queue.unserved', level: 'critical', subject: 'chat', link: '/queues' }]);
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
