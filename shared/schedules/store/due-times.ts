import { type Keys, pairs, type RedisClient, scanSortedSet } from '../../redis/index.ts';

export interface DueSchedule {
  tenant: string;
  id: string;
  /** Its `wakeAt`. */
  dueAt: number;
}

/** Entries read per batch of a scan. */
const BATCH = 200;

/**
 * DueTimes is responsible for the index of schedules by `wakeAt`, a sorted set per shard. The scripts that write records write it too;
 * here it is read, and entries without a record are removed.
 */
export class DueTimes {
  readonly #redis: RedisClient;
  readonly #keys: Keys;

  constructor({ redis, keys }: { redis: RedisClient; keys: Keys }) {
    this.#redis = redis;
    this.#keys = keys;
  }

  /** Up to `max` schedules of a shard that are due by `now`, the longest overdue first. */
  async list(shard: number, now: number, max: number): Promise<DueSchedule[]> {
    const found = await this.#redis.zrangebyscore(this.#keys.shard(shard).schedulesDue, '-inf', now, 'WITHSCORES', 'LIMIT', 0, max);
    return pairs(found).map(parseEntry);
  }

  /** When the next schedule of a shard is due; null when there is none. */
  async next(shard: number): Promise<number | null> {
    const [, dueAt] = await this.#redis.zrange(this.#keys.shard(shard).schedulesDue, 0, '0', 'WITHSCORES');
    return dueAt === undefined ? null : Number(dueAt);
  }

  /** When these schedules are due, in their order; null for a schedule without an entry. */
  async find(tenant: string, ids: readonly string[]): Promise<(number | null)[]> {
    if (ids.length === 0) return [];
    const scores = await this.#redis.zmscore(this.keyOf(tenant), ...ids.map((id) => memberOf(tenant, id)));
    return scores.map((score) => (score === null ? null : Number(score)));
  }

  /** All entries of a shard, in batches. */
  async *scan(shard: number): AsyncGenerator<DueSchedule[]> {
    const { schedulesDue } = this.#keys.shard(shard);
    for await (const page of scanSortedSet(this.#redis, schedulesDue, { pageSize: BATCH })) yield page.map(parseEntry);
  }

  /** Removes entries; the records stay as they are. */
  async remove(tenant: string, ids: readonly string[]): Promise<void> {
    if (ids.length > 0) await this.#redis.zrem(this.keyOf(tenant), ...ids.map((id) => memberOf(tenant, id)));
  }

  keyOf(tenant: string): string {
    return this.#keys.shard(this.#keys.shardOf(tenant)).schedulesDue;
  }
}

/** The scripts build the same name. */
function memberOf(tenant: string, id: string): string {
  return `${tenant}/${id}`;
}

function parseEntry([member, dueAt]: readonly [string, string]): DueSchedule {
  const [tenant = '', id = ''] = member.split('/', 2);
  return { tenant, id, dueAt: Number(dueAt) };
}
