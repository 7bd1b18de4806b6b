import type { TaskStatus } from '../../tasks/index.ts';
import { redisNow } from '../../redis/index.ts';
import type { Ledger } from '../ledger.ts';

type Reader = Pick<Ledger, 'redis' | 'keys'>;

/**
 * Of suspended runs the times in `due` are so much later, ms: 0.2.0, which cannot promote them, finds none of them due, and so they keep no other
 * task waiting there. `context.lua` writes them.
 */
const SUSPENDED_FROM = 1e15;

/** The score in `due` of a task that waits for a time. */
export function dueScore(status: TaskStatus, at: number): number {
  return status === 'suspended' ? SUSPENDED_FROM + at : at;
}

/** A task that waits for a time. */
export interface DueTask {
  tenant: string;
  id: string;
}

interface DueTasks {
  /** Whose time has come, earliest first, suspended runs behind the others. */
  tasks: DueTask[];
  /** Until the time of the next one after those, ms; null when none waits. Zero when more are due than `max`. */
  nextInMs: number | null;
}

/** What is due in a shard by Redis's clock, at most `max` tasks. Costs three commands while nothing is. */
export async function readDue({ redis, keys }: Reader, shard: number, max: number): Promise<DueTasks> {
  const { due } = keys.shard(shard);
  const firstOf = async (from: number): Promise<number[]> => {
    const [, at] = await redis.zrangebyscore(due, from, '+inf', 'WITHSCORES', 'LIMIT', 0, 1);
    return at === undefined ? [] : [Number(at) % SUSPENDED_FROM];
  };
  const [now, ...firsts] = await Promise.all([redisNow(redis), firstOf(0), firstOf(SUSPENDED_FROM)]);
  const heads = firsts.flat();
  if (heads.length === 0) return { tasks: [], nextInMs: null };
  const next = Math.min(...heads);
  if (next > now) return { tasks: [], nextInMs: next - now };
  const members = await redis.zrangebyscore(due, '-inf', now, 'LIMIT', 0, max);
  const left = max - members.length;
  if (left > 0) members.push(...(await redis.zrangebyscore(due, SUSPENDED_FROM, SUSPENDED_FROM + now, 'LIMIT', 0, left)));
  const tasks = members.map((member) => {
    const [tenant = '', id = ''] = member.split('/', 2);
    return { tenant, id };
  });
  return { tasks, nextInMs: 0 };
}

/** How many tasks of a shard are due at a time. */
export async function countDue({ redis, keys }: Reader, shard: number, at: number): Promise<number> {
  const { due } = keys.shard(shard);
  const [tasks, suspended] = await Promise.all([redis.zcount(due, '-inf', at), redis.zcount(due, SUSPENDED_FROM, SUSPENDED_FROM + at)]);
  return tasks + suspended;
}
