import { z } from 'zod';
import { type Keys, type RedisClient, redisNow } from '../../redis/index.ts';

/** What a worker says of itself with each heartbeat. */
const workerNoteSchema = z.object({
  host: z.string(),
  pid: z.number(),
  /** Milliseconds that its wall clock is ahead of Redis's; negative when behind. */
  skewMs: z.number(),
});
export type WorkerNote = z.infer<typeof workerNoteSchema>;

/** A worker that is not known to be gone. */
export interface KnownWorker extends WorkerNote {
  name: string;
  /** By Redis's clock, ms since the epoch. */
  lastBeatAt: number;
}

/** Writes that a worker is there, by Redis's clock. */
export async function beat(redis: RedisClient, keys: Keys, worker: string, note: WorkerNote): Promise<void> {
  const now = await redisNow(redis);
  await Promise.all([redis.zadd(keys.fleet.workers, now, worker), redis.hset(keys.fleet.workerNotes, worker, JSON.stringify(note))]);
}

/** Takes a worker out. Returns whether it was there: of several callers one is told so. */
export async function forgetWorker(redis: RedisClient, keys: Keys, worker: string): Promise<boolean> {
  const [removed] = await Promise.all([redis.zrem(keys.fleet.workers, worker), redis.hdel(keys.fleet.workerNotes, worker)]);
  return removed === 1;
}

/** Workers of which nothing was heard for so long, the longest first, at most `max`. */
export async function silentWorkers(redis: RedisClient, keys: Keys, silentMs: number, max: number): Promise<string[]> {
  return await redis.zrangebyscore(keys.fleet.workers, '-inf', (await redisNow(redis)) - silentMs, 'LIMIT', 0, max);
}

/** All that are not known to be gone, at most `max`. What one of them says and cannot be read is left out. */
export async function knownWorkers(redis: RedisClient, keys: Keys, max: number): Promise<KnownWorker[]> {
  const entries = await redis.zrevrange(keys.fleet.workers, 0, max - 1, 'WITHSCORES');
  const names = entries.filter((_, at) => at % 2 === 0);
  const notes = names.length === 0 ? [] : await redis.hmget(keys.fleet.workerNotes, ...names);
  return names.flatMap((name, at) => {
    const note = workerNoteSchema.safeParse(parseJson(notes[at] ?? ''));
    return note.success ? [{ name, lastBeatAt: Number(entries[at * 2 + 1]), ...note.data }] : [];
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
