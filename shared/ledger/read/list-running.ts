import type { TaskState } from '../../tasks/index.ts';
import { parseLease } from '../claim/leases.ts';
import type { Ledger } from '../ledger.ts';
import { readStates } from './read-states.ts';

/** A task that a worker holds under a lease. Its state may be a moment newer than that. */
export interface RunningTask {
  tenant: string;
  task: string;
  state: TaskState;
}

/** What runs in a shard, in the order of its start; at most `max`, by default all, which `limits.maxConcurrent` bounds. */
export async function listRunning(ledger: Ledger, shard: number, max = 0): Promise<RunningTask[]> {
  const members = await ledger.redis.zrange(ledger.keys.shard(shard).leases, '0', String(max - 1));
  const leases = members.map((member) => parseLease(member));
  const byTenant = Map.groupBy(leases, ({ tenant }) => tenant);
  const running = await Promise.all(
    [...byTenant].map(async ([tenant, own]) => {
      const ids = [...new Set(own.map(({ id }) => id))];
      const states = await readStates(ledger, tenant, ids);
      return ids.flatMap((task, position) => {
        const state = states[position];
        return state ? [{ tenant, task, state }] : [];
      });
    }),
  );
  return running.flat().toSorted(byStart);
}

function byStart(one: RunningTask, other: RunningTask): number {
  return (one.state.scheduledAt ?? 0) - (other.state.scheduledAt ?? 0) || (one.task < other.task ? -1 : 1);
}
