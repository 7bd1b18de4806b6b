import { bullPriority, type QueueName, type Queues, type TicketQueue } from '#shared/queue/index.ts';

export interface QueueCounts {
  name: QueueName;
  paused: boolean;
  waiting: number;
  prioritized: number;
  delayed: number;
  active: number;
  completed: number;
  failed: number;
  workers: number;
  /** How long the ticket has waited that waited longest; null when none waits. */
  oldestWaitingAgeMs: number | null;
}

const COUNTED = ['waiting', 'prioritized', 'delayed', 'active', 'completed', 'failed'] as const;
const LOWEST_PRIORITY = bullPriority(1);
const PRIORITIES = Array.from({ length: LOWEST_PRIORITY }, (_, position) => position + 1);

/** What is in every queue, over all shards; in the order of the queues' names. */
export async function countQueues(queues: Queues, now: number): Promise<QueueCounts[]> {
  const byName = Map.groupBy(queues.all(), ({ name }) => name);
  return await Promise.all(
    [...byName].map(([name, shards]) =>
      countQueue(
        name,
        shards.map(({ queue }) => queue),
        now,
      ),
    ),
  );
}

async function countQueue(name: QueueName, shards: TicketQueue[], now: number): Promise<QueueCounts> {
  const looks = await Promise.all(shards.map((queue) => lookAt(queue)));
  const sum = (count: (look: (typeof looks)[number]) => number): number => looks.reduce((total, look) => total + count(look), 0);
  const sumOf = (state: (typeof COUNTED)[number]): number => sum((look) => look.counts[state] ?? 0);
  const oldest = Math.min(...looks.map((look) => look.oldestAt));
  return {
    name,
    // Pausing reaches all shards; while it does, what runs still counts as not paused.
    paused: looks.every((look) => look.isPaused),
    waiting: sumOf('waiting'),
    prioritized: sumOf('prioritized'),
    delayed: sumOf('delayed'),
    active: sumOf('active'),
    completed: sumOf('completed'),
    failed: sumOf('failed'),
    workers: sum((look) => look.workers),
    oldestWaitingAgeMs: Number.isFinite(oldest) ? Math.max(0, now - oldest) : null,
  };
}

interface Look {
  counts: Record<string, number>;
  isPaused: boolean;
  workers: number;
  oldestAt: number;
}

async function lookAt(queue: TicketQueue): Promise<Look> {
  const [counts, isPaused, workers, oldestAt] = await Promise.all([
    queue.getJobCounts(...COUNTED),
    queue.isPaused(),
    // A managed Redis may refuse to list its clients.
    queue.getWorkersCount().catch(() => 0),
    oldestWaiting(queue),
  ]);
  return { counts, isPaused, workers, oldestAt };
}

/** Within one priority the first is the oldest, so one look per priority that has tickets finds the oldest of all. */
async function oldestWaiting(queue: TicketQueue): Promise<number> {
  const byPriority = await queue.getCountsPerPriority(PRIORITIES);
  const firsts: number[] = [];
  let before = 0;
  for (const priority of PRIORITIES) {
    const count = byPriority[priority] ?? 0;
    if (count > 0) firsts.push(before);
    before += count;
  }
  const looks = [
    queue.getJobs(['waiting'], 0, 0, true),
    ...firsts.map((position) => queue.getJobs(['prioritized'], position, position, true)),
  ];
  const jobs = (await Promise.all(looks)).flat();
  return Math.min(...jobs.map((job) => job?.timestamp ?? Number.POSITIVE_INFINITY));
}
