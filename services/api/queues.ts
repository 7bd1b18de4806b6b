import { z } from 'zod';
import { MusterError } from '#shared/errors/index.ts';
import { route, type Route } from '#shared/http/index.ts';
import { type Ledger, measureReady, type ReadyTickets } from '#shared/ledger/index.ts';
import { bullPriority, isQueueName, QUEUE_NAMES, type QueueName, type Queues, type TicketQueue } from '#shared/queue/index.ts';
import { assertFleetOwner, FLEET_OWNERS } from './fleet/fleet-owner.ts';
import { onePageSchema } from './lists.ts';

export interface QueuePorts {
  readonly queues: Queues;
  readonly ledger: Ledger;
}

/** `/v1/queues`: what is in them, and pausing them. */
export function queueRoutes(ports: QueuePorts): Route[] {
  return [
    getQueues(ports),
    switchQueue(ports, { action: 'pause', operationId: 'pauseQueue', summary: 'Start no more work of a queue' }),
    switchQueue(ports, { action: 'resume', operationId: 'resumeQueue', summary: 'Resume a paused queue' }),
  ];
}

const queueSchema = z
  .strictObject({
    name: z.enum(QUEUE_NAMES).meta({ description: 'The queue.' }),
    paused: z.boolean().meta({ description: 'Whether it starts nothing; what runs goes on.' }),
    waiting: z.int().meta({ description: 'Tickets without a priority that wait.' }),
    prioritized: z.int().meta({ description: 'Tickets that wait by priority, ready ones included.' }),
    ready: z.int().meta({ description: 'Tickets that wait for the turn of their tenant.' }),
    delayed: z.int().meta({ description: 'Tickets that wait for their time.' }),
    active: z.int().meta({ description: 'Tickets that a worker holds.' }),
    completed: z.int().meta({ description: 'Completed tickets that are kept.' }),
    failed: z.int().meta({ description: 'Failed tickets that are kept.' }),
    workers: z.int().meta({ description: 'Connections that take from it.' }),
    oldestWaitingAgeMs: z.int().nullable().meta({ description: 'How long the oldest waiting ticket has waited; null when none waits.' }),
  })
  .meta({
    id: 'Queue',
    description: 'Counts of tickets; `completed` and `failed` count kept tickets.',
    examples: [
      {
        name: 'tasks',
        paused: false,
        waiting: 0,
        prioritized: 12,
        ready: 3,
        delayed: 0,
        active: 4,
        completed: 100,
        failed: 1,
        workers: 2,
        oldestWaitingAgeMs: 1200,
      },
    ],
  });
type QueueCounts = z.infer<typeof queueSchema>;

const queueListSchema = z
  .strictObject({
    items: z.array(queueSchema).meta({ description: 'In the order of the names of the queues.' }),
    nextCursor: onePageSchema,
  })
  .meta({ id: 'QueueList' });

/** `GET /v1/queues`. */
function getQueues(ports: QueuePorts): Route {
  return route({
    method: 'get',
    path: '/v1/queues',
    operationId: 'listQueues',
    summary: 'What is in the queues',
    description: FLEET_OWNERS,
    scope: 'read',
    responses: { 200: queueListSchema },
    handle: async (_input, call) => {
      assertFleetOwner(call);
      return { status: 200, body: { items: await countQueues(ports, Date.now()), nextCursor: null } };
    },
  });
}

const switchedSchema = z
  .strictObject({
    name: z.enum(QUEUE_NAMES).meta({ description: 'The queue.' }),
    paused: z.boolean().meta({ description: 'Whether it starts nothing now.' }),
  })
  .meta({ id: 'QueueSwitched' });

