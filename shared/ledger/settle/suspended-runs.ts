import { TaskFailure } from '../../errors/index.ts';
import type { Ledger } from '../ledger.ts';

/** How many runs of a tenant are suspended. */
async function countSuspended({ redis, keys }: Pick<Ledger, 'redis' | 'keys'>, tenant: string): Promise<number> {
  return await redis.zlexcount(keys.tenant(tenant).live, '[suspended/', '(suspended/\u00ff');
}

/** Errors: TOO_MANY_SUSPENDED for a tenant that has as many suspended runs as it may. */
export async function assertMaySuspend(ledger: Ledger, tenant: string): Promise<void> {
  const max = ledger.settings.limits.suspended;
  const suspended = await countSuspended(ledger, tenant);
  if (suspended < max) return;
  throw new TaskFailure('TOO_MANY_SUSPENDED', `The tenant has ${suspended} suspended runs, and may have ${max} (limits.suspended)`);
}
