import { afterAll, beforeAll, expect, it } from 'vitest';
import { installedVersion } from '#shared/config/installed-version.ts';
import { windowOf } from '#shared/budgets/budget.ts';
import { noteFailed } from '#shared/findings/alerts/receiver-store.ts';
import { findingOf } from '#shared/findings/finding.ts';
import { startHttpServer } from '#shared/http/start-http-server.ts';
import { processMetrics } from '#shared/lifecycle/process-metrics.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { usageDay } from '#shared/tasks/usage.ts';
import { createApiService } from '../../../../services/api/create-api-service.ts';
import { readPage } from '../../../docs/markdown.ts';
import { useParts } from '../../../support/use-parts.ts';

const parts = await useParts({
  metrics: { flushMs: 3_600_000 },
  budgets: [{ id: 'daily', scope: 'tenant', per: 'day', softMicroUsd: 2_000_000, hardMicroUsd: 4_000_000, atHard: 'deny' }],
  models: { large: { inputUsdPerMTok: 1, outputUsdPerMTok: 2 } },
  alerts: [{ name: 'ops', to: { slack: { url: 'http://127.0.0.1:9/' } } }],
});
const { registry, router } = createApiService(parts);
const { config, log } = parts;
const server = await startHttpServer({
  routers: router ? [router] : [],
  registries: [processMetrics(parts.redis, 'v1.4.0'), ...(registry ? [registry] : [])],
  host: '127.0.0.1',
  port: 0,
  config,
  log,
  readiness: () => Promise.resolve([]),
});
afterAll(() => server.close(500));

const scrape = async (): Promise<string> => await (await fetch(`http://127.0.0.1:${server.port}/metrics`)).text();
const TASK = { queue: 'tasks', priority: 5, source: 'api' } as const;
const LABELS = 'queue="tasks",band="normal",source="api"';

beforeAll(async () => {
  await acceptTask(parts, { tenant: 'default', agent: 'echo', input: 'x' });
  await acceptTask(parts, { tenant: 'default', agent: 'echo', input: 'x', scheduledFor: new Date(Date.now() + 3_600_000).toISOString() });
  const usage = { inputTokens: 100, outputTokens: 20, costMicroUsd: 1_500_000 };
  const ended = { agent: 'echo', result: 'success', code: '', ranMs: 40, status: 'completed', usage } as const;
  const { counts } = parts.metrics;
  counts.attemptStarted('default', TASK, 700);
  counts.attemptEnded('default', TASK, ended);
  counts.attemptEnded('default', TASK, {
    ...ended,
    ranMs: 9_000_000,
    result: 'timeout',
    code: 'EXECUTION_TIMEOUT',
    status: 'timeout',
    usage: null,
  });
  const account = { name: 'of-a-tenant', endpoint: 'http://model.test', limits: {} };
  const call = {
    account,
    model: 'any',
    place: { tenant: 'default', id: 'task', token: 1 },
    band: 'normal',
    weight: 1,
    tokens: 1,
    isFirst: true,
  } as const;
  const admission = await parts.throttle.admitCall(call, new AbortController().signal);
  if (admission.kind === 'go') await parts.throttle.reportCall(admission.permit, { status: 402 });
  counts.outputLost();
  await parts.metrics.flush();
  await spend();
  await noteFailed(parts, 'ops', { at: Date.now(), times: 3, why: 'the receiver answered with 500' });
  await parts.redis.hset(parts.keys.fleet.findings, 'queue.paused:chat', JSON.stringify(PAUSED));
});

const PAUSED = {
  ...findingOf({ code: 'queue.paused', severity: 'warning', text: 'It is.', helps: 'Resume it.', link: '/queues', subject: 'chat' }),
  since: 1,
};

/** What a tenant spent today: 1.5 dollars for a model of the configuration, and a half for another. */
async function spend(): Promise<void> {
  const { redis, keys } = parts;
  const own = keys.tenant('default');
  await redis.hset(own.usageDay(usageDay(Date.now())), 'echo|api|large', '1 1 0 0 1500000', 'echo|api|of-a-tenant', '1 1 0 0 500000');
  const budget = (await parts.budgets.of('default')).find(({ id }) => id === 'daily');
  if (budget === undefined) throw new Error('The budget is missing');
  await redis.hset(own.spent(windowOf(budget, '', Date.now()).name), 'spent', 2_000_000);
}

