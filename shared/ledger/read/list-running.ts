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

/** What runs in a shard, in the order of its start. `limits.maxConcurrent` bounds how much that is. */
export async function listRunning(ledger: Ledger, shard: number): Promise<RunningTask[]> {
  const leases = (await ledger.redis.zrange(ledger.keys.shard(shard).leases, '0', '-1')).map((member) => parseLease(member));
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
  return (one.state.startedAt ?? 0) - (other.state.startedAt ?? 0) || (one.task < other.task ? -1 : 1);
}
