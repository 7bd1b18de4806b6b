import pMap from 'p-map';
import { type Ledger, releaseHeld } from '../ledger/index.ts';
import { throttleId } from './account.ts';
import { type BookedCall, findThrottled, reserveCalls, settleRelease, type ThrottledModel } from './throttle-scripts.ts';

/** Calls that one script books. */
const PAGE = 32;
/** Pages that one model gets before the next round. */
const MAX_PAGES = 20;
/** Models, and tenants of one, that are released at once. */
const CONCURRENCY = 5;

/**
 * Releases waiting tasks of providers in their turn, as far as calls may be made soon, each with a place booked for its call.
 * Returns whether any model has tasks that wait.
 */
export async function releaseWaiting(ledger: Ledger): Promise<boolean> {
  const { redis, keys } = ledger;
  const ids = await redis.zrange(keys.fleet.throttleWaits, '0', '-1');
  await pMap(ids, (id) => releaseOfModel(ledger, id), { concurrency: CONCURRENCY });
  return ids.length > 0;
}

async function releaseOfModel(ledger: Ledger, id: string): Promise<void> {
  const target = await findThrottled(ledger, id);
  if (target === null) {
    await ledger.redis.zrem(ledger.keys.fleet.throttleWaits, id);
    return;
  }
  const excluded: BookedCall[] = [];
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const booked = await reserveCalls(ledger, target, { max: PAGE, excluded });
    const byTenant = Map.groupBy(booked, ({ tenant }) => tenant);
    const missing = await pMap(byTenant, ([tenant, calls]) => releaseTasks(ledger, target, tenant, calls), { concurrency: CONCURRENCY });
    excluded.push(...missing.flat());
    if (booked.length < PAGE && missing.flat().length === 0) return;
  }
}

/** Returns the calls for which the tenant had no task. */
async function releaseTasks(ledger: Ledger, target: ThrottledModel, tenant: string, calls: BookedCall[]): Promise<BookedCall[]> {
  const hold = { gate: 'provider', what: throttleId(target.account, target.model) } as const;
  const ids = await releaseHeld(ledger, tenant, hold, calls.length);
  const [released, missing] = [calls.slice(0, ids.length), calls.slice(ids.length)];
  await settleRelease(ledger, target, tenant, { released, missing });
  return missing;
}
