import { afterEach, beforeEach, expect, it } from 'vitest';
import { environmentSchema } from '#shared/config/environment.ts';
import { settingsSchema } from '#shared/config/settings/settings.ts';
import { createLog } from '#shared/log/create-log.ts';
import { type LocalFleet, startLocalFleet } from '../../../services/local/fleet/start-local-fleet.ts';
import { callApi, type CallOptions, type Reply } from '../../support/call-api.ts';
import { WAITING_AGENT } from '../../support/fleet/mixed-work.ts';
import { freePort } from '../../support/free-port.ts';
import { firstOf, testEnvironment } from '../../support/test-environment.ts';
import { openOperator, type Operator, REDIS_REFUSALS } from '../../support/redis/redis-refusals.ts';
import { startRedis, type RedisServer } from '../../support/redis/start-redis.ts';
import { useFolder } from '../../support/use-folder.ts';
import { waitFor } from '../../support/wait-for.ts';

/** A queue that is not polled counts as stopped after so long, and the process ends after two reopens: some two seconds. */
const QUICK = { pollMs: 200, watchMs: 50, stoppedAfterMs: 400, maxReopens: 2, echoMs: 100 };
/** How long Redis refuses: longer than that. */
const REFUSES_MS = testEnvironment.isChaos ? 40_000 : 2500;
const SOON = { deadlineMs: 60_000 };
const KEY = 'the-admin-key-of-a-scenario';
type Word = keyof typeof REDIS_REFUSALS;
/** First one each of those that refuse to write, that drop connections, and that are answered by connecting again. */
const words = firstOf<Word>(['NOREPLICAS', 'NOAUTH', 'READONLY', 'OOM', 'MISCONF', 'NOPERM', 'MASTERDOWN', 'MAXCLIENTS', 'BUSY'], 3);

const directory = await useFolder('muster-refuses-');
let redis: RedisServer;
let operator: Operator;
let port: number;
let starting: Promise<LocalFleet>;
let stopping: AbortController;
let lines: { event?: string; refusal?: string }[];
let failures: string[];

/** The fleet of `npm start`, in this process. */
function start(redisUrl: string): void {
  [lines, failures, stopping] = [[], [], new AbortController()];
  const env = environmentSchema.parse({ PORT: String(port), MUSTER_ADMIN_KEY: KEY, MUSTER_DATA_DIR: directory });
  const settings = settingsSchema.parse({
    agents: { echo: { kind: 'echo' }, ...WAITING_AGENT },
    consumers: QUICK,
    worker: { leaseMs: 1500, orphanCheckIntervalMs: 200, outboxSweepMs: 1000 },
  });
  starting = startLocalFleet({
    config: { env, settings, digest: 'test', directory, readVariable: () => undefined },
    log: createLog({ level: 'info', service: 'test', destination: { write: (line) => lines.push(JSON.parse(line)) } }),
    redis: { start: async () => redisUrl, stop: async () => undefined, abandon: () => undefined },
    onNewKey: () => undefined,
    fail: (error) => failures.push(error.message),
    signal: stopping.signal,
  });
}

beforeEach(async () => {
  redis = await startRedis();
  operator = await openOperator(redis);
  port = await freePort();
});
afterEach(async () => {
  stopping.abort();
  await (await starting).stop(2000);
  operator.client.disconnect();
  await redis.stop();
});

const call = (method: string, path: string, options: CallOptions = {}): Promise<Reply> =>
  callApi(method, `http://127.0.0.1:${port}${path}`, { key: KEY, ...options });

async function submit(agent: string, context?: object): Promise<string> {
  const isAccepted = async (): Promise<Reply | undefined> => {
    const reply = await call('POST', '/v1/tasks', { body: { agent, input: 'a', ...(context ? { context } : {}) } });
    return reply.status === 202 ? reply : undefined;
  };
  return String((await waitFor(isAccepted, { ...SOON, what: 'a 202' })).body.id);
}

const isCompleted = async (id: string): Promise<boolean> => (await call('GET', `/v1/tasks/${id}`)).body.status === 'completed';
const isReady = async (): Promise<boolean> => (await call('GET', '/readyz')).status === 200;
const isNamed = (word: string) => () => lines.some(({ event, refusal }) => event === 'redis.refused' && refusal === word);

