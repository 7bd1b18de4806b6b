import { shardKeys } from '../context.ts';
import type { Ledger } from '../ledger.ts';

/** A suspended run whose wait nobody has seen to yet: Redis keeps it until `closeWait`. */
export interface OpenWait {
  tenant: string;
  /** The task. */
  id: string;
  /** The number of the entry that it waits at. */
  entry: number;
}

/**
 * The open wait of a shard that was seen to first, if that was before `before`, ms by Redis's clock; else null. It counts as seen to at `now`, so
 * that other processes leave it to the caller for a time.
 */
export async function takeOpenWait(
  { redis, keys }: Pick<Ledger, 'redis' | 'keys'>,
  shard: number,
  { before, now }: { before: number; now: number },
): Promise<OpenWait | null> {
  const { waits } = keys.shard(shard);
  const [member] = await redis.zrangebyscore(waits, '-inf', before, 'LIMIT', 0, 1);
  if (member === undefined) return null;
  await redis.zadd(waits, 'XX', now, member);
  const [tenant = '', id = '', entry = ''] = member.split('/');
  return { tenant, id, entry: Number(entry) };
}

/** Its wait was seen to. */
export async function closeWait(ledger: Ledger, { tenant, id, entry }: OpenWait): Promise<void> {
  await ledger.redis.zrem(shardKeys(ledger, tenant).waits, `${tenant}/${id}/${entry}`);
}
