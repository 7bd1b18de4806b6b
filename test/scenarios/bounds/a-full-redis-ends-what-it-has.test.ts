import { afterEach, expect, it } from 'vitest';
import { connectRedis } from '#shared/redis/connect-redis.ts';
import { createLog } from '#shared/log/create-log.ts';
import { WAITING_AGENT } from '../../support/fleet/mixed-work.ts';
import { type Fleet, openFleet } from '../../support/fleet/open-fleet.ts';
import { reportFigure } from '../../support/fleet/figures.ts';
import { waitFor } from '../../support/wait-for.ts';

let fleet: Fleet;
afterEach(async () => {
  await fleet.stop();
});

/** Redis is full after some hundred of these. */
const INPUT = 'x'.repeat(50_000);
const MAX_MEMORY = '60mb';
const AT_ONCE = 5;
const MAX_TASKS = 3000;

it('new work is refused before Redis is full, all that was accepted ends, and work is taken again when there is room', async () => {
  fleet = await openFleet({ settings: { agents: WAITING_AGENT, limits: { tenants: {} } } });
  await fleet.start('api');
  await fleet.start('worker');
  const redis = connectRedis({ url: fleet.redis.url, name: 'test', log: createLog({ level: 'silent', service: 'test' }) });
  try {
    await redis.config('SET', 'maxmemory', MAX_MEMORY);
    const send = async () =>
      await fleet.client.call('POST', '/v1/tasks', { body: { agent: 'wait', input: INPUT, context: { workMs: 50 } } });
    const accepted: string[] = [];
    const refused = new Set<string>();
    while (refused.size === 0 && accepted.length < MAX_TASKS) {
      const replies = await Promise.all(Array.from({ length: AT_ONCE }, send));
      accepted.push(...replies.flatMap(({ status, body }) => (status === 202 ? [String(body.id)] : [])));
      for (const { status, body } of replies.filter((reply) => reply.status !== 202)) refused.add(`${status} ${String(body.code)}`);
    }
    expect([...refused]).toEqual(['503 unavailable.memory']);
    const ended = await fleet.client.ended(accepted, 120_000);
    expect(new Set(ended.map(({ status }) => status))).toEqual(new Set(['completed']));
    expect(new Set(ended.map(({ attempt }) => attempt))).toEqual(new Set([1]));
    const { body } = await fleet.client.call('GET', '/v1/attention');
    expect(JSON.stringify(body)).toContain('redis.memory');
    await redis.config('SET', 'maxmemory', '500mb');
    await waitFor(async () => (await send()).status === 202, { deadlineMs: 10_000, what: 'work to be taken again' });
    const info = await redis.info('errorstats');
    expect(info).not.toContain('OOM');
    reportFigure(
      'a Redis of 60 MB',
      `${accepted.length} tasks of 50 kB accepted and completed in one attempt each, then 503 unavailable.memory`,
    );
  } finally {
    redis.disconnect();
  }
});
