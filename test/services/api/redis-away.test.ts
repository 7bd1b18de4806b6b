import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startRedis, type RedisServer } from '../../support/redis/start-redis.ts';
import { waitFor } from '../../support/wait-for.ts';
import { startApi, type Api } from './support/start-api.ts';
import type { CallOptions } from '../../support/call-api.ts';

let redis: RedisServer;
let api: Api;

beforeEach(async () => {
  redis = await startRedis({ args: ['--appendonly', 'yes', '--appendfsync', 'always'] });
  api = await startApi(redis.url);
});

afterEach(async () => {
  await redis.kill('SIGCONT').catch(() => undefined);
  await api.close();
  await redis.stop();
});

/** The promise to every producer. */
const ANSWER_MS = 2000;

const task = { agent: 'echo', input: 'hello' };

const calls: [method: string, path: string, options: CallOptions][] = [
  ['POST', '/v1/tasks', { body: task }],
  ['POST', '/v1/tasks/bulk', { body: { items: Array.from({ length: 300 }, () => task) } }],
  ['GET', '/v1/tasks', {}],
  ['GET', '/v1/queues', {}],
  ['POST', '/v1/tasks/01ARZ3NDEKTSV4RRFFQ69G5FAV/cancel', {}],
];

describe.each(['SIGKILL', 'SIGSTOP'] as const)('when Redis ends by %s', (signal) => {
  it('every call answers 503 unavailable.redis within 2 s, and works again soon after Redis is back', async () => {
    expect((await api.call('POST', '/v1/tasks', { body: task })).status).toBe(202);
    await redis.kill(signal);
    for (let round = 0; round < 2; round += 1) {
      const replies = await Promise.all(calls.map(([method, path, options]) => api.call(method, path, options)));
      expect(replies.map(({ status, body }) => [status, body.code])).toEqual(calls.map(() => [503, 'unavailable.redis']));
      for (const { headers, ms } of replies) {
        expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
        expect(ms).toBeLessThan(ANSWER_MS);
      }
    }
    expect((await api.call('GET', '/healthz')).status).toBe(200);
    const ready = await api.call('GET', '/readyz');
    expect(ready.status).toBe(503);
    expect(ready.ms).toBeLessThan(ANSWER_MS);

    if (signal === 'SIGSTOP') await redis.kill('SIGCONT');
    else await redis.restart();
    await waitFor(async () => (await api.call('POST', '/v1/tasks', { body: task })).status === 202, {
      deadlineMs: 5000,
      what: 'the API to take work again',
    });
    await waitFor(async () => (await api.call('GET', '/readyz')).status === 200, { deadlineMs: 3000, what: '/readyz' });
  });
});

describe('when Redis goes while a call is under way', () => {
  it('a bulk of many does not try each item for its whole timeout', async () => {
    await api.call('POST', '/v1/tasks', { body: task });
    // Frozen once the key was looked up: from here on every item would wait.
    const freeze = redis.kill('SIGSTOP');
    const reply = await api.call('POST', '/v1/tasks/bulk', { body: { items: Array.from({ length: 500 }, () => task) } });
    await freeze;
    expect([200, 503]).toContain(reply.status);
  });
});
