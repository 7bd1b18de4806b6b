import { z } from 'zod';
import type { Load } from '../load/read-load.ts';
import { countDue } from '../../ledger/index.ts';
import { redisNow } from '../../redis/index.ts';
import { listWorkers, type RegistryPorts } from './worker-registry.ts';

/** What is remembered of a group while none of its workers lives. */
const groupSchema = z.object({ queues: z.array(z.string()), slots: z.int().min(0) });

/** What a group of workers has to do, and should be. */
export interface Scaling {
  group: string;
  /** Tasks of its queues that wait for nothing but a slot. */
  runnable: number;
  /** Attempts that its workers run. */
  busy: number;
  /** Attempts that its live workers may run. */
  slots: number;
  /** Workers that it takes to run all of both at once. */
  desired: number;
}

/**
 * What a group has to do; null for one that no worker was ever of. What caps, lanes, budgets and other gates hold back does not count: more workers
 * would not run it. A queue that several groups serve counts in each.
 */
export async function readScaling(ports: RegistryPorts, group: string, { waiting }: Pick<Load, 'waiting'>): Promise<Scaling | null> {
  const [noted, all] = await Promise.all([ports.redis.hget(ports.keys.fleet.workerGroups, group), listWorkers(ports)]);
  const known = noted === null ? null : groupSchema.parse(JSON.parse(noted));
  if (known === null) return null;
  const live = all.filter((worker) => worker.group === group && worker.status !== 'dead');
  const queues = new Set(live.length > 0 ? live.flatMap((worker) => worker.queues) : known.queues);
  // What waits for a worker of its queue may be held for that: it is what wakes a group that was scaled to zero.
  const runnable = sum(waiting.flatMap(({ queue, gate, count }) => (isRunnable(gate) && queues.has(queue) ? [count] : [])));
  const overdue = all.some(({ role, status }) => role === 'worker' && status !== 'dead') ? 0 : await countOverdue(ports);
  const busy = sum(live.map(({ running }) => running ?? 0));
  // One that drains takes nothing more.
  const open = live.filter(({ status }) => status !== 'draining');
  const slotsOfOne = Math.max(1, open[0]?.slots ?? known.slots);
  const desired = Math.ceil((runnable + overdue + busy) / slotsOfOne);
  return { group, runnable: runnable + overdue, busy, slots: sum(open.map(({ slots }) => slots ?? 0)), desired };
}

function isRunnable(gate: string | null): boolean {
  return gate === null || gate === 'worker';
}

/** Tasks whose time has come while there is no worker at all: only a worker starts them. */
async function countOverdue({ redis, keys }: RegistryPorts): Promise<number> {
  const now = await redisNow(redis);
  const shards = Array.from({ length: keys.shards }, (_, index) => index);
  return sum(await Promise.all(shards.map((shard) => countDue({ redis, keys }, shard, now))));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
