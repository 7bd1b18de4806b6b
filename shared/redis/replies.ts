import { Cluster } from 'ioredis';
import type { RedisClient } from './connect-redis.ts';
import type { Clock } from '../time/index.ts';

/** A flat reply of Redis (member, score, member, score, ...) as pairs. */
export function pairs(flat: readonly string[]): [first: string, second: string][] {
  const found: [string, string][] = [];
  for (let position = 0; position + 1 < flat.length; position += 2) found.push([flat[position] ?? '', flat[position + 1] ?? '']);
  return found;
}

/** About how many entries a call reads. Entries written during a scan may be missing, and any entry may come twice. */
const PAGE = 500;

interface ScanOptions {
  /** Of the names. */
  pattern?: string;
  pageSize?: number;
}

/** Every key whose name fits the pattern, in pages, on however many nodes. */
export async function* scanKeys(client: RedisClient, pattern: string): AsyncGenerator<string[]> {
  const nodes = client instanceof Cluster ? client.nodes('master') : [client];
  for (const node of nodes) yield* pagesOf((cursor) => node.scan(cursor, 'MATCH', pattern, 'COUNT', PAGE));
}

/** The memory of one Redis, in bytes. */
export interface NodeMemory {
  /** Its place among the nodes, from 0. */
  node: string;
  used: number;
  /** Null without a bound. */
  max: number | null;
}

/** The memory of each node. A managed service that does not tell it has none. */
export async function readMemory(client: RedisClient): Promise<NodeMemory[]> {
  const nodes = client instanceof Cluster ? client.nodes('master') : [client];
  const texts = await Promise.all(nodes.map((node) => node.info('memory')));
  return texts.flatMap((text, at) => {
    const [used, max] = [figureOf(text, 'used_memory'), figureOf(text, 'maxmemory')];
    return used === null ? [] : [{ node: `${at}`, used, max: max === 0 ? null : max }];
  });
}

/** The node that uses the largest share of its `maxmemory`; null where none has a bound. */
export function fullestOf(nodes: readonly Pick<NodeMemory, 'used' | 'max'>[]): { used: number; max: number; share: number } | null {
  const bounded = nodes.flatMap(({ used, max }) => (max === null ? [] : [{ used, max, share: used / max }]));
  return bounded.toSorted((one, other) => other.share - one.share)[0] ?? null;
}

function figureOf(info: string, name: string): number | null {
  const found = new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1];
  return found === undefined ? null : Number(found);
}

/** All fields of a hash with their values, in pages. */
export async function* scanHash(
  redis: RedisClient,
  key: string,
  { pattern = '*', pageSize = PAGE }: ScanOptions = {},
): AsyncGenerator<[field: string, value: string][]> {
  for await (const flat of pagesOf((cursor) => redis.hscan(key, cursor, 'MATCH', pattern, 'COUNT', pageSize))) yield pairs(flat);
}

/** All members of a sorted set with their scores, in pages. */
export async function* scanSortedSet(
  redis: RedisClient,
  key: string,
  { pattern = '*', pageSize = PAGE }: ScanOptions = {},
): AsyncGenerator<[member: string, score: string][]> {
  for await (const flat of pagesOf((cursor) => redis.zscan(key, cursor, 'MATCH', pattern, 'COUNT', pageSize))) yield pairs(flat);
}

/** The pages of a scan that have entries. */
async function* pagesOf(read: (cursor: string) => Promise<[cursor: string, page: string[]]>): AsyncGenerator<string[]> {
  let cursor = '0';
  do {
    const [next, page] = await read(cursor);
    cursor = next;
    if (page.length > 0) yield page;
  } while (cursor !== '0');
}

const ENTRY_ID = /^(\d{1,20})-(\d{1,20})$/;
/** Each of the two numbers of an id has 64 bits. */
const LARGEST = 2n ** 64n - 1n;

/** Whether Redis accepts this as the id of a stream's entry that others may follow. */
export function isEntryId(text: string): boolean {
  const [, ms, number] = ENTRY_ID.exec(text) ?? [];
  if (ms === undefined || number === undefined || BigInt(ms) > LARGEST) return false;
  return BigInt(ms) === LARGEST ? BigInt(number) < LARGEST : BigInt(number) <= LARGEST;
}

/** Redis's clock in milliseconds since the epoch: the same for all processes, whatever their own clocks show. */
export async function redisNow(redis: Pick<RedisClient, 'time'>): Promise<number> {
  // Both are texts, whatever the client's type is.
  const [seconds, micros] = await redis.time();
  return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
}

/** Milliseconds that this process's wall clock is ahead of Redis's; negative when behind. Off by half of the round trip at most. */
export async function clockSkew(redis: Pick<RedisClient, 'time'>, clock: Pick<Clock, 'now'>): Promise<number> {
  const before = clock.now();
  const now = await redisNow(redis);
  // The reply was made between the two reads of our clock, and half-way is the best guess.
  return Math.round((before + clock.now()) / 2 - now);
}

/** A skew as text: `300.0 s ahead of Redis`. */
export function describeSkew(skewMs: number): string {
  return `${(Math.abs(skewMs) / 1000).toFixed(1)} s ${skewMs > 0 ? 'ahead of' : 'behind'} Redis`;
}
