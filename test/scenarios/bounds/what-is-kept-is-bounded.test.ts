import { afterAll, beforeAll, expect, it } from 'vitest';
import { createLog } from '#shared/log/create-log.ts';
import { connectRedis, type RedisClient } from '#shared/redis/connect-redis.ts';
import { scanKeys } from '#shared/redis/replies.ts';
import type { FleetCall } from '../../support/fleet/fleet-client.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import { repeatUntilStopped } from '../../support/fleet/repeat-until-stopped.ts';
import { testEnvironment } from '../../support/test-environment.ts';
import { waitFor } from '../../support/wait-for.ts';
import type { Reply } from '../../support/call-api.ts';

/** Mixed operations of several callers, and how long the last traces of them may take to go. */
const SMALL = { operations: 400, callers: 4, restMs: 40_000 };
const FULL = { operations: 34_000, callers: 6, restMs: 120_000 };
const SIZE = testEnvironment.isChaos ? FULL : SMALL;

const KEEP_MS = 3000;
let fleet: Fleet;
let redis: RedisClient;
let webhooks: string;
let api: string;

beforeAll(async () => {
  fleet = await openFleet({
    settings: {
      tasks: { retentionMs: KEEP_MS, idempotencyMs: KEEP_MS, outputRetentionMs: KEEP_MS, logRetentionMs: KEEP_MS, trimMs: 500 },
      sessions: { retentionMs: KEEP_MS, visitorTokenMs: KEEP_MS },
      scheduler: { endedRetentionMs: KEEP_MS, reconcileMs: 1000 },
      deliveries: {
        retentionMs: KEEP_MS,
        trimMs: 500,
        auditMs: 1000,
        callbacks: { retryMs: [100], maxEndpoints: 5, endpointRetentionMs: KEEP_MS },
      },
      webhooks: { repeatMs: KEEP_MS },
      metrics: { serviceTimesMs: KEEP_MS },
      tenants: { cleanMs: 500, settleMs: KEEP_MS, endedRetentionMs: 2 * KEEP_MS },
    },
  });
  api = (await fleet.start('api')).url;
  const [hooks] = await Promise.all([fleet.start('webhooks'), fleet.start('worker'), fleet.start('scheduler'), fleet.start('chat')]);
  webhooks = hooks.url;
  redis = connectRedis({ url: fleet.redis.url, name: 'test', log: createLog({ level: 'silent', service: 'test' }) });
});
afterAll(async () => {
  // First: what follows fails when the fleet could not start.
  await fleet.stop();
  redis.disconnect();
});

/** A key's name with `#` for what differs from one to the next: ids, digests, names of sessions and tenants. */
function patternOf(key: string): string {
  return key
    .replaceAll(/[0-9A-HJKMNP-TV-Z]{26}/g, '#')
    .replaceAll(/[0-9a-f]{64}/g, '#')
    .replaceAll(/key_[0-9a-f]+/g, '#')
    .replaceAll(/\b(s|soak)-[\w-]+(~\d+)?/g, '#');
}

/** How many keys of each pattern there are; of hashes and sets how much is in each. BullMQ keeps its last tickets for the board. */
async function counts(): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  for await (const page of scanKeys(redis, '*')) {
    for (const key of page.filter((name) => !name.includes(':bull:') && !name.includes(':http:'))) {
      const type = await redis.type(key);
      const size = type === 'hash' ? await redis.hlen(key) : type === 'zset' ? await redis.zcard(key) : 1;
      const pattern = patternOf(key);
      found.set(pattern, (found.get(pattern) ?? 0) + size);
    }
  }
  return found;
}

/** What a tenant, an agent or a worker has one of as long as it is there, and series of the fleet; each is bounded by itself. */
const ONCE =
  /:(events|audit|schedule-count|rates|failing|callback-secret|schedules-reconciled|(dead-)?workers|worker-notes|configured-agents|cap|chores|findings|record-changes|chore-lease:\w+|acknowledged|process-problems|snapshots|unserved-queues|worker-groups|jobs:idle|fleet-pressure|probe|metrics|metric-codes|metric-minute:\d+|agent-hour:\d+|agent-minute:\d+|repeats:\w+:\w+)$/;

