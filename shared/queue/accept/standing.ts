import { type AcceptedAnswer, countReadyUpTo, type Ledger, type NewTask } from '../../ledger/index.ts';
import { Recent } from '../../time/index.ts';
import type { Queues } from '../queues.ts';
import type { Standing } from '../why/pace.ts';
import { readRoom } from '../registry/fleet-room.ts';
import type { Intake } from './request.ts';

/** A count serves further tickets of this process for so long. */
const FRESH_MS = 100;
/** Counts that are kept: of a few queues and priorities in each shard. */
const MAX_COUNTS = 1000;

interface QueueCount {
  ahead: number;
  /** Whether the fleet is full. */
  isFull: boolean;
}

interface RecentCount {
  /** Tickets that this process added since. */
  added: number;
  count: Promise<QueueCount>;
}

/** By shard, queue and priority. */
const recentCounts = new WeakMap<Queues, Recent<string, RecentCount>>();

/**
 * What is before a task that was accepted now: in its lane, in its tenant's backlog or, with a ticket, in its queue. Null where that cannot
 * be read; it never rejects.
 */
export function readStanding(intake: Intake, task: NewTask, { entry, ahead, gate }: AcceptedAnswer): Standing | Promise<Standing | null> {
  return entry === null ? { ahead, gate } : readInQueue(intake, task).catch(() => null);
}

async function readInQueue(intake: Intake, task: NewTask): Promise<Standing> {
  const recent = recentCount(intake, task);
  const { added } = recent;
  recent.added += 1;
  const count = await recent.count;
  // What this process has added meanwhile is among those that were counted.
  return { ahead: count.ahead + added, gate: count.isFull ? 'fleet' : null };
}

function recentCount({ ledger, queues }: Intake, task: NewTask): RecentCount {
  const shard = ledger.keys.shardOf(task.body.tenant);
  const known = recentCounts.get(queues) ?? new Recent<string, RecentCount>({ maxEntries: MAX_COUNTS, keepMs: FRESH_MS });
  recentCounts.set(queues, known);
  const name = `${shard}/${task.queue}/${task.priority}`;
  const recent = known.get(name);
  if (recent) return recent;
  const counted: RecentCount = {
    added: 0,
    count: countBefore(ledger, shard, task).then((count) => ({ ...count, ahead: Math.max(0, count.ahead - counted.added) })),
  };
  known.set(name, counted);
  return counted;
}

async function countBefore(ledger: Ledger, shard: number, { queue, priority }: NewTask): Promise<QueueCount> {
  const [ready, { isFull }] = await Promise.all([countReadyUpTo(ledger, shard, { queue, priority }), readRoom(ledger, queue)]);
  return { ahead: ready, isFull };
}
