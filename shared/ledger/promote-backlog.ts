import { bookOptions } from './book-options.ts';
import type { Ledger } from './ledger.ts';
import { runMoving } from './run-moving.ts';
import { bookKeys } from './task-keys.ts';

/** Calls for one tenant at a time; each lets a hundred through at most. */
const CALLS_MOST = 100;

/**
 * Lets through what waits for a tenant's caps although they have room. Every end of a task does so for the place that it leaves; this
 * is for limits that were raised. Returns how many were let through.
 */
export async function promoteBacklog(ledger: Ledger, tenant: string): Promise<number> {
  let promoted = 0;
  for (let call = 0; call < CALLS_MOST; call += 1) {
    const options = JSON.stringify(bookOptions(ledger, tenant));
    const [count] = (await runMoving(ledger, tenant, 'promote-backlog', bookKeys(ledger, tenant), [options])) as [number];
    if (count === 0) break;
    promoted += count;
  }
  return promoted;
}