/** What there is more of than before. */
async function growth(before: ReadonlyMap<string, number>): Promise<string[]> {
  const now = await counts();
  return [...now]
    .filter(([pattern, count]) => !ONCE.test(pattern) && count > (before.get(pattern) ?? 0))
    .map(([pattern, count]) => `${pattern}: ${count} instead of ${before.get(pattern) ?? 0}`);
}

let done = 0;
const numbers = { session: 0, tenant: 0 };

/** Fails where nothing would be left because nothing was done. */
async function call(method: string, path: string, options: FleetCall = {}): Promise<Reply> {
  const answer = await fleet.client.call(method, path, options);
  if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer;
}

/** One operation of each kind that leaves something in Redis. */
const OPERATIONS: readonly (() => Promise<unknown>)[] = [
  () => call('POST', '/v1/tasks', { body: { agent: 'echo', input: 'a b' }, headers: { 'idempotency-key': `${Math.random()}` } }),
  () => call('POST', '/v1/tasks', { body: { agent: 'work', input: 'x', session: `s-${numbers.session}` } }),
  () =>
    call('POST', '/v1/tasks', {
      body: { agent: 'work', input: 'x', context: { failRuns: 9 }, execution: { maxAttempts: 1 } },
    }),
  () => call('POST', '/v1/tasks', { body: { agent: 'echo', input: 'x', callbackUrl: `http://127.0.0.1:9/${done}` } }),
  () => call('POST', `/v1/sessions/s-${(numbers.session += 1)}/messages`, { body: { text: 'hello', mode: 'collect' } }),
  () => call('PUT', `/v1/sessions/s-${numbers.session}/mode`, { body: { mode: 'latest' } }),
  () => call('POST', `/v1/sessions/s-${numbers.session}/visitors`, { body: { expiresInMs: 1000 } }),
  async () => {
    const at = new Date(Date.now() + 1500).toISOString();
    await call('POST', '/v1/schedules', { body: { at, agent: 'echo', message: 'x', idempotencyKey: `${Math.random()}` } });
  },
  async () => {
    const { id } = (await call('POST', '/v1/schedules', { body: { every: '1m', agent: 'echo', message: 'x' } })).body;
    await call('DELETE', `/v1/schedules/${id}`);
  },
  async () => {
    const { id } = (await call('POST', '/v1/hooks', { url: webhooks, body: { provider: 'none', agent: 'echo' } })).body;
    await call('POST', `/hooks/${id}`, { url: webhooks, key: null, body: {} });
    await call('DELETE', `/v1/hooks/${id}`, { url: webhooks });
  },
  async () => {
    const id = `soak-${(numbers.tenant += 1)}`;
    await fleet.client.make('/v1/tenants', { id });
    const { secret: key } = await fleet.client.make(`/v1/tenants/${id}/keys`, { name: 'k', scopes: ['admin'] });
    await call('POST', '/v1/tasks', { key, body: { agent: 'work', input: 'x', session: 's' } });
    await call('POST', '/v1/schedules', { key, body: { every: '1m', agent: 'echo', message: 'x' } });
    await call('DELETE', `/v1/tenants/${id}`);
  },
  async () => {
    const dropped = new AbortController();
    const { body } = await call('POST', '/v1/tasks', { body: { agent: 'echo', input: 'a b c d' } });
    const url = `${api}/v1/tasks/${body.id}/stream`;
    const stream = await fetch(url, { headers: { authorization: `Bearer ${fleet.adminKey}` }, signal: dropped.signal });
    dropped.abort();
    await stream.body?.cancel().catch(() => undefined);
  },
];

it('whatever a fleet did, nothing of it is left when its time is over', async () => {
  // A second try does all of it again.
  done = 0;
  const before = await counts();
  const callers = Array.from({ length: SIZE.callers }, (_, caller) =>
    repeatUntilStopped(async () => {
      await OPERATIONS[(done + caller) % OPERATIONS.length]?.();
      done += 1;
    }, 1),
  );
  await waitFor(() => done >= SIZE.operations, { deadlineMs: 3 * SIZE.operations * 40, everyMs: 50, what: 'all operations' });
  await Promise.all(callers.map((caller) => caller.stop()));
  await expect.poll(() => growth(before), { timeout: SIZE.restMs, interval: 500 }).toEqual([]);
});
