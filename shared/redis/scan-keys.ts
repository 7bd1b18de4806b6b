import { Cluster } from 'ioredis';
import type { RedisClient } from './connect-redis.ts';

/** Keys asked for at a time. */
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
