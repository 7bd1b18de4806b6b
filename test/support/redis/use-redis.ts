import { afterAll } from 'vitest';
import { createLog } from '#shared/log/create-log.ts';
import { connectRedis, type RedisClient } from '#shared/redis/connect-redis.ts';
import { startRedis, type RedisServer, type StartRedisOptions } from './start-redis.ts';

/**
 * A Redis for all tests of a file, stopped after the last of them. Like all that is named `use...`, it is awaited at the top of the
 * file, so that what it opened is a constant; what is opened later is closed earlier.
 */
export async function useRedis(options: StartRedisOptions = {}): Promise<RedisServer> {
  const redis = await startRedis(options);
  afterAll(() => redis.stop());
  return redis;
}

/** A connection for all tests of a file, to a Redis of its own unless one is given. */
export async function useRedisClient(redis?: RedisServer): Promise<RedisClient> {
  const { url } = redis ?? (await useRedis());
  const client = connectRedis({ url, name: 'test', log: createLog({ level: 'silent', service: 'test' }) });
  afterAll(() => client.disconnect());
  return client;
}
