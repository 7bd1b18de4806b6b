import { TASK_QUEUES, type TaskQueue } from '#shared/config/index.ts';
import { listRunning, measureReady, type ReadyTickets, type RunningTask } from '#shared/ledger/index.ts';
import {
  countActive,
  countHeldByQueue,
  listWorkers,
  oldestTicketAt,
  type QueueName,
  slotsFor,
  takesFrom,
  type TicketQueue,
  type WorkerRecord,
} from '#shared/queue/index.ts';
import type { QueueCounts, QueuePorts } from './queues.ts';

const COUNTED = ['waiting', 'prioritized', 'delayed', 'active', 'completed', 'failed'] as const;

/** Counts of every queue over all shards, in the order of the queues' names. */
export async function countQueues({ queues, ledger, tenants }: QueuePorts, now: number): Promise<QueueCounts[]> {
  const shardsOf = Map.groupBy(queues.all(), ({ name }) => name);
  const ids = tenants.list().map(({ id }) => id);
  const [workers, heldByQueue] = await Promise.all([listWorkers(ledger), countHeldByQueue(ledger, ids)]);
  const running = Array.from({ length: ledger.keys.shards }, (_, shard) => listRunning(ledger, shard));
  return await Promise.all(
    [...shardsOf].map(async ([name, shards]) => {
      const counts = await Promise.all(
        shards.map(({ shard, queue }) =>
          countShard(name, queue, { ready: measureReady(ledger, shard, name), running: running[shard] ?? Promise.resolve([]) }),
        ),
      );
      const held = carriesTasks(name) ? (heldByQueue.get(name) ?? 0) : 0;
      return countQueue(name, counts, { now, held, service: serviceOf(workers, name, counts) });
    }),
  );
}

type Service = Pick<QueueCounts, 'workers' | 'slots'>;

/** Chat processes and schedulers, which the registry does not know, take from these: their connections are counted. */
const UNREGISTERED: ReadonlySet<QueueName> = new Set<QueueName>(['replies', 'ticks']);

/** Who takes from a queue. */
function serviceOf(workers: readonly WorkerRecord[], name: QueueName, counts: readonly ShardCounts[]): Service {
  if (UNREGISTERED.has(name)) return { workers: Math.max(...counts.map(({ connections }) => connections)), slots: null };
  // Each worker sends callbacks, whatever else it serves.
  const serving = workers.filter((worker) => takesFrom(worker, name === 'deliveries' ? null : name));
  return { workers: serving.length, slots: carriesTasks(name) ? slotsFor(workers, name) : null };
}

interface QueueFacts {
  now: number;
  /** Tasks without a ticket that wait for a daemon, or for the queue to be resumed. */
  held: number;
  service: Service;
}

function countQueue(name: QueueName, counts: readonly ShardCounts[], { now, held, service }: QueueFacts): QueueCounts {
  const sum = (count: (shard: ShardCounts) => number): number => counts.reduce((total, shard) => total + count(shard), 0);
  const sumOf = (state: (typeof COUNTED)[number]): number => sum((shard) => shard.jobs[state] ?? 0);
  const ready = sum((shard) => shard.ready);
  const tickets = sumOf('waiting') + sumOf('prioritized');
  const oldest = Math.min(...counts.map((shard) => shard.oldestAt));
  return {
    name,
    // Pausing reaches all shards; while it does, what runs still counts as not paused.
    paused: counts.every((shard) => shard.isPaused),
    waiting: tickets + ready + held,
    tickets,
    ready,
    held,
    prioritized: sumOf('prioritized') + ready,
    delayed: sumOf('delayed'),
    active: sum((shard) => shard.active),
    completed: sumOf('completed'),
    failed: sumOf('failed'),
    ...service,
    oldestWaitingAgeMs: Number.isFinite(oldest) ? Math.max(0, now - oldest) : null,
  };
}

interface ShardCounts {
  jobs: Record<string, number>;
  isPaused: boolean;
  /** Processes that wait for its jobs. */
  connections: number;
  ready: number;
  active: number;
  oldestAt: number;
}

interface LedgerReads {
  ready: Promise<ReadyTickets>;
  /** What runs in the shard, in any queue. */
  running: Promise<readonly RunningTask[]>;
}

async function countShard(name: QueueName, queue: TicketQueue, reads: LedgerReads): Promise<ShardCounts> {
  const [jobs, isPaused, connections, oldestAt, ready, held] = await Promise.all([
    queue.getJobCounts(...COUNTED),
    queue.isPaused(),
    // A managed Redis may refuse to list its clients.
    UNREGISTERED.has(name) ? queue.getWorkersCount().catch(() => 0) : 0,
    oldestTicketAt(queue),
    reads.ready,
    carriesTasks(name) ? countActive(queue, reads.running) : null,
  ]);
  const active = held ?? jobs['active'] ?? 0;
  return { jobs, isPaused, connections, ready: ready.count, active, oldestAt: Math.min(oldestAt, ready.oldestAt) };
}

function carriesTasks(name: QueueName): name is TaskQueue {
  return TASK_QUEUES.some((each) => each === name);
}
