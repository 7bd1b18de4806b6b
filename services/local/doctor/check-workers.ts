import { knownWorkers } from '#shared/queue/index.ts';
import { describeSkew, type Keys, type RedisClient } from '#shared/redis/index.ts';
import type { Check } from './check.ts';

const LISTED = 1000;
/** As for this machine's own clock. */
const SKEW_WARN_MS = 1000;

/** The workers of the fleet, and which of them have a wrong clock. */
export async function checkWorkers(redis: RedisClient, keys: Keys): Promise<Check[]> {
  const workers = await knownWorkers(redis, keys, LISTED);
  const skewed = workers.filter(({ skewMs }) => Math.abs(skewMs) > SKEW_WARN_MS);
  return [
    { name: 'Workers', state: 'ok', detail: workers.length === 0 ? 'none is running' : `${workers.length} running` },
    ...skewed.map(({ name, host, skewMs }): Check => {
      const detail = `the machine ${host} is ${describeSkew(skewMs)}: synchronise its clock (NTP)`;
      return { name: `Clock of ${name}`, state: 'warn', detail };
    }),
  ];
}
