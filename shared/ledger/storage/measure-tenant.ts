import type { Keys, RedisClient } from '../../redis/index.ts';

/** Elements that Redis looks at to estimate the size of one key. */
const SAMPLES = 50;

/**
 * About how many bytes of Redis's memory a tenant's tasks, schedules, agents, hooks and deliveries take. What expires within hours
 * (outputs that are read while they are written, idempotency keys) is not counted.
 */
export async function measureTenant({ redis, keys }: { redis: RedisClient; keys: Keys }, tenant: string): Promise<number> {
  const own = keys.tenant(tenant);
  const kept = [own.bodies, own.states, own.outputs, own.results, own.attempts, own.live, own.index, own.events];
  const made = [own.agents, own.hooks, own.schedules, own.scheduleNumbers, own.scheduleKeys, own.deliveries, own.callbackEndpoints];
  const sizes = await Promise.all([...kept, ...made].map((key) => measureKey(redis, key)));
  return sizes.reduce((total, bytes) => total + bytes, 0);
}

/** About how many bytes of Redis's memory a key takes; 0 when there is none. */
export async function measureKey(redis: RedisClient, key: string): Promise<number> {
  return (await redis.memory('USAGE', key, 'SAMPLES', SAMPLES)) ?? 0;
}
