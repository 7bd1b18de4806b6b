import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SettingsInput } from '#shared/config/settings/settings.ts';
import { createLog } from '#shared/log/create-log.ts';
import type { JobSource } from '#shared/queue/consumer/job-source.ts';
import { QueueConsumer } from '#shared/queue/consumer/queue-consumer.ts';
import { openQueues, type Queues } from '#shared/queue/queues.ts';
import { connectRedis, type RedisClient } from '#shared/redis/connect-redis.ts';
import { createKeys } from '#shared/redis/keys.ts';
import { startRedis, type RedisServer } from '../../../support/redis/start-redis.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { openTestSource } from '../test-source.ts';

const QUICK = { consumers: { pollMs: 200, watchMs: 50, stoppedAfterMs: 400, maxReopens: 2 } } as const satisfies SettingsInput;
const log = createLog({ level: 'silent', service: 'test' });
const SOON = { deadlineMs: 8000 };

let server: RedisServer;
let redis: RedisClient;
let queues: Queues;
let source: JobSource;
let opened: RedisClient[];
let failures: string[];
let taken: string[];
let consumer: QueueConsumer;

beforeEach(async () => {
  server = await startRedis();
  redis = connectRedis({ url: server.url, name: 'test', log });
  queues = openQueues(redis, createKeys(1), log);
  [opened, failures, taken] = [[], [], []];
  const made = openTestSource({ url: server.url, queues, log, settings: QUICK, fail: (error) => failures.push(error.message) });
  source = { ...made, open: (name) => track(made.open(name)) };
});
afterEach(async () => {
  await consumer.stop(500);
  source.close();
  await queues.close();
  redis.disconnect();
  await server.stop();
});

function track(client: RedisClient): RedisClient {
  opened.push(client);
  return client;
}

function consume(slots = 1, work: (task: string) => Promise<void> = () => Promise.resolve()): QueueConsumer {
  consumer = new QueueConsumer({
    source,
    queue: 'tasks',
    shard: 0,
    slots,
    process: async ({ data }) => {
      taken.push(data.task);
      await work(data.task);
      return 'done';
    },
  });
  consumer.start();
  return consumer;
}

const add = async (task: string): Promise<unknown> => await queues.get(0, 'tasks').add('echo', { tenant: 'acme', task });
const isTaken = async (task: string): Promise<unknown> =>
  await waitFor(() => taken.includes(task), { ...SOON, what: `${task} to be taken` });

describe('a consumer', () => {
  it.each([
    ['the connection that takes jobs', () => source.connection],
    ['the connection that waits for jobs', () => opened[0]],
  ])('takes jobs again after %s ended for good', async (_what, find) => {
    consume();
    await add('before');
    await isTaken('before');
    find()?.disconnect();
    await add('after');
    await isTaken('after');
    expect([consumer.problem, failures]).toEqual([null, []]);
  });

  it('lets a job end that runs when it is opened again, and keeps that slot taken', async () => {
    const gate = Promise.withResolvers<void>();
    consume(2, async (task) => (task === 'long' ? await gate.promise : undefined));
    await add('long');
    await isTaken('long');
    source.connection.disconnect();
    await add('next');
    await isTaken('next');
    expect(consumer.problem).toBeNull();
    gate.resolve();
    await consumer.stop(2000);
    expect(taken).toEqual(['long', 'next']);
  });

  it('is not opened again while nothing is wrong: idle, without a free slot, or while Redis is away', async () => {
    const gate = Promise.withResolvers<void>();
    consume(1, async () => await gate.promise);
    await add('a');
    await add('b');
    await isTaken('a');
    await server.kill('SIGSTOP');
    const looksAgain = waitFor(() => redis.ping(), { deadlineMs: 10_000, what: 'Redis to be back' });
    setTimeout(() => void server.kill('SIGCONT'), 1500);
    await looksAgain;
    gate.resolve();
    await isTaken('b');
    expect(opened).toHaveLength(1);
  });

  it('names its queue and ends the process when it cannot be opened', async () => {
    const made = source;
    source = { ...made, open: (name) => cutOff(made.open(name)) };
    consume();
    source.connection.disconnect();
    await add('a');
    await waitFor(() => consumer.problem, { ...SOON, what: 'the problem' });
    expect(consumer.problem).toBe('the queue "tasks" of shard 0 is not consumed');
    await waitFor(() => failures[0], { ...SOON, what: 'the end' });
    expect(failures).toEqual(['The queue "tasks" of shard 0 was opened 2 times and never polled']);
  });
});

function cutOff(client: RedisClient): RedisClient {
  client.disconnect();
  return client;
}
