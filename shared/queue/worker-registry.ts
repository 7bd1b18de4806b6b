import { z } from 'zod';
import type { Settings } from '../config/index.ts';
import type { Log } from '../log/index.ts';
import { type Keys, type RedisClient, redisNow } from '../redis/index.ts';
import { Ticker } from '../time/index.ts';

/** What a worker reports with each heartbeat. */
const workerNoteSchema = z.object({
  host: z.string(),
  pid: z.number(),
  /** Milliseconds that its wall clock is ahead of Redis's; negative when behind. */
  skewMs: z.number(),
});
type WorkerNote = z.infer<typeof workerNoteSchema>;

/** A worker that is not known to be gone. */
interface KnownWorker extends WorkerNote {
  name: string;
  /** By Redis's clock, ms since the epoch. */
  lastBeatAt: number;
}

/** Writes that a worker is there, by Redis's clock. */
export async function beat(redis: RedisClient, keys: Keys, worker: string, note: WorkerNote): Promise<void> {
  const now = await redisNow(redis);
  await Promise.all([redis.zadd(keys.fleet.workers, now, worker), redis.hset(keys.fleet.workerNotes, worker, JSON.stringify(note))]);
}

/** Removes a worker. Returns whether it was there, to one of several callers. */
export async function forgetWorker(redis: RedisClient, keys: Keys, worker: string): Promise<boolean> {
  const [removed] = await Promise.all([redis.zrem(keys.fleet.workers, worker), redis.hdel(keys.fleet.workerNotes, worker)]);
  return removed === 1;
}

/** Workers without a heartbeat for so long, the longest first, at most `max`. */
async function silentWorkers(redis: RedisClient, keys: Keys, silentMs: number, max: number): Promise<string[]> {
  return await redis.zrangebyscore(keys.fleet.workers, '-inf', (await redisNow(redis)) - silentMs, 'LIMIT', 0, max);
}

/** Workers that are not known to be gone, at most `max`. A worker whose report cannot be read is left out. */
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

interface WorkerWatchOptions {
  redis: RedisClient;
  keys: Keys;
  settings: Settings;
  /** Called for each worker that is gone, once in the fleet. */
  onLost: (worker: string) => void;
  log: Log;
}

const CHECKS_PER_BEAT = 2;
/** Workers removed in one round; the next goes on. */
const ROUND_MAX = 100;

/**
 * WorkerWatch is responsible for noticing workers without a heartbeat, also idle ones. Workers and APIs run it, so that the end of a
 * fleet's only worker is noticed too.
 */
export class WorkerWatch {
  readonly #options: WorkerWatchOptions;
  readonly #ticker: Ticker;

  constructor(options: WorkerWatchOptions) {
    this.#options = options;
    this.#ticker = new Ticker({
      everyMs: options.settings.worker.heartbeatIntervalMs / CHECKS_PER_BEAT,
      run: () => this.#removeSilent(),
      onError: (error) => options.log.debug({ err: error }, 'silent workers cannot be read now'),
    });
  }

  start(): void {
    this.#ticker.start();
  }

  async stop(): Promise<void> {
    await this.#ticker.stop();
  }

  async #removeSilent(): Promise<void> {
    const { redis, keys, settings, onLost, log } = this.#options;
    const { heartbeatIntervalMs, deadHeartbeatThreshold } = settings.worker;
    for (const worker of await silentWorkers(redis, keys, heartbeatIntervalMs * deadHeartbeatThreshold, ROUND_MAX)) {
      if (!(await forgetWorker(redis, keys, worker))) continue;
      log.warn({ event: 'worker.lost', worker }, 'a worker is gone: its heartbeat stopped');
      onLost(worker);
    }
  }
}
