import { MusterError } from '../errors/index.ts';
import type { RedisClient } from './connect-redis.ts';
import { installationProblem, installationText } from './installation-problem.ts';
import type { Keys } from './keys.ts';

/**
 * Writes down, in a Redis that has no installation yet, how this code keeps its data, and makes sure of it in any other: with another
 * number of shards it would look for every tenant's work in the wrong place, and finding nothing must not pass for having none.
 * Throws `config.invalid` when the data there was written otherwise.
 */
export async function assertInstallation({ redis, keys }: { redis: RedisClient; keys: Keys }): Promise<void> {
  await redis.set(keys.fleet.installation, installationText(keys), 'NX');
  const problem = await installationProblem(redis, keys);
  if (problem !== null) throw new MusterError('config.invalid', problem, { details: { problems: [problem] } });
}