it('the families that are served are those of the documentation, with their types and labels', async () => {
  const text = await scrape();
  const served = [...text.matchAll(/^# TYPE (muster_\w+) (\w+)$/gm)].map(([, name = '', type]) => `${name} ${type}`);
  const rows = [...readPage('docs/metrics.md').matchAll(/^\| `(muster_\w+)` \| (\w+) \|/gm)];
  expect(served.toSorted()).toEqual(rows.map(([, name = '', type]) => `${name} ${type}`).toSorted());
  const documented = new Map(
    [...readPage('docs/metrics.md').matchAll(/^\| `(muster_\w+)` \| \w+ \| ([^|]*)\|/gm)].map(([, name = '', labels = '']) => [
      name,
      [...labels.matchAll(/`(\w+)`/g)].map(([, label = '']) => label),
    ]),
  );
  for (const [, sample = '', all = ''] of text.matchAll(/^(muster_\w+)\{([^}]*)\}/gm)) {
    const name = documented.has(sample) ? sample : sample.replace(/_(bucket|sum|count)$/, '');
    const labels = [...all.matchAll(/(\w+)="/g)].map(([, label = '']) => label).filter((label) => label !== 'le');
    expect([name, ...labels]).toEqual([name, ...(documented.get(name) ?? [])]);
  }
});

it('counters are what was counted, in the units of their names', async () => {
  const lines = (await scrape()).split('\n');
  expect(lines).toEqual(
    expect.arrayContaining([
      `muster_tasks_accepted_total{${LABELS}} 2`,
      `muster_tasks_total{${LABELS},outcome="completed"} 1`,
      'muster_attempts_total{result="success",code=""} 1',
      'muster_attempts_total{result="timeout",code="EXECUTION_TIMEOUT"} 1',
      `muster_retries_total{${LABELS}} 1`,
      'muster_tokens_total{agent="echo",direction="input"} 100',
      'muster_cost_usd_total{agent="echo"} 1.5',
      'muster_model_calls_total{account="other",model="other",result="refused"} 1',
      'muster_model_tasks_waiting{account="other",model="other"} 1',
      'muster_model_walls{account="other",model="other"} 1',
      'muster_output_entries_lost_total 1',
    ]),
  );
});

it('each bucket of a histogram has all that is below it, and the last has all', async () => {
  const lines = (await scrape()).split('\n');
  expect(lines).toEqual(
    expect.arrayContaining([
      `muster_attempt_seconds_bucket{${LABELS},le="0.025"} 0`,
      `muster_attempt_seconds_bucket{${LABELS},le="0.05"} 1`,
      `muster_attempt_seconds_bucket{${LABELS},le="3600"} 1`,
      `muster_attempt_seconds_bucket{${LABELS},le="+Inf"} 2`,
      `muster_attempt_seconds_count{${LABELS}} 2`,
      `muster_attempt_seconds_sum{${LABELS}} 9000.04`,
      `muster_task_wait_seconds_sum{${LABELS}} 0.7`,
    ]),
  );
});

it('gauges are what the fleet is now', async () => {
  const lines = (await scrape()).split('\n');
  expect(lines).toEqual(
    expect.arrayContaining([
      `muster_tasks_waiting{${LABELS}} 2`,
      'muster_tasks_parked{gate="time"} 1',
      'muster_suspended{gate="event"} 0',
      'muster_attempts_running 0',
      'muster_attempts_orphaned 0',
      'muster_tenants_pressed{level="critical"} 0',
    ]),
  );
  expect(lines.find((line) => line.startsWith('muster_oldest_waiting_seconds{queue="tasks"}'))).toBeDefined();
});

it('money is of this day, by tenant and by model of the configuration, and of each line of a budget', async () => {
  const lines = (await scrape()).split('\n');
  expect(lines).toEqual(
    expect.arrayContaining([
      'muster_tenant_tasks_open{tenant="default"} 2',
      'muster_tenant_cost_usd_today{tenant="default"} 2',
      'muster_model_cost_usd_today{model="large"} 1.5',
      'muster_model_cost_usd_today{model="other"} 0.5',
      'muster_budget_used_ratio{tenant="default",budget="daily",line="soft"} 1',
      'muster_budget_used_ratio{tenant="default",budget="daily",line="hard"} 0.5',
    ]),
  );
});

it('what is wrong can be seen: findings, receivers of alerts, the memory of Redis, readiness', async () => {
  await parts.redis.config('SET', 'maxmemory', '500mb');
  const lines = (await scrape()).split('\n');
  expect(lines).toEqual(
    expect.arrayContaining([
      'muster_findings{code="queue.paused",severity="warning"} 1',
      'muster_alert_failures{alert="ops"} 3',
      'muster_redis_memory_bytes{node="0",state="max"} 524288000',
      'muster_process_ready 1',
    ]),
  );
  expect(Number(lines.find((line) => line.startsWith('muster_redis_memory_bytes{node="0",state="used"}'))?.split(' ')[1])).toBeGreaterThan(
    0,
  );
});

it('a process says what it is, and how many commands it sent to Redis', async () => {
  const commandsOf = async (): Promise<number> => Number(/^muster_redis_commands_total (\d+)$/m.exec(await scrape())?.[1]);
  const before = await commandsOf();
  for (let call = 0; call < 10; call += 1) await parts.redis.ping();
  expect(await commandsOf()).toBeGreaterThanOrEqual(before + 10);
  expect(await scrape()).toContain(`muster_build_info{version="${installedVersion()}",release="v1.4.0",node="${process.version}"} 1`);
});
