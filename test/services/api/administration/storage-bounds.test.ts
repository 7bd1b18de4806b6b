import { describe, expect, it } from 'vitest';
import { closeAfterTests } from '../../../support/close-after-tests.ts';
import { useRedis } from '../../../support/redis/use-redis.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { startApi } from '../support/start-api.ts';
import type { Reply } from '../../../support/call-api.ts';

const redis = await useRedis();
const api = closeAfterTests(
  await startApi(redis.url, {
    http: { maxListBytes: 100_000 },
    scheduler: { maxMessageBytes: 20_000, maxBytesPerTenant: 300_000 },
    sessions: { maxRecords: 5 },
    tasks: { maxTimeoutMs: 60_000 },
    limits: {
      maxAgentBytesPerTenant: 100_000,
      tenants: { small: { storedBytes: 200_000, waiting: null, rates: {} }, hasty: { maxTimeoutMs: 5000 } },
    },
  }),
);

const schedule = (message: string, key = api.key): Promise<Reply> =>
  api.call('POST', '/v1/schedules', { key, body: { every: '1h', agent: 'echo', message } });

describe('schedules', () => {
  it('have a message of bounded length, and are bounded in all', async () => {
    const long = await schedule('x'.repeat(20_001));
    expect([long.status, long.body.code]).toEqual([413, 'request.too-large']);
    const { id } = (await schedule('x'.repeat(20_000))).body;
    expect((await api.call('PATCH', `/v1/schedules/${id}`, { body: { message: 'x'.repeat(20_001) } })).status).toBe(413);
    await waitFor(async () => (await schedule('x'.repeat(20_000))).status === 429, { deadlineMs: 10_000, what: 'the bytes to be used up' });
    const refused = await schedule('short');
    expect([refused.status, refused.body.code]).toEqual([429, 'limit.storage']);
    expect((await api.call('PATCH', `/v1/schedules/${id}`, { body: { message: 'y' } })).status).toBe(429);
    expect((await api.call('PATCH', `/v1/schedules/${id}`, { body: { status: 'paused' } })).status).toBe(200);
  });

  it('are listed in pages of bounded size, which together have all of them', async () => {
    const seen = new Set<string>();
    let cursor: string | null = '';
    for (let pages = 0; cursor !== null && pages < 50; pages += 1) {
      const { body }: Reply = await api.call('GET', `/v1/schedules?limit=200${cursor === '' ? '' : `&cursor=${cursor}`}`);
      expect(JSON.stringify(body).length).toBeLessThan(130_000);
      for (const { id } of body.items as { id: string }[]) seen.add(id);
      cursor = body.nextCursor as string | null;
    }
    expect(seen.size).toBeGreaterThan(10);
    expect(cursor).toBeNull();
  });
});

describe('what a tenant has stored', () => {
  it('is shown, and over its limit nothing more is taken', async () => {
    expect((await api.call('POST', '/v1/tenants', { body: { id: 'small' } })).status).toBe(201);
    const key = await api.keyOf('small', ['admin']);
    const task = (): Promise<Reply> => api.call('POST', '/v1/tasks', { key, body: { agent: 'echo', input: 'x'.repeat(50_000) } });
    expect((await task()).status).toBe(202);
    await waitFor(async () => (await task()).status === 429, { deadlineMs: 15_000, what: 'the limit to be noticed' });
    const refusals = [await task(), await schedule('x', key), await api.call('PUT', '/v1/agents/own', { key, body: { kind: 'echo' } })];
    expect(refusals.map(({ status, body }) => [status, body.code])).toEqual(refusals.map(() => [429, 'limit.storage']));
    const { body } = await api.call('GET', '/v1/tenants/small');
    expect(body).toMatchObject({ id: 'small', maxStoredBytes: 200_000 });
    expect(body.storedBytes).toBeGreaterThan(200_000);
  }, 30_000);

  it('has no limit for the tenant of a one-team installation, but is shown too', async () => {
    expect((await api.call('GET', '/v1/tenants/default')).body).toMatchObject({ maxStoredBytes: null, storedBytes: expect.any(Number) });
  });

  it('has agents of bounded size, because they are listed in one answer', async () => {
    const put = (id: number): Promise<Reply> =>
      api.call('PUT', `/v1/agents/large-${id}`, { body: { kind: 'openai', model: 'm', system: 'x'.repeat(90_000) } });
    const answers = [await put(1), await put(2), await put(3)];
    expect(answers.at(-1)).toMatchObject({ status: 429, body: { code: 'limit.storage' } });
    await api.call('DELETE', '/v1/agents/large-1');
    await api.call('DELETE', '/v1/agents/large-2');
  });
});

it('choices of more sessions than are kept make those that were used longest ago go', async () => {
  const choose = (id: string): Promise<Reply> => api.call('PUT', `/v1/sessions/${id}/mode`, { body: { mode: 'reject' } });
  for (let number = 1; number <= 8; number += 1) expect((await choose(`s${number}`)).status).toBe(200);
  const modes = await Promise.all(['s1', 's8'].map(async (id) => (await api.call('GET', `/v1/sessions/${id}`)).body.modeSource as string));
  expect(modes).toEqual(['surface', 'session']);
  const keys = await api.parts.redis.keys('*:session:s*');
  expect(keys).toHaveLength(5);
});

describe('a longer run than may be', () => {
  it.each([
    ['a task', 'POST', '/v1/tasks', { agent: 'echo', input: 'x', execution: { timeoutMs: 60_001 } }],
    ['an agent', 'PUT', '/v1/agents/slow', { kind: 'echo', timeoutMs: 60_001 }],
  ])('is refused for %s, and says how long it may be', async (_what, method, path, body) => {
    const answer = await api.call(method, path, { body });
    expect([answer.status, answer.body.detail]).toEqual([422, expect.stringContaining('expected at most 60000 ms, got 60001')]);
  });

  it('is a shorter one for a tenant whose limits say so', async () => {
    await api.call('POST', '/v1/tenants', { body: { id: 'hasty' } });
    const key = await api.keyOf('hasty', ['submit']);
    const send = (timeoutMs: number): Promise<Reply> =>
      api.call('POST', '/v1/tasks', { key, body: { agent: 'echo', input: 'x', execution: { timeoutMs } } });
    expect([(await send(5001)).status, (await send(5000)).status]).toEqual([422, 202]);
  });
});
