import pMap from 'p-map';
import type { ObjectArchive } from '../../files/index.ts';
import { redisNow } from '../../redis/index.ts';
import { parseBody } from '../codec/body.ts';
import type { Ledger } from '../ledger.ts';
import { parsePlace, type PartsOwner } from './task-parts.ts';

/** Objects of one shard that one round removes. */
const MAX_PER_ROUND = 5000;
const PAGE = 500;
const CONCURRENCY = 8;

/** Removes objects of the archive that no task has any more, or that none got in time. Returns how many. Errors: `unavailable.files`. */
export async function removeUnusedObjects({ redis, keys }: Pick<Ledger, 'redis' | 'keys'>, archive: ObjectArchive): Promise<number> {
  const now = await redisNow(redis);
  let removed = 0;
  for (let shard = 0; shard < keys.shards; shard += 1) {
    const { archiveDue } = keys.shard(shard);
    for (let count = 0; count < MAX_PER_ROUND; count += PAGE) {
      const members = await redis.zrangebyscore(archiveDue, '-inf', now, 'LIMIT', 0, PAGE);
      await pMap(members, (member) => removeObject(archive, member), { concurrency: CONCURRENCY });
      if (members.length > 0) await redis.zrem(archiveDue, ...members);
      removed += members.length;
      if (members.length < PAGE) break;
    }
  }
  return removed;
}

async function removeObject(archive: ObjectArchive, member: string): Promise<void> {
  const [tenant = '', file = ''] = member.split('/');
  await archive.remove({ tenant, file });
}

/** Removes the object of an archived task, which is to be removed itself. Returns where its parts were; null for a task without one. */
export async function removeObjectOf({ redis, keys, archive }: Ledger, { tenant, id }: PartsOwner): Promise<string | null> {
  const text = await redis.hget(keys.tenant(tenant).bodies, id);
  const place = (text === null ? undefined : parseBody(text).archived) ?? null;
  if (place === null || archive === undefined) return null;
  await archive.remove({ tenant, file: parsePlace(place).object });
  return place;
}
