import { TaskFailure } from '../../errors/index.ts';
import { parseKnownState } from '../codec/state.ts';
import type { Ledger } from '../ledger.ts';

type Reader = Pick<Ledger, 'redis' | 'keys'>;

const MEMBERS = ['[suspended/', '(suspended/\u00ff'] as const;

/** How many runs of a tenant are suspended. */
async function countSuspended({ redis, keys }: Reader, tenant: string): Promise<number> {
  return await redis.zlexcount(keys.tenant(tenant).live, ...MEMBERS);
}

/** How many of the first `max` suspended runs of a tenant began with each version of an agent, as `<agent>@<version>`; '' for those without one. */
export async function countSuspendedVersions({ redis, keys }: Reader, tenant: string, max: number): Promise<Map<string, number>> {
  const { live, states } = keys.tenant(tenant);
  const members = await redis.zrangebylex(live, ...MEMBERS, 'LIMIT', 0, max);
  const counts = new Map<string, number>();
  if (members.length === 0) return counts;
  for (const text of await redis.hmget(states, ...members.map((member) => member.slice('suspended/'.length)))) {
    const { agent, version } = text === null ? {} : parseKnownState(text);
    const name = version === undefined ? '' : `${agent}@${version}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

/** Errors: TOO_MANY_SUSPENDED for a tenant that has as many suspended runs as it may. */
export async function assertMaySuspend(ledger: Ledger, tenant: string): Promise<void> {
  const max = ledger.settings.limits.suspended;
  const suspended = await countSuspended(ledger, tenant);
  if (suspended < max) return;
  throw new TaskFailure('TOO_MANY_SUSPENDED', `The tenant has ${suspended} suspended runs, and may have ${max} (limits.suspended)`);
}
