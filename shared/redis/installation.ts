import { MusterError } from '../errors/index.ts';
import type { RedisClient } from './connect-redis.ts';
import type { Keys } from './keys.ts';

/**
 * Records, in a Redis without an installation, how this code keeps its data, and compares that in any other. With another number of shards
 * it would look for every tenant's work in the wrong place. Throws `config.invalid` when the data there was written otherwise.
 */
export async function assertInstallation({ redis, keys }: { redis: RedisClient; keys: Keys }): Promise<void> {
  await redis.set(keys.fleet.installation, installationText(keys), 'NX');
  const problem = await installationProblem(redis, keys);
  if (problem !== null) throw new MusterError('config.invalid', problem, { details: { problems: [problem] } });
}

/** Raised when what is in Redis is kept in another form, so that older and newer code cannot both write there. */
const FORM = 2;

/** How this code keeps its data, as an installation records it. */
export function installationText(keys: Keys): string {
  return `${FORM} ${keys.shards}`;
}

/** Why this code would not find what is in that Redis, with what to do about it, or null when it would. Changes nothing. */
export async function installationProblem(redis: RedisClient, keys: Keys): Promise<string | null> {
  const found = await redis.get(keys.fleet.installation);
  if (found === null || found === installationText(keys)) return null;
  const [form = 0, shards = 0] = found.split(' ').map(Number);
  if (form === FORM)
    return `SHARDS is ${keys.shards}, and what is in this Redis was written with SHARDS=${shards}: nothing of it would be found. Set SHARDS=${shards}, or use an empty Redis.`;
  const age = form > FORM ? 'a newer' : 'an older';
  return `What is in this Redis was written by ${age} Muster (form ${form}; this one reads form ${FORM}). Run that one, or use an empty Redis.`;
}
