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
 * messages wait to be taken with `takeInput`. `suspects`: tasks were lost and return soon.
 */
export type WorkerSignal = { kind: 'stop' | 'input'; member: string } | { kind: 'suspects' };

const SUSPECTS = 'suspects';

/** Announces to workers that tasks were lost. Never rejects: they return all the same, to a process that has to start. */
export async function announceSuspects({ redis, keys }: Ledger): Promise<void> {
  // Workers listen to the channels of all shards.
  await redis.publish(keys.shard(0).workerSignal, SUSPECTS).catch(() => undefined);
}

/**
 * Reads a message of the key `workerSignal`: `<member>` and `preempt <member>` are stops, `input <member>` announces input, `suspects`
 * suspects.
 */
export function parseWorkerSignal(message: string): WorkerSignal {
  if (message === SUSPECTS) return { kind: 'suspects' };
  const [, kind, member = ''] = /^(?:(input|preempt) )?(.*)$/s.exec(message) ?? [];
  return { kind: kind === 'input' ? 'input' : 'stop', member };
}
