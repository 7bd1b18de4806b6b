import { expect, it } from 'vitest';
import { SOURCES } from '#shared/config/sources.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { PRIORITY_BANDS } from '#shared/tasks/priority.ts';
import { driveTasks } from '../support/drive-tasks.ts';
import { useApi } from '../support/use-api.ts';

const api = await useApi({ metrics: { flushMs: 3_600_000 } });
const { parts } = api;

type Figures = Record<string, number> & { queue_depth_by_priority: object; queue_depth_by_source: object };

const keys: Record<string, string> = { default: api.key };
const metricsOf = async (tenant = 'default', query = ''): Promise<Figures> => {
  // What was read a moment ago would still count.
  const [fleet, own] = [parts.keys.fleet, parts.keys.tenant(tenant)];
  await parts.redis.del(fleet.load, fleet.lastLoad, own.load, own.lastLoad);
  keys[tenant] ??= await api.keyOf(tenant, ['read']);
  const { status, body } = await api.call('GET', `/v1/metrics${query}`, { key: keys[tenant] });
  expect(status).toBe(200);
  return body as Figures;
};

/** A tenant of its own for each test. */
const newTenant = async (id: string): Promise<string> => {
  expect(
    (await api.call('POST', '/v1/tenants', { body: { id, limits: { running: 5, waiting: null, rates: {}, runningByClass: {} } } })).status,
  ).toBe(201);
  return id;
};

const NOTHING = {
  queue_depth_total: 0,
  queue_depth_by_priority: Object.fromEntries(PRIORITY_BANDS.map((band) => [band, 0])),
  queue_depth_by_source: Object.fromEntries(SOURCES.map((source) => [source, 0])),
  tasks_enqueued_per_minute: 0,
  tasks_completed_per_minute: 0,
  tasks_failed_per_minute: 0,
  avg_queue_wait_time_ms: 0,
  avg_execution_time_ms: 0,
  p99_queue_wait_time_ms: 0,
  p99_execution_time_ms: 0,
  daemons_online: 0,
  daemons_busy: 0,
  total_daemon_capacity: 0,
  used_daemon_capacity: 0,
  retry_rate: 0,
  failure_rate: 0,
  timeout_rate: 0,
};

it('a tenant without a task has the seventeen figures, each of them 0', async () => {
  expect(await metricsOf(await newTenant('quiet'))).toEqual(NOTHING);
});

it('what waits is counted by priority and source, and what runs is used capacity', async () => {
  const tenant = await newTenant('waiting');
  const accept = async (request: object): Promise<string> =>
    (await acceptTask(parts, { tenant, agent: 'echo', input: 'x', ...request })).id;
  const [running] = await Promise.all([
    accept({}),
    accept({ priority: 9 }),
    accept({ priority: 'low', source: 'webhook' }),
    accept({ priority: 'critical' }),
    accept({ source: 'proactive' }),
    // Beyond the limit of five, and for later: both wait without a ticket.
    accept({ source: 'proactive' }),
    accept({ scheduledFor: new Date(Date.now() + 3_600_000).toISOString() }),
  ]);
  await driveTasks(parts, tenant).start(running);
  const figures = await metricsOf(tenant);
  expect(figures).toMatchObject({
    queue_depth_total: 6,
    queue_depth_by_priority: { critical: 1, high: 1, normal: 3, low: 1 },
    queue_depth_by_source: { api: 3, proactive: 2, webhook: 1, chat: 0, schedule: 0, delegation: 0 },
    daemons_busy: 1,
    used_daemon_capacity: 1,
  });
  expect(await metricsOf('default')).toMatchObject({ queue_depth_total: 0, used_daemon_capacity: 0 });
  expect(await metricsOf('default', '?scope=fleet')).toMatchObject({ queue_depth_total: 6, used_daemon_capacity: 1 });
});

it('of more waiting tasks than are read, all are counted', async () => {
  const tenant = await newTenant('many');
  const limits = { running: null, waiting: null, rates: {}, runningByClass: {} };
  expect((await api.call('PATCH', `/v1/tenants/${tenant}`, { body: { limits } })).status).toBe(200);
  const accept = (_: unknown, place: number): Promise<unknown> =>
    acceptTask(parts, { tenant, agent: 'echo', input: 'x', priority: place % 4 === 0 ? 8 : 5 });
  await Promise.all(Array.from({ length: 2400 }, accept));
  const { queue_depth_total: total, queue_depth_by_priority: byPriority } = await metricsOf(tenant);
  expect([total, byPriority]).toEqual([2400, { critical: 0, high: 600, normal: 1800, low: 0 }]);
});

it("the fleet's figures are for keys of the tenant default", async () => {
  const key = await api.keyOf(await newTenant('curious'), ['admin']);
  const refused = await api.call('GET', '/v1/metrics?scope=fleet', { key });
  expect([refused.status, refused.body.code]).toEqual([403, 'auth.forbidden']);
  expect((await api.call('GET', '/v1/metrics?scope=everything')).status).toBe(422);
  expect((await api.call('GET', '/v1/metrics', { key: null })).status).toBe(401);
});
