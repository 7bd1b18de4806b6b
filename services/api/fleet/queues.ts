import { z } from 'zod';
import { MusterError } from '#shared/errors/index.ts';
import type { Route } from '#shared/http/index.ts';
import { type Ledger, tenantsWithTasks } from '#shared/ledger/index.ts';
import { applyClosedQueues, isQueueName, type LoadReader, QUEUE_NAMES, type Queues } from '#shared/queue/index.ts';
import type { TenantDirectory } from '#shared/tenants/index.ts';
import { countQueues } from './count-queues.ts';
import { fleetRoute } from './fleet-owner.ts';
import { answerList, onePageOf } from '../lists.ts';

export interface QueuePorts {
  readonly queues: Queues;
  readonly ledger: Ledger;
  readonly tenants: Pick<TenantDirectory, 'list'>;
}

/** `/v1/queues`: what is in them, and pausing them. */
export function queueRoutes(ports: QueuePorts, loads: LoadReader): Route[] {
  return [
    getQueues(ports, loads),
    switchQueue(ports, { action: 'pause', operationId: 'pauseQueue', summary: 'Start no more work of a queue' }),
    switchQueue(ports, { action: 'resume', operationId: 'resumeQueue', summary: 'Resume a paused queue' }),
  ];
}

const queueSchema = z
  .strictObject({
    name: z.enum(QUEUE_NAMES).meta({ description: 'The queue.' }),
    paused: z.boolean().meta({ description: 'Whether it starts nothing; what runs goes on.' }),
    carriesTasks: z
      .boolean()
      .meta({ description: "Whether tasks are in it; else jobs of the fleet's own, which `GET /v1/now` does not count." }),
    waiting: z.int().meta({
      description:
        'All that wait: `forSlot`, `held` and `parked`. The tenants together have as many in `GET /v1/now` and `queue_depth_total`.',
    }),
    forSlot: z.int().meta({ description: 'Of these, the ones that wait only for a free slot: `tickets` and `ready`.' }),
    held: z.int().meta({
      description: 'Of these, the ones that something holds: no daemon, a closed queue, a budget, a provider, an agent. `why` says what.',
    }),
    forDaemon: z.int().meta({ description: 'Of the held ones, those for which no daemon that fits is there.' }),
    parked: z.int().meta({ description: 'Of these, the ones that wait for others or for their time: a lane, a cap, a retry.' }),
    tickets: z.int().meta({ description: 'Of those for a slot, the ones with a job in BullMQ.' }),
    ready: z.int().meta({ description: 'Of those for a slot, the ones that wait in the ledger alone.' }),
    prioritized: z.int().meta({ description: 'Of these, the ones that wait by priority.' }),
    delayed: z.int().meta({ description: 'Tickets that wait for their time.' }),
    active: z.int().meta({ description: 'What workers hold: tasks that slots claimed, with or without a job. No task counts twice.' }),
    completed: z.int().meta({ description: 'Completed tickets from BullMQ that are kept; a task that a free slot took has none.' }),
    failed: z.int().meta({ description: 'Failed tickets that are kept.' }),
    workers: z.int().meta({ description: 'Live workers that take from it, by `GET /v1/fleet`.' }),
    slots: z.int().nullable().meta({ description: 'Slots of these workers, which all their queues share; null when unknown.' }),
    oldestWaitingAgeMs: z
      .int()
      .nullable()
      .meta({ description: 'How long the oldest has waited that is for a slot or held; null without one.' }),
  })
  .meta({
    id: 'Queue',
    description: 'Counts of what waits and runs; `completed` and `failed` count kept tickets.',
    examples: [
      {
        name: 'tasks',
        paused: false,
        carriesTasks: true,
        waiting: 20,
        forSlot: 15,
        held: 1,
        forDaemon: 0,
        parked: 4,
        tickets: 12,
        ready: 3,
        prioritized: 15,
        delayed: 0,
        active: 4,
        completed: 100,
        failed: 1,
        workers: 2,
        slots: 56,
        oldestWaitingAgeMs: 1200,
      },
    ],
  });
export type QueueCounts = z.infer<typeof queueSchema>;

const queueListSchema = onePageOf(queueSchema, 'In the order of the names of the queues.').meta({ id: 'QueueList' });

/** `GET /v1/queues`. */
function getQueues(ports: QueuePorts, loads: LoadReader): Route {
  return fleetRoute({
    method: 'get',
    path: '/v1/queues',
    operationId: 'listQueues',
    summary: 'What is in the queues',
    scope: 'read',
    responses: { 200: queueListSchema },
    handle: async () => answerList(await countQueues(ports, loads, Date.now())),
  });
}

const switchedSchema = z
  .strictObject({
    name: z.enum(QUEUE_NAMES).meta({ description: 'The queue.' }),
    paused: z.boolean().meta({ description: 'Whether it starts nothing now.' }),
  })
  .meta({ id: 'QueueSwitched' });

/**
 * `POST /v1/queues/:name/pause`: none of its tickets starts until it is resumed; what runs goes on, and tasks that others could not start for
 * give their places up. `/resume` undoes it.
 */
function switchQueue(
  { queues, ledger, tenants }: QueuePorts,
  { action, ...names }: { action: 'pause' | 'resume'; operationId: string; summary: string },
): Route {
  return fleetRoute({
    ...names,
    method: 'post',
    path: `/v1/queues/:name/${action}`,
    description:
      action === 'pause'
        ? 'What runs goes on. Tasks that wait in it leave their places under caps and in shared lanes to others, and keep that of their session.'
        : 'Its tasks go on in their order.',
    scope: 'operate',
    errors: ['queue.not-found'],
    request: { params: z.object({ name: z.string().meta({ description: 'The queue.' }) }) },
    responses: { 200: switchedSchema },
    handle: async ({ params: { name } }, call) => {
      if (!isQueueName(name))
        throw new MusterError('queue.not-found', 'There is no such queue', { details: { queue: name.slice(0, 100) } });
      const shards = queues.all().filter((each) => each.name === name);
      await Promise.all(shards.map(({ queue }) => queue[action]()));
      call.log.info({ event: `queue.${action}d`, queue: name, by: call.key?.id }, `The queue ${name} was ${action}d`);
      await applyClosedQueues({ queues, ledger }, [...(await tenantsWithTasks(ledger, tenants.list(), 'live')).keys()]);
      return { status: 200, body: { name, paused: action === 'pause' } };
    },
  });
}
