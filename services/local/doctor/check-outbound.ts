import { readUnfollowedEnds, readWaitingDeliveries } from '#shared/deliveries/index.ts';
import { createLog } from '#shared/log/index.ts';
import { openQueues } from '#shared/queue/index.ts';
import { type Keys, type RedisClient, redisNow } from '#shared/redis/index.ts';
import type { Check } from './check.ts';

/** A worker follows the end of a task within a few seconds. */
const LATE_MS = 60_000;

const CONSUMERS = { deliveries: 'a worker', replies: 'the service chat with the platform’s secrets' } as const;

/** Checks whether results are delivered: ended tasks are followed, and each kind of delivery has a process for it. */
export async function checkOutbound(redis: RedisClient, keys: Keys): Promise<Check[]> {
  const queues = openQueues(redis, keys, createLog({ level: 'silent', service: 'doctor' }));
  const now = await redisNow(redis);
  const late = (await readUnfollowedEnds({ redis, keys })).filter(({ oldestAt }) => oldestAt !== null && now - oldestAt > LATE_MS);
  const stuck = (await readWaitingDeliveries(queues)).filter(({ waiting, takers }) => waiting > 0 && takers === 0);
  const name = 'Results going out';
  if (late.length === 0 && stuck.length === 0) return [{ name, state: 'ok', detail: 'nothing waits for a missing process' }];
  return [
    ...late.map(({ kind, count, oldestAt }): Check => {
      const minutes = Math.round((now - (oldestAt ?? now)) / 60_000);
      return { name, state: 'warn', detail: `${count} ends of kind ${kind} are not followed for ${minutes} min: start a worker` };
    }),
    ...stuck.map(({ queue, waiting }): Check => ({
      name,
      state: 'warn',
      detail: `${waiting} ${queue} wait without a consumer: start ${CONSUMERS[queue]}`,
    })),
  ];
}
