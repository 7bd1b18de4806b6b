import type { TaskState } from '../tasks/index.ts';
import type { Ledger } from './ledger.ts';
import type { OwedTicket } from './outbox-entry.ts';
import { parseFullState } from './parse-state.ts';

/** Makes a new ticket in place of one that is missing. Returns the task's state with it; null when the task needs none. */
export async function reissueTicket(ledger: Ledger, tenant: string, { task, number }: OwedTicket): Promise<TaskState | null> {
  const keys = ledger.keys.tenant(tenant);
  const shard = ledger.keys.shard(ledger.keys.shardOf(tenant));
  const [kind, state] = (await ledger.run('reissue-ticket', [keys.states, keys.bodies, shard.outbox], [task, number, tenant])) as [
    string,
    string?,
  ];
  return kind === 'reissued' ? parseFullState(`${state}`) : null;
}
