import { expect, it } from 'vitest';
import { readAgentFigures } from '#shared/metrics/agent-hours.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { useWorker } from '../../../support/use-worker.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { useApi } from '../support/use-api.ts';

const api = await useApi({ metrics: { flushMs: 3_600_000 } });
const { parts } = api;
await useWorker(parts);

const ENDS = new Set(['completed', 'permanently_failed']);

const run = async (context: Record<string, unknown>, maxAttempts: number): Promise<void> => {
  const request = { tenant: 'acme', agent: 'echo', input: 'x', context, execution: { maxAttempts, retryDelayMs: 1 } };
  const { id } = await acceptTask(parts, request);
  const isOver = async (): Promise<boolean> =>
    ENDS.has(`${(await api.call('GET', `/v1/tasks/${id}`, { headers: { 'muster-tenant': 'acme' } })).body.status}`);
  await waitFor(isOver, { deadlineMs: 20_000, what: `the end of ${id}` });
};

it('what ended shows in rates, times and shares, for its tenant and the fleet', async () => {
  expect((await api.call('POST', '/v1/tenants', { body: { id: 'acme' } })).status).toBe(201);
  await Promise.all([
    run({}, 1),
    run({ failAttempts: 1, failCode: 'NETWORK_ERROR' }, 2),
    run({ failAttempts: 1, failCode: 'INVALID_INPUT' }, 2),
  ]);
  await parts.metrics.flush();
  const { body: figures } = await api.call('GET', '/v1/metrics', { headers: { 'muster-tenant': 'acme' } });
  expect(figures).toMatchObject({
    tasks_enqueued_per_minute: 3,
    tasks_completed_per_minute: 2,
    tasks_failed_per_minute: 1,
    retry_rate: 0.25,
    failure_rate: 0.3333,
    timeout_rate: 0,
    queue_depth_total: 0,
    daemons_online: 1,
    daemons_busy: 0,
    used_daemon_capacity: 0,
  });
  expect(figures.p99_execution_time_ms).toBeGreaterThanOrEqual(figures.avg_execution_time_ms);
  // Of the slots that the worker offers, as many as the tenant may run at once.
  expect(figures.total_daemon_capacity).toBe(parts.tenants.limitsOf('acme')?.running);
  const { body: ofFleet } = await api.call('GET', '/v1/metrics?scope=fleet');
  expect(ofFleet).toMatchObject({ tasks_completed_per_minute: 2, failure_rate: 0.3333 });
  expect(ofFleet.total_daemon_capacity).toBeGreaterThan(figures.total_daemon_capacity);
  const { body: own } = await api.call('GET', '/v1/metrics');
  expect(own).toMatchObject({ tasks_enqueued_per_minute: 0, failure_rate: 0 });
});

const read = async (query = '', tenant = 'acme') =>
  (await api.call('GET', `/v1/metrics/agents${query}`, { headers: { 'muster-tenant': tenant } })).body;

it('what agents did is counted by agent over a window of hours, for its tenant', async () => {
  const { items, hours, since } = await read();
  expect(items).toMatchObject([{ agent: 'echo', attempts: 4, completed: 2, failed: 1, retried: 1, failureRate: 0.3333, costMicroUsd: 0 }]);
  expect(items[0].runP95Ms).toBeGreaterThanOrEqual(items[0].runP50Ms);
  expect(Date.now() - Date.parse(items[0].lastAt)).toBeLessThan(3_600_000);
  expect([hours, Date.parse(since) % 3_600_000]).toEqual([24, 0]);
  // Of other tenants than `default` less is kept.
  expect((await read('?hours=168')).hours).toBe(24);
  expect(await read('?hours=168', 'default')).toMatchObject({ items: [], hours: 168 });
  for (const query of ['?hours=0', '?hours=169']) expect((await read(query)).code).toBe('request.invalid');
  const hour = Math.floor(Date.now() / 3_600_000);
  const ttls = await Promise.all([hour, hour - 1].map((each) => parts.redis.pttl(parts.keys.tenant('acme').agentHour(each))));
  expect(Math.max(...ttls)).toBeGreaterThan(0);
  expect(Math.max(...ttls)).toBeLessThanOrEqual(25 * 3_600_000);
});

it('agents whose attempts fail now need attention, when there are enough of them', async () => {
  const { counts } = parts.metrics;
  const task = { queue: 'tasks', priority: 5, source: 'api' } as const;
  const count = (agent: string, status: 'completed' | 'failed' | 'permanently_failed' | 'queued', times: number): void => {
    const result = status === 'completed' ? 'success' : status === 'queued' ? 'interrupted' : 'failed';
    for (let time = 0; time < times; time += 1)
      counts.attemptEnded('acme', task, { agent, result, code: '', ranMs: 5, status, usage: null });
  };
  const attention = async () => {
    await parts.metrics.flush();
    const { items } = (await api.call('GET', '/v1/attention', { headers: { 'muster-tenant': 'acme' } })).body;
    return items.filter(({ code }: { code: string }) => code === 'agent.failing');
  };
  count('seldom', 'permanently_failed', 4);
  count('mixed', 'permanently_failed', 6);
  count('mixed', 'completed', 7);
  count('deployed', 'failed', 4);
  count('deployed', 'completed', 3);
  count('deployed', 'queued', 9);
  expect(await attention()).toEqual([]);
  count('deployed', 'failed', 1);
  count('gone', 'permanently_failed', 2);
  count('gone', 'failed', 3);
  const text = 'of gone failed within 10 minutes, 2 of them for good.';
  expect(await attention()).toMatchObject([
    { level: 'critical', subject: 'gone', count: 5, link: '/failures?agent=gone', text: `5 of 5 attempts ${text}` },
    {
      level: 'warning',
      subject: 'deployed',
      count: 5,
      link: '/tasks?agent=deployed&status=failed,timeout',
      text: '5 of 8 attempts of deployed failed within 10 minutes, all are tried again.',
    },
  ]);
  const minute = Math.floor(Date.now() / 60_000);
  const keys = [minute, minute - 1, minute + 1].map((each) => parts.keys.tenant('acme').agentMinute(each));
  const ttl = Math.max(...(await Promise.all(keys.map((each) => parts.redis.pttl(each)))));
  expect([ttl > 600_000, ttl <= 720_000]).toEqual([true, true]);
});

it('an hour has figures of no more agents than it may', async () => {
  const { counts } = parts.metrics;
  const { metrics } = parts.settings;
  const { maxAgents } = metrics;
  try {
    Object.assign(metrics, { maxAgents: 1 });
    const task = { queue: 'tasks', priority: 5, source: 'api' } as const;
    const count = (agent: string): void =>
      counts.attemptEnded('busy', task, { agent, result: 'success', code: '', ranMs: 5, status: 'completed', usage: null });
    for (let number = 0; number < 40; number += 1) {
      count(`a${number}`);
      await parts.metrics.flush();
    }
    count('a0');
    await parts.metrics.flush();
  } finally {
    Object.assign(metrics, { maxAgents });
  }
  const figures = (await readAgentFigures(parts.ledger, 'busy', 2)).items;
  // In two hours, where one ended meanwhile.
  expect(figures.length).toBeLessThan(20);
  expect(figures.find(({ agent }) => agent === 'a0')?.completed).toBe(2);
});
