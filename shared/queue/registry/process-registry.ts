import { z } from 'zod';
import type { Keys, RedisClient } from '../../redis/index.ts';
import { pairs, redisNow } from '../../redis/index.ts';

interface ProcessPorts {
  readonly redis: RedisClient;
  readonly keys: Keys;
}

const processSchema = z.object({
  /** Of a service of its own, `<service>@<host>:<pid>`. */
  id: z.string(),
  services: z.array(z.string()),
  /** By its own clock, ms since the epoch. */
  startedAt: z.number(),
  release: z.string(),
  /** Its configuration by release and content; see `configurationOf`. */
  configuration: z.string(),
  /** The release of its time zone data, as `2026c`; empty without any. */
  zoneData: z.string(),
});
/** What a process is from its start to its end. Workers and hubs have a heartbeat besides, with what they do. */
export type ProcessRecord = z.infer<typeof processSchema>;

export const PROCESS_BEAT_MS = 3000;
/** A process that missed three beats is taken for dead. */
export const SILENT_MS = 3.5 * PROCESS_BEAT_MS;
const KEEP_MS = 3_600_000;
/** Processes that are read. */
const MAX_READ = 2000;

/** Writes the beat of a process, by Redis's clock. */
export async function beatProcess({ redis, keys }: ProcessPorts, record: ProcessRecord): Promise<void> {
  const now = await redisNow(redis);
  const key = keys.fleet.processes;
  await redis
    .multi()
    .zadd(key, now, JSON.stringify(record))
    .zremrangebyscore(key, '-inf', now - KEEP_MS)
    .exec();
}

/** Removes a process that ends. */
export async function removeProcess({ redis, keys }: ProcessPorts, record: ProcessRecord): Promise<void> {
  await redis.zrem(keys.fleet.processes, JSON.stringify(record));
}

/** The processes that live, by their beats, the newest beat first. One of another form than this release writes is left out. */
export async function listProcesses({ redis, keys }: ProcessPorts): Promise<ProcessRecord[]> {
  const since = (await redisNow(redis)) - SILENT_MS;
  const found = await redis.zrevrangebyscore(keys.fleet.processes, '+inf', since, 'WITHSCORES', 'LIMIT', 0, MAX_READ);
  return pairs(found).flatMap(([text]) => parseProcess(text) ?? []);
}

function parseProcess(text: string): ProcessRecord | null {
  try {
    return processSchema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}
