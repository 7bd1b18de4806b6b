import { MAX_LOW_PRIORITY } from '../../tasks/index.ts';
import { contextKeys, runInContext, shardKeys } from '../context.ts';
import type { Ledger } from '../ledger.ts';

/** A low task that makes room for a critical one. */
export interface Preemption {
  task: string;
  /** The critical task. */
  by: string;
  /** - `preempted`: its worker was signalled, and hands it back. `displaced`: it did not run, and waits for its place again */
  how: 'preempted' | 'displaced';
}

/**
 * Makes room for a tenant's critical tasks that wait at its caps or for shared lanes. Skips the tasks that a running task makes room
 * for already, so any process may call it at any time.
 */
export async function preemptTasks(ledger: Ledger, tenant: string): Promise<Preemption[]> {
  const { enabled, maxPerTask, maxRead } = ledger.settings.limits.preemption;
  if (!enabled) return [];
  const { signals, preempted } = shardKeys(ledger, tenant);
  const reply = (await runInContext(ledger, {
    script: 'preempt-tasks',
    tenant,
    keys: [...contextKeys(ledger, tenant), signals, preempted],
    args: [JSON.stringify({ maxPerTask, maxRead, lowTo: MAX_LOW_PRIORITY })],
  })) as string[];
  return Array.from({ length: reply.length / 3 }, (_, at) => ({
    task: reply[at * 3] ?? '',
    by: reply[at * 3 + 1] ?? '',
    how: reply[at * 3 + 2] as Preemption['how'],
  }));
}
