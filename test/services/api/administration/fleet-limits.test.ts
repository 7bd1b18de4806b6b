import { afterEach, describe, expect, it } from 'vitest';
import { waitFor } from '../../../support/wait-for.ts';
import { driveTasks } from '../support/drive-tasks.ts';
import type { Reply } from '../../../support/call-api.ts';
import { useApi } from '../support/use-api.ts';

const api = await useApi({
  agents: { echo: { kind: 'echo' } },
  limits: { maxConcurrent: 100, fleet: { runningByClass: { proactive: 5 } } },
});
afterEach(async () => {
  await api.call('DELETE', '/v1/limits');
});

const submit = async (key = api.key): Promise<Reply> => api.call('POST', '/v1/tasks', { key, body: { agent: 'echo', input: 'x' } });

describe('the limits of the fleet', () => {
  it("are the configuration's until they are changed by name, and again after a reset", async () => {
    const configured = { maxConcurrent: 100, runningByClass: { proactive: 5 }, runningLow: null, rates: {} };
    const before = await api.call('GET', '/v1/limits');
    expect(before.body).toEqual({ limits: configured, configured, origin: 'config', changedAt: null, changedBy: null, running: 0 });
    const changed = await api.call('PATCH', '/v1/limits', { body: { maxConcurrent: 7, runningByClass: { user: 3 }, runningLow: 2 } });
    expect([changed.status, changed.body]).toMatchObject([
      200,
      { origin: 'api', changedAt: expect.any(String), changedBy: expect.any(String) },
    ]);
    const { body } = await api.call('PATCH', '/v1/limits', { body: { runningByClass: { proactive: null }, runningLow: null } });
    expect(body.limits).toEqual({ maxConcurrent: 7, runningByClass: { user: 3 }, runningLow: null, rates: {} });
    expect((await api.call('DELETE', '/v1/limits')).body).toEqual(before.body);
  });

  it('are read and changed by owners of the fleet alone, and by figures that can be', async () => {
    const key = await api.keyOf('acme', ['admin']);
    expect((await api.call('GET', '/v1/limits', { key })).status).toBe(403);
    expect((await api.call('PATCH', '/v1/limits', { key, body: { maxConcurrent: 1 } })).status).toBe(403);
    const reader = await api.keyOf('default', ['read']);
    expect((await api.call('GET', '/v1/limits', { key: reader })).status).toBe(200);
    expect((await api.call('PATCH', '/v1/limits', { key: reader, body: { maxConcurrent: 1 } })).status).toBe(403);
    expect((await api.call('PATCH', '/v1/limits', { body: { maxConcurrent: 0 } })).body.code).toBe('request.invalid');
  });

  it('refuse a task over a rate of all tenants with the time to come again', async () => {
    await api.call('PATCH', '/v1/limits', { body: { rates: { all: { perMinute: 1, perHour: 100, burst: 2 } } } });
    const key = await api.keyOf('acme', ['submit']);
    expect([(await submit()).status, (await submit(key)).status]).toEqual([202, 202]);
    const refused = await submit(key);
    expect(refused).toMatchObject({ status: 429, body: { code: 'limit.rate', details: { scope: 'fleet', rate: 'all' } } });
    const retryAfter = Number(refused.headers.get('retry-after'));
    expect(retryAfter).toBeGreaterThan(50);
    expect(retryAfter).toBeLessThanOrEqual(60);
  });

  it('are previewed on the tasks of all tenants', async () => {
    for (const tenant of ['default', 'second']) {
      await api.call('POST', '/v1/tenants', { body: { id: tenant } });
      const { body } = await submit(await api.keyOf(tenant, ['submit']));
      await driveTasks(api.parts, tenant).start(body.id);
    }
    const preview = (limits: object): Promise<Reply> => api.call('POST', '/v1/limits/preview', { body: { limits } });
    await waitFor(async () => (await preview({ maxConcurrent: 1 })).body.wouldHaveWaited === 1, { deadlineMs: 10_000, what: 'a wait' });
    const { body } = await preview({ maxConcurrent: 1 });
    expect(body).toMatchObject({ tasks: 2, byLimit: [{ limit: 'running', waited: 1 }] });
    expect(body.sentence).toMatch(
      /^With these limits, 1 of the last day's 2 tasks would have waited, the longest \d.*, and none would have been refused\.$/,
    );
    expect((await api.call('GET', '/v1/limits')).body.origin).toBe('config');
  });
});

it("a tenant's raised limits grant at once what waits, without a worker that ends anything", async () => {
  await api.call('POST', '/v1/tenants', { body: { id: 'small', limits: { running: 1, runningByAgent: { echo: 3 } } } });
  const key = await api.keyOf('small', ['submit']);
  const ids = [
    (await submit(key)).body.id,
    (await submit(key)).body.id,
    (await submit(key)).body.id,
    (await submit(key)).body.id,
  ] as string[];
  const statuses = (): Promise<string[]> =>
    Promise.all(ids.map(async (id) => (await api.call('GET', `/v1/tasks/${id}`, { key })).body.status as string));
  expect(await statuses()).toEqual(['queued', 'pending', 'pending', 'pending']);
  await api.call('PATCH', '/v1/tenants/small', { body: { limits: { running: 10 } } });
  await waitFor(async () => (await statuses()).join(' ') === 'queued queued queued pending', { deadlineMs: 5000, what: 'two grants' });
  await api.call('PATCH', '/v1/tenants/small', { body: { limits: { runningByAgent: { echo: 4 } } } });
  await waitFor(async () => (await statuses())[3] === 'queued', { deadlineMs: 5000, what: 'the grant of the agent' });
  expect((await api.call('GET', '/v1/tenants/small')).body.effectiveLimits).toMatchObject({ running: 10, runningByAgent: { echo: 4 } });
});
