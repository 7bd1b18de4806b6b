import type { Log } from '../../log/index.ts';
import { isRedisUnavailable, redisNow } from '../../redis/index.ts';
import type { Clock } from '../../time/index.ts';
import type { Erasure } from './erasure.ts';
import { type EraseParts, eraseNext } from './erasure-step.ts';
import { ErasureStore } from './erasure-store.ts';

interface RunParts extends EraseParts {
  readonly log: Log;
}

/** Erasures of one shard in one round. */
const MAX_PER_ROUND = 20;
/** Until what is stopping is looked at again. */
const STOPPING_MS = 500;
/** After a part that failed. */
const FAILED_MS = 5000;

/** Does parts of the erasures that are due, for about `forMs`. What a process leaves in the middle another one goes on with. */
export async function runErasures(parts: RunParts, clock: Clock, forMs: number): Promise<void> {
  const { keys, redis } = parts.ledger;
  const store = new ErasureStore(parts.ledger);
  const until = clock.monotonic() + forMs;
  const mayContinue = (): boolean => clock.monotonic() < until;
  for (let shard = 0; shard < keys.shards; shard += 1) {
    for (const due of await store.listDue(shard, await redisNow(redis), MAX_PER_ROUND)) {
      if (!mayContinue()) return;
      await runSafely(parts, store, due, mayContinue);
    }
  }
}

/** One that fails keeps no other from its end. */
async function runSafely(
  parts: RunParts,
  store: ErasureStore,
  { tenant, id }: { tenant: string; id: string },
  mayContinue: () => boolean,
): Promise<void> {
  const { redis, keys } = parts.ledger;
  try {
    const erasure = await store.find(tenant, id);
    // One that has ended is due at the end of its retention. Without a record its process died before it wrote that.
    if (erasure === null || erasure.completedAt !== null) await store.remove(tenant, id);
    else await eraseOn(parts, store, erasure, mayContinue);
  } catch (error) {
    if (isRedisUnavailable(error)) throw error;
    parts.log.error({ err: error, erasure: id, tenant }, 'an erasure could not go on; trying again');
    await redis.zadd(keys.shard(keys.shardOf(tenant)).erasuresDue, 'XX', (await redisNow(redis)) + FAILED_MS, `${tenant}/${id}`);
  }
}

async function eraseOn(parts: RunParts, store: ErasureStore, found: Erasure, mayContinue: () => boolean): Promise<void> {
  const { redis } = parts.ledger;
  let erasure = found;
  do {
    erasure = await eraseNext(parts, erasure, mayContinue);
    if (erasure.phase !== 'done') await store.save(erasure, erasure.stopping > 0 ? STOPPING_MS : 0, await redisNow(redis));
  } while (erasure.phase !== 'done' && erasure.stopping === 0 && mayContinue());
  if (erasure.phase !== 'done') return;
  await store.end(erasure, await redisNow(redis));
  const { id, tenant, kind, removed } = erasure;
  parts.log.info({ event: 'data.erased', erasure: id, tenant, kind, removed }, 'data was erased');
}
