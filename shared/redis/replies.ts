import { Cluster } from 'ioredis';
import type { RedisClient } from './connect-redis.ts';

/** A flat reply of Redis (member, score, member, score, ...) as pairs. */
export function pairs(flat: readonly string[]): [first: string, second: string][] {
  const found: [string, string][] = [];
  for (let position = 0; position + 1 < flat.length; position += 2) found.push([flat[position] ?? '', flat[position + 1] ?? '']);
  return found;
}

/** Keys of one call. */
const PAGE = 500;

/** Every key whose name fits the pattern, page by page, on however many nodes. Keys written meanwhile may or may not come. */
export async function* scanKeys(client: RedisClient, pattern: string): AsyncGenerator<string[]> {
  const nodes = client instanceof Cluster ? client.nodes('master') : [client];
  for (const node of nodes) {
    let cursor = '0';
    do {
      const [next, keys] = await node.scan(cursor, 'MATCH', pattern, 'COUNT', PAGE);
      cursor = next;
      if (keys.length > 0) yield keys;
    } while (cursor !== '0');
  }
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
