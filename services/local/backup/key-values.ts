import { type RedisClient, redisNow, scanHash, scanSortedSet } from '#shared/redis/index.ts';
import { z } from 'zod';
import { KEY_TYPES, type KeyValue } from './backup-record.ts';

/** Which fields of a hash, or members of a set, are wanted. */
export type IsWanted = (field: string, value: string) => boolean;

const PAGE = 500;
const entrySchema = z.array(z.string());

/** What a key has, in as many parts as are read at once. Streams and lists are read in one: they are bounded. */
export async function* readValue(redis: RedisClient, key: string, isWanted: IsWanted = () => true): AsyncGenerator<KeyValue> {
  const [type, ttlMs, now] = await Promise.all([redis.type(key), redis.pttl(key), redisNow(redis)]);
  const expiresAt = ttlMs >= 0 ? now + ttlMs : null;
  const known = KEY_TYPES.find((each) => each === type);
  if (known === undefined) return;
  for await (const page of READ[known](redis, key)) {
    const items = page.filter(([field, value]) => isWanted(field, value));
    if (items.length > 0) yield { type: known, items, expiresAt };
  }
}

type Page = [field: string, value: string][];
type Read = (redis: RedisClient, key: string) => AsyncIterable<Page> | Iterable<Promise<Page>>;

const READ: Readonly<Record<KeyValue['type'], Read>> = {
  string: (redis, key) => [redis.get(key).then((text): Page => (text === null ? [] : [['', text]]))],
  hash: scanHash,
  zset: scanSortedSet,
  set: (redis, key) => [redis.smembers(key).then(named)],
  list: (redis, key) => [redis.lrange(key, 0, -1).then(named)],
  stream: (redis, key) => [
    redis.xrange(key, '-', '+').then((entries): Page => entries.map(([id, fields]) => [id, JSON.stringify(fields)])),
  ],
};

function named(texts: readonly string[]): Page {
  return texts.map((text) => [text, '']);
}

/** Writes it. The same again changes nothing. What has expired meanwhile is left out. */
export async function writeValue(redis: RedisClient, key: string, { type, items, expiresAt }: KeyValue, now: number): Promise<void> {
  if (items.length === 0 || (expiresAt !== null && expiresAt <= now)) return;
  for (let from = 0; from < items.length; from += PAGE) await WRITE[type](redis, key, items.slice(from, from + PAGE));
  if (expiresAt !== null) await redis.pexpireat(key, expiresAt);
}

type Write = (redis: RedisClient, key: string, items: readonly [string, string][]) => Promise<unknown>;

const WRITE: Readonly<Record<KeyValue['type'], Write>> = {
  string: async (redis, key, [item]) => await redis.set(key, item?.[1] ?? ''),
  hash: async (redis, key, items) => await redis.hset(key, ...items.flat()),
  zset: async (redis, key, items) => await redis.zadd(key, ...items.flatMap(([member, score]) => [score, member])),
  set: async (redis, key, items) => await redis.sadd(key, ...items.map(([member]) => member)),
  list: writeList,
  stream: writeStream,
};

async function writeList(redis: RedisClient, key: string, items: readonly [string, string][]): Promise<void> {
  const there = new Set(await redis.lrange(key, 0, -1));
  const missing = items.flatMap(([text]) => (there.has(text) ? [] : [text]));
  if (missing.length > 0) await redis.rpush(key, ...missing);
}

/** Entries keep their ids, by which readers know where they were. */
async function writeStream(redis: RedisClient, key: string, items: readonly [string, string][]): Promise<void> {
  const [last] = await redis.xrevrange(key, '+', '-', 'COUNT', 1);
  const writing = redis.pipeline();
  for (const [id, fields] of items) {
    if (last === undefined || isBehind(id, last[0])) writing.xadd(key, id, ...entrySchema.parse(JSON.parse(fields)));
  }
  for (const [error] of (await writing.exec()) ?? []) if (error) throw error;
}

function isBehind(id: string, last: string): boolean {
  const [time = 0, number = 0] = id.split('-').map(Number);
  const [lastTime = 0, lastNumber = 0] = last.split('-').map(Number);
  return time > lastTime || (time === lastTime && number > lastNumber);
}
