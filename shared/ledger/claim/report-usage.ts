import type { TaskUsage, UsageRow } from '../../tasks/index.ts';
import { shardKeys } from '../context.ts';
import type { Ledger } from '../ledger.ts';
import { type AttemptRef, leaseMember } from './leases.ts';

/** What counts of an attempt when it is lost with its process. */
export interface RunningUsage {
  /** All that it used so far. */
  usage: TaskUsage;
  /** What of it is not in the rows of the day yet. */
  rows: UsageRow[];
}

/** Keeps what a running attempt has used so far. Returns false when it lost its lease; nothing is written then. */
export async function reportUsage(ledger: Ledger, ref: AttemptRef, running: RunningUsage): Promise<boolean> {
  const keys = [shardKeys(ledger, ref.tenant).leases, ledger.keys.tenant(ref.tenant).runningUsage];
  const written = await ledger.run('report-usage', keys, [leaseMember(ref), `${ref.id}:${ref.token}`, JSON.stringify(running)]);
  return written === 1;
}

/** What a running attempt had used by its last report; null without one. */
export async function readReportedUsage(
  { redis, keys }: Ledger,
  { tenant, id, token }: Omit<AttemptRef, 'lane'>,
): Promise<TaskUsage | null> {
  const stored = await redis.hget(keys.tenant(tenant).runningUsage, `${id}:${token}`);
  return stored === null ? null : (JSON.parse(stored) as RunningUsage).usage;
}
