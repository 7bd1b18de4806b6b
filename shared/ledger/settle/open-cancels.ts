import { shardKeys } from '../context.ts';
import type { Ledger } from '../ledger.ts';

/** A cancel that has not reached all sub-tasks of its task yet. Redis keeps it until `closeCancel`. */
export interface OpenCancel {
  tenant: string;
  /** The task whose sub-tasks are to be cancelled. */
  id: string;
  /** Why the task was cancelled that they all descend from. */
  reason: string;
}

/** Its entry in the shard's set, as `open-cancels.lua` writes it. Ids of tenants and tasks hold no `/`; a reason may. */
function openCancelMember({ tenant, id, reason }: OpenCancel): string {
  return `${tenant}/${id}/${reason}`;
}

/** Reads an entry of the shard's set. */
export function parseOpenCancel(member: string): OpenCancel {
  const [tenant = '', id = ''] = member.split('/', 2);
  return { tenant, id, reason: member.slice(tenant.length + id.length + 2) };
}

/**
 * The open cancel of a shard whose last attempt to finish it began first, if that was before `before`, ms by Redis's clock; else null. It
 * counts as begun at `now`, so that other processes leave it to the caller for a time.
 */
export async function takeOpenCancel(
  { redis, keys }: Pick<Ledger, 'redis' | 'keys'>,
  shard: number,
  { before, now }: { before: number; now: number },
): Promise<OpenCancel | null> {
  const { openCancels } = keys.shard(shard);
  const [member] = await redis.zrangebyscore(openCancels, '-inf', before, 'LIMIT', 0, 1);
  if (member === undefined) return null;
  await redis.zadd(openCancels, 'XX', now, member);
  return parseOpenCancel(member);
}

/** All sub-tasks of its task were reached. Those that have sub-tasks have open cancels of their own. */
export async function closeCancel(ledger: Ledger, cancel: OpenCancel): Promise<void> {
  await ledger.redis.zrem(shardKeys(ledger, cancel.tenant).openCancels, openCancelMember(cancel));
}