/** What each sender is answered until the refusal is over; a page has no code. */
async function answersWhile(hook: string): Promise<Set<string>> {
  const form = { 'content-type': 'application/x-www-form-urlencoded', origin: `http://127.0.0.1:${port}` };
  const requests: [path: string, options: CallOptions][] = [
    ['/v1/tasks', { body: { agent: 'echo', input: 'a' } }],
    ['/v1/sessions/a/messages', { body: { text: 'hello', agent: 'echo' } }],
    [`/hooks/${hook}`, { key: null, body: { event: 'a' } }],
  ];
  // Once: tries are counted, by each process while Redis does not.
  const page = await call('POST', '/sign-in', { key: null, body: `key=${KEY}`, headers: form });
  const seen = new Set([`${page.status} page`]);
  const until = performance.now() + REFUSES_MS;
  while (performance.now() < until) {
    for (const { status, body } of await Promise.all(requests.map(([path, options]) => call('POST', path, options))))
      seen.add(`${status} ${body.code} ${body.details?.refusal}`);
  }
  return seen;
}

it.each(words)('a Redis that answers %s for a while is named to all who send, and the fleet goes on when it serves again', async (word) => {
  start(redis.url);
  await starting;
  const { id: hook } = (await call('POST', '/v1/hooks', { body: { provider: 'none', agent: 'echo' } })).body;
  const running = await submit('wait', { workMs: 500 });
  // What it says to a write: a replica without its primary refuses those as a replica.
  const named = word === 'MASTERDOWN' ? 'READONLY' : word;
  await REDIS_REFUSALS[word].begin(operator);
  try {
    await waitFor(isNamed(named), { ...SOON, what: 'the line that names it' });
    const answers = await answersWhile(hook);
    // A process that has seen how full it is asks no more.
    if (word === 'OOM') answers.delete('503 unavailable.memory undefined');
    expect([...answers].toSorted()).toEqual(['503 page', `503 unavailable.redis ${word}`]);
  } finally {
    await REDIS_REFUSALS[word].end(operator);
  }
  const sent = await submit('echo');
  for (const id of [running, sent]) await waitFor(() => isCompleted(id), { ...SOON, what: 'the task to be done' });
  await waitFor(isReady, { ...SOON, what: '/readyz' });
  expect(failures).toEqual([]);
});

it.each(firstOf(words))('a fleet that starts while Redis answers %s waits, says so, and goes on when it serves', async (word) => {
  await REDIS_REFUSALS[word].begin(operator);
  start(redis.url);
  await waitFor(() => lines.some(({ event }) => event === 'redis.awaited'), {
    ...SOON,
    what: 'the line that it waits',
  });
  const named = async (): Promise<boolean> => {
    const reply = await call('GET', '/v1/tasks').catch(() => null);
    return reply?.status === 503 && reply.body.code === 'unavailable.redis' && reply.body.detail.includes(word);
  };
  await waitFor(named, { ...SOON, what: 'an answer that names it' });
  await REDIS_REFUSALS[word].end(operator);
  await starting;
  const sent = await submit('echo');
  await waitFor(() => isCompleted(sent), { ...SOON, what: 'the task to be done' });
  expect(failures).toEqual([]);
});

it('a fleet that starts before its Redis waits for it, and can be stopped meanwhile', async () => {
  await redis.kill();
  start(redis.url);
  await waitFor(() => lines.some(({ event }) => event === 'redis.awaited'), { ...SOON, what: 'the line that it waits' });
  await waitFor(async () => (await call('GET', '/v1/tasks').catch(() => null))?.body.code === 'unavailable.redis', {
    ...SOON,
    what: 'an answer',
  });
  stopping.abort();
  await (await starting).stop(2000);
  start(redis.url);
  await redis.restart();
  await starting;
  const sent = await submit('echo');
  await waitFor(() => isCompleted(sent), { ...SOON, what: 'the task to be done' });
  expect(failures).toEqual([]);
});
