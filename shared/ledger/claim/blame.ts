import type { Keys, RedisClient } from '../../redis/index.ts';

/** A process's report of its own end, or of hanging, while it still could write. */
export interface Blame {
  /** The attempt that did it, by its lease member; null when that could not be seen. */
  member: string | null;
  /** What the attempt did, for people. */
  message: string;
}

/** Longer than any lease: what a process had is taken back within it. */
const KEEP_MS = 600_000;

/** Writes down what goes on in a worker's process, for the process that reclaims its attempts. The last report counts. */
export async function writeBlame(redis: RedisClient, keys: Keys, worker: string, blame: Blame): Promise<void> {
  await redis.set(keys.fleet.blame(worker), JSON.stringify(blame), 'PX', KEEP_MS);
}

/** The last report of a worker's process; null when there is none. */
export async function readBlame(redis: RedisClient, keys: Keys, worker: string): Promise<Blame | null> {
  const text = await redis.get(keys.fleet.blame(worker));
  return text === null ? null : (JSON.parse(text) as Blame);
}

/** Removes the report of a process: it goes on. */
export async function dropBlame(redis: RedisClient, keys: Keys, worker: string): Promise<void> {
  await redis.del(keys.fleet.blame(worker));
}
