import type { TaskPlace } from '../context.ts';
import type { Ledger } from '../ledger.ts';

/** One attempt: its task and its fencing token. */
export interface AttemptRef extends TaskPlace {
  token: number;
}

/** The attempt's name among the shard's leases. Tenant and task ids hold no `/`. */
export function leaseMember({ tenant, id, token }: Omit<AttemptRef, 'lane'>): string {
  return `${tenant}/${id}/${token}`;
}

/** The parts of a lease's name. */
export function parseLease(member: string): Omit<AttemptRef, 'lane'> {
  const [tenant = '', id = '', token = '0'] = member.split('/');
  return { tenant, id, token: Number(token) };
}

/** A stop that a worker has to answer. `preempt`: the task goes on later, and gives its place to the critical task `by`. */
type Stop = { kind: 'cancel'; reason: string; by?: string } | { kind: 'preempt'; reason: string; by: string };

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

/**
 * What a worker receives about an attempt that it may hold, by the attempt's lease member. `stop`: the lease's renewal answers why. `input`:
 * messages wait to be taken with `takeInput`.
 */
export interface WorkerSignal {
  kind: 'stop' | 'input';
  member: string;
}

/** Reads a message of the key `workerSignal`: `<member>` and `preempt <member>` are stops, `input <member>` announces input. */
export function parseWorkerSignal(message: string): WorkerSignal {
  const [, kind, member = ''] = /^(?:(input|preempt) )?(.*)$/s.exec(message) ?? [];
  return { kind: kind === 'input' ? 'input' : 'stop', member };
}
