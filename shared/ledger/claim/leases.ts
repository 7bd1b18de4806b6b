import type { FailureRoute } from '../../errors/index.ts';
import { usageDay } from '../../tasks/index.ts';
import { runInContext, shardKeys, taskKeys, type TaskPlace, usageBounds } from '../context.ts';
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

/** `requeued`: the task goes on, at once or after a while. `held`: the lease stands. `gone`: it is not this attempt's any more. */
export type ExpireAnswer = 'requeued' | 'ended' | 'held' | 'gone';

/** What is known of how an attempt was lost. */
export interface Loss {
  /** - `guilty`: this task ended the process. `cleared`: another task did. `unknown`: a task that ran there, if any */
  blame: 'unknown' | 'guilty' | 'cleared';
  /** What happened, for people; by default that the lease was not renewed. */
  message?: string;
  /** Whether the process is known to have ended, so that its lease does not count any more. */
  isGone?: boolean;
  /** Whether it ended, or got stuck, by what ran in it, and not with its worker or machine. */
  isOwnEnd?: boolean;
  /** What follows `WORKER_LOST` as the task's agent says: `stop` ends the task, `wait` costs no attempt. */
  route?: FailureRoute;
}

/** Takes an attempt back when its lease ran out, or when its process has ended. */
export async function expireLease(ledger: Ledger, attempt: AttemptRef, loss: Loss = { blame: 'unknown' }): Promise<ExpireAnswer> {
  const shard = shardKeys(ledger, attempt.tenant);
  const keys = ledger.keys.tenant(attempt.tenant);
  const { limits, retries, worker } = ledger.settings;
  const bounds = { maxLosses: limits.maxWorkerLosses, delayMs: worker.suspectDelayMs, maxDelayMs: retries.maxDelayMs };
  const [kind] = (await runInContext(ledger, {
    script: 'expire-lease',
    tenant: attempt.tenant,
    keys: [
      ...taskKeys(ledger, attempt),
      shard.leases,
      shard.deadlines,
      shard.signals,
      shard.ended,
      keys.attempts,
      shard.due,
      keys.usageDay(usageDay(Date.now())),
      keys.runningUsage,
      keys.failing,
    ],
    options: { usage: usageBounds(ledger), maxFailures: ledger.settings.runaways.maxFailures },
    args: [attempt.id, attempt.token, JSON.stringify({ ...loss, ...bounds, spread: Math.random() })],
  })) as [ExpireAnswer];
  return kind;
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
