import { knownWorkers } from '#shared/queue/index.ts';
import type { Keys, RedisClient } from '#shared/redis/index.ts';

export interface WorkerRecord {
  status: string;
  slots: number | null;
  running: number | null;
}

export async function listWorkers({ redis, keys }: { redis: RedisClient; keys: Keys; settings: unknown }): Promise<WorkerRecord[]> {
  return (await knownWorkers(redis, keys, 1000)).map(() => ({ status: 'alive', slots: null, running: null }));
}
