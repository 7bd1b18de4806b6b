import type { Keys, RedisClient } from '../../redis/index.ts';

/** What a process said of its own end, or of being stuck, while it still could. */
export interface Blame {
  /** The attempt that did it, by its lease member; null when that could not be seen. */
  member: string | null;
  /** What it did, for people. */
  message: string;
}

/** Longer than any lease: what a process had is taken back within it. */
const KEEP_MS = 600_000;

/** Writes down what goes on in a worker's process, for whoever takes back what it had. The last word counts. */
export async function writeBlame(redis: RedisClient, keys: Keys, worker: string, blame: Blame): Promise<void> {
  await redis.set(keys.fleet.blame(worker), JSON.stringify(blame), 'PX', KEEP_MS);
}

/** What a worker's process said last; null when it said nothing. */
export async function readBlame(redis: RedisClient, keys: Keys, worker: string): Promise<Blame | null> {
  const text = await redis.get(keys.fleet.blame(worker));
  return text === null ? null : (JSON.parse(text) as Blame);
}

/** Takes back what a process said: it goes on. */
export async function dropBlame(redis: RedisClient, keys: Keys, worker: string): Promise<void> {
  await redis.del(keys.fleet.blame(worker));
}
