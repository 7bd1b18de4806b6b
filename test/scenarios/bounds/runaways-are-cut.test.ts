import type { ServerResponse } from 'node:http';
import pMap from 'p-map';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Parts } from '#shared/lifecycle/open-parts.ts';
import { type FakeHttpEndpoint, startFakeHttpEndpoint } from '../../support/fake-http-endpoint.ts';
import { reportFigure } from '../../support/fleet/figures.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import { openTestParts } from '../../support/open-test-parts.ts';
import { waitFor } from '../../support/wait-for.ts';

/** Of one run of any of these agents, in millionths of a dollar. */
const COST = 10_000;
const usage = { inputTokens: 1, outputTokens: 1, costMicroUsd: COST };
const DEADLINE_MS = 60_000;
const MAX_DEPTH = 20;
const MAX_FAILED = 5;
const STORM = { deliveries: 300, atOnce: 30, hardMicroUsd: 500_000, slots: 25 };

let endpoint: FakeHttpEndpoint;
let fleet: Fleet;
let parts: Parts;
/** Runs of each agent. */
const runs = new Map<string, number>();

beforeEach(async () => {
  runs.clear();
  endpoint = await startFakeHttpEndpoint((response) => void respond(response));
  const agent = { kind: 'http', url: endpoint.url } as const;
  fleet = await openFleet({
    settings: {
      agents: { ping: agent, pong: agent, broken: agent, labels: agent },
      outbound: { allowNetworks: ['127.0.0.0/8'] },
      scheduler: { maxFailedMicroUsd: MAX_FAILED * COST },
      // A busy machine must not run a task twice, which would delegate twice.
      worker: { slots: STORM.slots, leaseMs: 15_000 },
      // More than the storm has: its budget is to stop it.
      limits: { tenant: { rates: { webhook: { perMinute: 10_000, perHour: 100_000 } } } },
    },
  });
  await fleet.start('api');
  parts = await openTestParts({ redisUrl: fleet.redis.url });
});
afterEach(async () => {
  await parts.close();
  await fleet.stop();
  await endpoint.close();
});

async function respond(response: ServerResponse): Promise<void> {
  const { task } = JSON.parse(endpoint.requests.at(-1)?.body ?? '{}') as { task: { id: string; agent: string } };
  runs.set(task.agent, (runs.get(task.agent) ?? 0) + 1);
  if (task.agent === 'broken') {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const events = { usage, error: { code: 'INVALID_INPUT', message: 'out of order' } };
    response.end(
      Object.entries(events)
        .map(([event, data]) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
        .join(''),
    );
    return;
  }
  if (task.agent !== 'labels') {
    const body = { agent: task.agent === 'ping' ? 'pong' : 'ping', input: 'go on', parentTaskId: task.id };
    await fleet.client.call('POST', '/v1/tasks', { body });
  }
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ output: 'done', usage }));
}

/** How often the tenant was notified so. */
async function notices(event: string): Promise<number> {
  const entries = await parts.redis.xrange(parts.keys.tenant('default').events, '-', '+');
  return entries.filter(([, fields]) => fields.includes(event)).length;
}

const inDollars = (microUsd: number): string => `$${(microUsd / 1e6).toFixed(2)}`;
const spent = async (): Promise<number> => {
  const { body } = await fleet.client.call('GET', '/v1/usage?groupBy=tenant');
  return (body.items as { costMicroUsd: number }[]).reduce((total, { costMicroUsd }) => total + costMicroUsd, 0);
};

