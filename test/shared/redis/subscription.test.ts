import { afterEach, beforeEach, expect, it } from 'vitest';
import { settingsSchema } from '#shared/config/settings/settings.ts';
import { createLog } from '#shared/log/create-log.ts';
import { connectRedis, type RedisClient } from '#shared/redis/connect-redis.ts';
import { createKeys } from '#shared/redis/keys.ts';
import { Subscription } from '#shared/redis/subscription.ts';
import { startRedis, type RedisServer } from '../../support/redis/start-redis.ts';
import { waitFor } from '../../support/wait-for.ts';

const log = createLog({ level: 'silent', service: 'test' });
const { consumers: settings } = settingsSchema.parse({ consumers: { echoMs: 50, maxReopens: 2 } });
const CHANNEL = 'muster:{s0}:signal';
const RECONNECT_MS = 1000;
const SOON = { deadlineMs: 5000 };

let server: RedisServer;
let redis: RedisClient;
let opened: RedisClient[];
let received: string[];
let failures: string[];
let subscription: Subscription;

beforeEach(async () => {
  server = await startRedis();
  redis = connectRedis({ url: server.url, name: 'test', log });
  [opened, received, failures] = [[], [], []];
});
afterEach(async () => {
  subscription.close();
  redis.disconnect();
  await server.stop();
});

function subscribe(open: () => RedisClient, echoMs = settings.echoMs): void {
  subscription = new Subscription({
    open: () => {
      opened.push(open());
      return opened.at(-1) as RedisClient;
    },
    redis,
    keys: createKeys(1),
    channels: [CHANNEL],
    onMessage: (message) => received.push(message),
    settings: { ...settings, echoMs },
    fail: (error) => failures.push(error.message),
    log,
  });
  subscription.start();
}

const connect = (): RedisClient => connectRedis({ url: server.url, name: 'test', log, role: 'subscriber' });
const hears = async (message: string): Promise<unknown> =>
  await waitFor(async () => received.includes(message) || (await redis.publish(CHANNEL, message), false), { ...SOON, what: message });

it('receives its channels, also after its connection was lost for good or received nothing any more', async () => {
  subscribe(connect);
  await hears('first');
  opened[0]?.disconnect();
  await hears('second');
  await opened[1]?.unsubscribe();
  await hears('third');
  await waitFor(() => subscription.problem === null, { ...SOON, what: 'it to be well' });
  expect([opened.length, failures]).toEqual([3, []]);
});

it('ends the process when it never hears itself', async () => {
  subscribe(() => {
    const client = connect();
    client.disconnect();
    return client;
  });
  await waitFor(() => failures.length > 0, { ...SOON, what: 'the end' });
  expect(failures).toEqual(['The subscription was opened 2 times and received nothing']);
});

it('is not opened again because Redis is away', async () => {
  // Longer between two echoes than its connection takes to come back.
  subscribe(connect, RECONNECT_MS);
  await hears('first');
  await server.kill();
  await waitFor(
    () =>
      redis.ping().then(
        () => false,
        () => true,
      ),
    { ...SOON, what: 'Redis to be missed' },
  );
  await server.restart();
  await hears('second');
  expect(opened).toHaveLength(1);
});
