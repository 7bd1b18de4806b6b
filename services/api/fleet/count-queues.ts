import { TASK_QUEUES, type TaskQueue } from '#shared/config/index.ts';
import { listRunning, type RunningTask } from '#shared/ledger/index.ts';
import {
  countActive,
  countByQueue,
  listWorkers,
  type LoadReader,
  oldestTicketAt,
  type QueueName,
  type QueueWaits,
  slotsFor,
  takesFrom,
  type TicketQueue,
  type WorkerRecord,
} from '#shared/queue/index.ts';
import type { QueueCounts, QueuePorts } from './queues.ts';

const COUNTED = ['waiting', 'prioritized', 'delayed', 'active', 'completed', 'failed'] as const;

/** Counts of every queue over all shards, in the order of the queues' names. What waits is what `GET /v1/now` counts, of all tenants. */
export async function countQueues({ queues, ledger }: QueuePorts, loads: LoadReader, now: number): Promise<QueueCounts[]> {
  const shardsOf = Map.groupBy(queues.all(), ({ name }) => name);
  const [workers, load] = await Promise.all([listWorkers(ledger), loads.read(null)]);
  const waits = countByQueue(load);
  const running = Array.from({ length: ledger.keys.shards }, (_, shard) => listRunning(ledger, shard));
  return await Promise.all(
    [...shardsOf].map(async ([name, shards]) => {
      const counts = await Promise.all(shards.map(({ shard, queue }) => countShard(name, queue, running[shard] ?? Promise.resolve([]))));
      const jobs = countJobs(counts);
      const waiting = (carriesTasks(name) ? waits.get(name) : undefined) ?? waitsOfJobs(counts, jobs, now);
      return viewQueue(name, { waiting, jobs, counts, service: serviceOf(workers, name, counts) });
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

type JobCounts = Record<(typeof COUNTED)[number], number>;

function countJobs(counts: readonly ShardCounts[]): JobCounts {
  const all: JobCounts = { waiting: 0, prioritized: 0, delayed: 0, active: 0, completed: 0, failed: 0 };
  for (const { jobs } of counts) for (const state of COUNTED) all[state] += jobs[state] ?? 0;
  return all;
}

/** In a queue that carries no tasks, its jobs wait. */
function waitsOfJobs(counts: readonly ShardCounts[], { waiting, prioritized }: JobCounts, now: number): QueueWaits {
  const oldest = Math.min(...counts.map(({ oldestAt }) => oldestAt));
  const forSlot = waiting + prioritized;
  const oldestMs = Number.isFinite(oldest) ? Math.max(0, now - oldest) : null;
  return { waiting: forSlot, forSlot, held: 0, forDaemon: 0, parked: 0, oldestMs };
}

interface QueueFacts {
  waiting: QueueWaits;
  jobs: JobCounts;
  counts: readonly ShardCounts[];
  service: Service;
}

function viewQueue(name: QueueName, { waiting: { oldestMs, ...waits }, jobs, counts, service }: QueueFacts): QueueCounts {
  // A job may be left behind by a task that waits no more.
  const tickets = Math.min(waits.forSlot, jobs.waiting + jobs.prioritized);
  return {
    name,
    // Pausing reaches all shards; while it does, what runs still counts as not paused.
    paused: counts.every((shard) => shard.isPaused),
    carriesTasks: carriesTasks(name),
    ...waits,
    tickets,
    ready: waits.forSlot - tickets,
    prioritized: carriesTasks(name) ? waits.forSlot : jobs.prioritized,
    delayed: jobs.delayed,
    active: counts.reduce((total, { active }) => total + active, 0),
    completed: jobs.completed,
    failed: jobs.failed,
    ...service,
    oldestWaitingAgeMs: oldestMs,
  };
}

interface ShardCounts {
  jobs: Record<string, number>;
  isPaused: boolean;
  /** Processes that wait for its jobs. */
  connections: number;
  active: number;
  /** Of a queue that carries no tasks. */
  oldestAt: number;
}

/** `running`: what runs in the shard, in any queue. */
async function countShard(name: QueueName, queue: TicketQueue, running: Promise<readonly RunningTask[]>): Promise<ShardCounts> {
  const [jobs, isPaused, connections, oldestAt, held] = await Promise.all([
    queue.getJobCounts(...COUNTED),
    queue.isPaused(),
    // A managed Redis may refuse to list its clients.
    UNREGISTERED.has(name) ? queue.getWorkersCount().catch(() => 0) : 0,
    carriesTasks(name) ? Number.POSITIVE_INFINITY : oldestTicketAt(queue),
    carriesTasks(name) ? countActive(queue, running) : null,
  ]);
  return { jobs, isPaused, connections, active: held ?? jobs['active'] ?? 0, oldestAt };
}

function carriesTasks(name: QueueName): name is TaskQueue {
  return TASK_QUEUES.some((each) => each === name);
}
