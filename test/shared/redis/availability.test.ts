import { afterEach, beforeEach, expect, it } from 'vitest';
import { settingsSchema } from '#shared/config/settings/settings.ts';
import { createLog } from '#shared/log/create-log.ts';
import { connectRedis, type RedisClient } from '#shared/redis/connect-redis.ts';
import { ConnectionWatch } from '#shared/redis/availability.ts';
import { createKeys } from '#shared/redis/keys.ts';
import { probeRefusal } from '#shared/redis/probe-refusal.ts';
import { startRedis, type RedisServer } from '../../support/redis/start-redis.ts';
import { waitFor } from '../../support/wait-for.ts';

const log = createLog({ level: 'silent', service: 'test' });
const { consumers: settings } = settingsSchema.parse({ consumers: { echoMs: 50, maxReopens: 2 } });

let server: RedisServer;
let redis: RedisClient;
let compared: number;
let failures: string[];
let refusals: (string | null)[];
let watch: ConnectionWatch;

beforeEach(async () => {
  server = await startRedis();
  [compared, failures] = [0, []];
  redis = connectRedis({ url: server.url, name: 'test', log });
  await redis.ping();
  const open = (): RedisClient => {
    compared += 1;
    return connectRedis({ url: server.url, name: 'test', log });
  };
  refusals = [];
  watch = new ConnectionWatch({
    redis,
    keys: createKeys(2),
    open,
    probe: () => probeRefusal(server.url),
    onRefusal: (refusal) => refusals.push(refusal?.word ?? null),
    settings,
    fail: (error) => failures.push(error.message),
  });
  watch.start();
});
afterEach(async () => {
  watch.stop();
  redis.disconnect();
  await server.stop();
});

it('ends the process when its connection for commands stopped for good while Redis answers', async () => {
  redis.disconnect();
  await waitFor(() => failures.length > 0, { deadlineMs: 8000, what: 'the end' });
  expect(failures).toEqual(['Redis did not answer the connection for commands 2 times while it answered another one']);
});

it('leaves the process alone while Redis refuses to write, and says so until it does not', async () => {
  await redis.call('CONFIG', 'SET', 'min-replicas-to-write', '1');
  await waitFor(() => refusals.filter((word) => word === 'NOREPLICAS').length > 2 * settings.maxReopens, {
    deadlineMs: 8000,
    what: 'its word',
  });
  expect(watch.refusal?.word).toBe('NOREPLICAS');
  await redis.call('CONFIG', 'SET', 'min-replicas-to-write', '0');
  await waitFor(() => watch.refusal === null, { deadlineMs: 8000, what: 'it to serve' });
  expect([compared, failures]).toEqual([0, []]);
});

it('leaves the process alone while Redis is away', async () => {
  await server.kill();
  await waitFor(() => compared > 2, { deadlineMs: 12_000, what: 'several looks' });
  await server.restart();
  await waitFor(() => redis.ping(), { deadlineMs: 8000, what: 'Redis to be back' });
  expect(failures).toEqual([]);
});
