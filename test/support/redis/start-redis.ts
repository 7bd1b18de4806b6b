import { testEnvironment } from '../test-environment.ts';
import { containerRuntimeAnswers, startRedisContainer } from './redis-container.ts';
import { startRedisProcess } from './redis-process.ts';
import type { RedisServer, StartRedisOptions } from './redis-server.ts';

export type { RedisServer, StartRedisOptions } from './redis-server.ts';

/**
 * Starts a Redis without persistence (say otherwise with `args`) and returns once it answers.
 * It is a container where `REDIS_IMAGE` is set and a container engine answers, else the `redis-server` of this machine.
 * On a CI host `REDIS_IMAGE` without an engine is an error, so that a run never tests another Redis than it says.
 */
export async function startRedis(options: StartRedisOptions = {}): Promise<RedisServer> {
  const image = testEnvironment.redisImage;
  if (image === undefined) return startRedisProcess(options);
  if (await containerRuntimeAnswers()) return startRedisContainer(image, options);
  if (testEnvironment.isCi) throw new Error(`REDIS_IMAGE is ${image}, but no container engine answers; start one or unset REDIS_IMAGE`);
  return startRedisProcess(options);
}
