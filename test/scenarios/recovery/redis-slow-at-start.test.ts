import { afterEach, beforeEach, expect, it } from 'vitest';
import { wait } from '#shared/time/wait.ts';
import { reportFigure } from '../../support/fleet/figures.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import { startRedisProxy, type RedisProxy } from '../../support/fleet/redis-proxy.ts';
import { waitFor } from '../../support/wait-for.ts';

let fleet: Fleet;
let proxy: RedisProxy;

beforeEach(async () => {
  fleet = await openFleet({
    settings: { worker: { outboxSweepMs: 60_000, ticketAuditMs: 60_000, leaseMs: 10_000, orphanCheckIntervalMs: 1000 } },
  });
  proxy = await startRedisProxy(fleet.redis.port);
});
afterEach(async () => {
  await fleet.redis.kill('SIGCONT');
  await fleet.stop();
  await proxy.close();
});

/** Longer than the timeout of a command. */
const SLOW_MS = 2500;
const TASKS = 10;
/** A ticket that goes straight to its queue is taken in this time also on a busy machine; the sweep's comes after a minute. */
const START_MS = 15_000;

/** The id of a task; none while its API is answered too late: that says so by a 503, and accepts nothing. */
async function trySubmit(): Promise<string | undefined> {
  const { status, body } = await fleet.client.call('POST', '/v1/tasks', { body: { agent: 'echo', input: 'hello' } });
  if (status !== 202 && status !== 503) throw new Error(`expected 202 or 503, got ${status}: ${JSON.stringify(body)}`);
  return status === 202 ? body.id : undefined;
}

const submit = (): Promise<string> => waitFor(trySubmit, { deadlineMs: START_MS, what: 'a 202' });

/** Submits tasks and returns how long each waited for its start. Fails when one has not started. */
async function startDelays(): Promise<number[]> {
  const ids = await Promise.all(Array.from({ length: TASKS }, submit));
  const ended = await fleet.client.ended(ids, 20_000);
  const records = await Promise.all(ended.map(async ({ id }) => (await fleet.client.call('GET', `/v1/tasks/${id}`)).body));
  return records.map(({ createdAt, startedAt }) => Date.parse(startedAt) - Date.parse(createdAt));
}

interface Seen {
  /** The longest from a 202 to its start. */
  startMs: number;
  whyStatus: number;
  problems: string[];
}

async function lookAt(urls: readonly string[]): Promise<Seen> {
  const startMs = Math.max(...(await startDelays()));
  reportFigure('Redis slow at the start', `${TASKS} tasks started within ${startMs} ms of their 202`);
  const waiting = await fleet.client.submit({ agent: 'work', context: { workMs: [10_000] }, scheduledFor: '2099-01-01T00:00:00Z' });
  const why = await fleet.client.call('GET', `/v1/tasks/${waiting}/why`);
  const probes = await Promise.all(urls.map((url) => fleet.client.call('GET', '/readyz', { url, key: null })));
  return { startMs, whyStatus: why.status, problems: probes.flatMap(({ body }) => body.problems) };
}

const WELL = { startMs: expect.toSatisfy((ms: number) => ms < START_MS), whyStatus: 200, problems: [] };

it('an API and a worker whose first INFO of a queue took 2.5 s start tasks at once', async () => {
  proxy.holdSecondInfo(SLOW_MS);
  const env = { REDIS_URL: proxy.url };
  const [api, worker] = [await fleet.start('api', env), await fleet.start('worker', env)];
  expect(await lookAt([api.url, worker.url])).toEqual(WELL);
});

it('an API and a worker that started while Redis stood still for 3 s start tasks at once', async () => {
  // The API first, since it makes the key that the test uses.
  const first = await fleet.start('api');
  await fleet.redis.kill('SIGSTOP');
  const starting = Promise.all([fleet.start('worker'), fleet.start('scheduler')]);
  await wait(3000);
  await fleet.redis.kill('SIGCONT');
  const [worker, scheduler] = await starting;
  expect(await lookAt([first.url, worker.url, scheduler.url])).toEqual(WELL);
});