/** `POST /v1/queues/:name/pause`: none of its tickets starts until it is resumed; what runs goes on. `/resume` undoes it. */
function switchQueue(
  { queues }: QueuePorts,
  { action, ...names }: { action: 'pause' | 'resume'; operationId: string; summary: string },
): Route {
  return route({
    ...names,
    method: 'post',
    path: `/v1/queues/:name/${action}`,
    description: FLEET_OWNERS,
    scope: 'operate',
    request: { params: z.object({ name: z.string().meta({ description: 'The queue.' }) }) },
    responses: { 200: switchedSchema },
    handle: async ({ params: { name } }, call) => {
      assertFleetOwner(call);
      if (!isQueueName(name))
        throw new MusterError('queue.not-found', 'There is no such queue', { details: { queue: name.slice(0, 100) } });
      const shards = queues.all().filter((each) => each.name === name);
      await Promise.all(shards.map(({ queue }) => queue[action]()));
      call.log.info({ event: `queue.${action}d`, queue: name, by: call.key?.id }, `The queue ${name} was ${action}d`);
      return { status: 200, body: { name, paused: action === 'pause' } };
    },
  });
}

const COUNTED = ['waiting', 'prioritized', 'delayed', 'active', 'completed', 'failed'] as const;
const LOWEST_PRIORITY = bullPriority(1);
const PRIORITIES = Array.from({ length: LOWEST_PRIORITY }, (_, position) => position + 1);

/** Counts of every queue over all shards, in the order of the queues' names. */
async function countQueues({ queues, ledger }: QueuePorts, now: number): Promise<QueueCounts[]> {
  const shardsOf = Map.groupBy(queues.all(), ({ name }) => name);
  return await Promise.all(
    [...shardsOf].map(([name, shards]) =>
      countQueue(
        name,
        shards.map(({ shard, queue }) => countShard(queue, () => measureReady(ledger, shard, name))),
        now,
      ),
    ),
  );
}

async function countQueue(name: QueueName, shards: Promise<ShardCounts>[], now: number): Promise<QueueCounts> {
  const counts = await Promise.all(shards);
  const sum = (count: (shard: ShardCounts) => number): number => counts.reduce((total, shard) => total + count(shard), 0);
  const sumOf = (state: (typeof COUNTED)[number]): number => sum((shard) => shard.jobs[state] ?? 0);
  const oldest = Math.min(...counts.map((shard) => shard.oldestAt));
  return {
    name,
    // Pausing reaches all shards; while it does, what runs still counts as not paused.
    paused: counts.every((shard) => shard.isPaused),
    waiting: sumOf('waiting'),
    prioritized: sumOf('prioritized') + sum((shard) => shard.ready),
    ready: sum((shard) => shard.ready),
    delayed: sumOf('delayed'),
    active: sumOf('active'),
    completed: sumOf('completed'),
    failed: sumOf('failed'),
    workers: sum((shard) => shard.workers),
    oldestWaitingAgeMs: Number.isFinite(oldest) ? Math.max(0, now - oldest) : null,
  };
}

interface ShardCounts {
  jobs: Record<string, number>;
  isPaused: boolean;
  workers: number;
  ready: number;
  oldestAt: number;
}

async function countShard(queue: TicketQueue, readReady: () => Promise<ReadyTickets>): Promise<ShardCounts> {
  const [jobs, isPaused, workers, oldestAt, ready] = await Promise.all([
    queue.getJobCounts(...COUNTED),
    queue.isPaused(),
    // A managed Redis may refuse to list its clients.
    queue.getWorkersCount().catch(() => 0),
    oldestWaiting(queue),
    readReady(),
  ]);
  return { jobs, isPaused, workers, ready: ready.count, oldestAt: Math.min(oldestAt, ready.oldestAt) };
}

/** Within one priority the first is the oldest, so one read per priority that has tickets finds the oldest of all. */
async function oldestWaiting(queue: TicketQueue): Promise<number> {
  const byPriority = await queue.getCountsPerPriority(PRIORITIES);
  const firsts: number[] = [];
  let before = 0;
  for (const priority of PRIORITIES) {
    const count = byPriority[priority] ?? 0;
    if (count > 0) firsts.push(before);
    before += count;
  }
  const reads = [
    queue.getJobs(['waiting'], 0, 0, true),
    ...firsts.map((position) => queue.getJobs(['prioritized'], position, position, true)),
  ];
  const jobs = (await Promise.all(reads)).flat();
  return Math.min(...jobs.map((job) => job?.timestamp ?? Number.POSITIVE_INFINITY));
}