it('a loop of two agents that delegate to each other is cut at its depth, and notified once', async () => {
  await fleet.start('worker');
  const root = await fleet.client.submit({ agent: 'ping' });
  const hasEnded = async (): Promise<boolean> => {
    const { body } = await fleet.client.call('GET', '/v1/tasks?status=completed&limit=100');
    return (body.items as unknown[]).length === MAX_DEPTH + 1 && (await notices('task.runaway')) > 0;
  };
  await waitFor(hasEnded, { deadlineMs: DEADLINE_MS, everyMs: 200, what: 'the end of the loop' });
  const refused = await fleet.client.call('POST', '/v1/tasks', { body: { agent: 'ping', input: 'again', parentTaskId: root } });
  expect(refused).toMatchObject({ status: 422, body: { code: 'task.runaway' } });
  expect(await notices('task.runaway')).toBe(1);
  expect((runs.get('ping') ?? 0) + (runs.get('pong') ?? 0)).toBe(MAX_DEPTH + 1);
  expect(await spent()).toBe((MAX_DEPTH + 1) * COST);
  reportFigure('a loop of two agents', `cut after ${MAX_DEPTH + 1} tasks and ${inDollars(await spent())}, notified once`);
});

it('a schedule that fails again and again is paused by what it cost, and notified once', async () => {
  await Promise.all([fleet.start('worker'), fleet.start('scheduler')]);
  const made = await fleet.client.make('/v1/schedules', { every: '1s', agent: 'broken', message: 'try', tz: 'UTC' });
  const id = String(made.id);
  const read = async (): Promise<{ status: string; pausedReason: string | null }> =>
    (await fleet.client.call('GET', `/v1/schedules/${id}`)).body as { status: string; pausedReason: string | null };
  await waitFor(async () => (await read()).status === 'paused', {
    deadlineMs: DEADLINE_MS,
    everyMs: 200,
    what: 'the schedule to be paused',
  });
  const count = runs.get('broken') ?? 0;
  expect(count).toBeGreaterThanOrEqual(MAX_FAILED);
  expect(await notices('schedule.paused')).toBe(1);
  const { pausedReason } = await read();
  reportFigure(
    'a schedule that fails each second',
    `paused after ${count} runs and ${inDollars(await spent())}: ${pausedReason}; notified once`,
  );
});

it('a storm of webhooks is stopped by its budget, with at most one run per slot over, and notified once', async () => {
  const budget = { scope: 'agent', of: 'labels', per: 'day', hardMicroUsd: STORM.hardMicroUsd };
  await fleet.client.call('PUT', '/v1/budgets/labels', { body: budget });
  const [webhooks] = await Promise.all([fleet.start('webhooks'), fleet.start('worker'), fleet.start('worker')]);
  const { id } = await fleet.client.make('/v1/hooks', { provider: 'none', agent: 'labels' }, { url: webhooks.url });
  const post = async (number: number): Promise<number> => {
    const response = await fetch(`${webhooks.url}/hooks/${String(id)}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ type: 'labelled', number }),
    });
    await response.text();
    return response.status;
  };
  const numbers = Array.from({ length: STORM.deliveries }, (_, number) => number);
  const statuses = await pMap(numbers, post, { concurrency: STORM.atOnce });
  const accepted = statuses.filter((status) => status < 300).length;
  await waitFor(haveAllEnded, { deadlineMs: DEADLINE_MS, everyMs: 200, what: 'the end of all that was accepted' });
  const cost = await spent();
  expect(accepted).toBeLessThanOrEqual(STORM.deliveries);
  expect(cost).toBeGreaterThanOrEqual(STORM.hardMicroUsd);
  expect(cost).toBeLessThanOrEqual(STORM.hardMicroUsd + 2 * STORM.slots * COST);
  expect(await notices('budget.exceeded')).toBe(1);
  const [ran, refused] = [runs.get('labels') ?? 0, STORM.deliveries - accepted];
  reportFigure(
    `a storm of ${STORM.deliveries} webhooks under ${inDollars(STORM.hardMicroUsd)} and ${2 * STORM.slots} slots`,
    `${accepted} accepted, ${ran} run for ${inDollars(cost)}, ${refused} refused; notified once`,
  );
});

async function haveAllEnded(): Promise<boolean> {
  const open = await Promise.all(['pending', 'queued', 'scheduled', 'running', 'failed'].map((status) => countTasks(status)));
  return open.every((count) => count === 0);
}

async function countTasks(status: string): Promise<number> {
  return ((await fleet.client.call('GET', `/v1/tasks?status=${status}&limit=1`)).body.items as unknown[]).length;
}
