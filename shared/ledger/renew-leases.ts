import type { Ledger } from './ledger.ts';

/** A stop that a worker has to answer. */
export interface Stop {
  kind: 'cancel';
  reason: string;
  /** The task that takes its place. */
  by?: string;
}

export type Renewal = 'held' | 'lost' | Stop;

/** Extends leases of one shard, given by `leaseMember`; answers in the same order. */
export async function renewLeases(ledger: Ledger, shard: number, members: readonly string[]): Promise<Renewal[]> {
  const keys = ledger.keys.shard(shard);
  const answers = (await ledger.run(
    'renew-leases',
    [keys.leases, keys.signals],
    [ledger.settings.worker.leaseMs, JSON.stringify(members)],
  )) as string[];
  return answers.map((answer) => (answer === 'held' || answer === 'lost' ? answer : (JSON.parse(answer) as Stop)));
}
