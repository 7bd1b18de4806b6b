import type { TaskQueue } from '#shared/config/index.ts';
import { executeTicket, type ExecuteTicketParts } from '#shared/execution/index.ts';
import { outboxEntry } from '#shared/ledger/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import {
  FleetPermits,
  type FleetPermitsOptions,
  type JobSource,
  parseTicketId,
  permitsFor,
  planSlots,
  ReadyTickets,
  slotsOf,
  TicketWorker,
} from '#shared/queue/index.ts';
import { systemClock } from '#shared/time/index.ts';
import type { HeartbeatOptions } from './upkeep/heartbeat.ts';
import type { JobTaker } from './worker-service.ts';

/** Opens the permits under which a worker runs tickets. */
export function openPermits(parts: Parts, worker: string): FleetPermits {
  const { config, keys, redis, log } = parts;
  const policy = planSlots(config.settings, config.env.MUSTER_QUEUES);
  const subscribe: FleetPermitsOptions['subscribe'] = (channels, onMessage) => parts.subscribe('worker-permits', channels, onMessage);
  return new FleetPermits({
    fleet: { redis, keys, settings: config.settings, fleetLimits: () => parts.fleetLimits.current() },
    worker,
    policy,
    subscribe,
    clock: systemClock,
    log,
  });
}

/** What its record says that it serves: its slots are those for tickets. */
export function capacityOf({ config }: Parts): HeartbeatOptions['capacity'] {
  const all = slotsOf(config.settings, config.env.MUSTER_QUEUES);
  const { slots } = planSlots(config.settings, config.env.MUSTER_QUEUES);
  return { queues: [...all].flatMap(([queue, count]) => (count > 0 ? [queue] : [])), slots };
}

interface Taking {
  executor: ExecuteTicketParts;
  permits: FleetPermits;
  source: JobSource;
}

/** Opens a ticket worker for each queue that the process serves and each shard. */
export function openTicketWorkers(parts: Parts, { executor, permits, source }: Taking): JobTaker[] {
  const { config, keys, redis, queues, log } = parts;
  const { slots, weights } = planSlots(config.settings, config.env.MUSTER_QUEUES);
  const shards = Array.from({ length: keys.shards }, (_, shard) => shard);
  const acknowledge = async (shard: number, entry: string): Promise<void> => {
    try {
      await redis.zrem(keys.shard(shard).outbox, entry);
    } catch (error) {
      log.debug({ err: error }, 'an outbox entry stays; its ticket is added twice');
    }
  };
  return shards.flatMap((shard) =>
    [...weights.keys()].map(
      (queue) =>
        new TicketWorker({
          source,
          shard,
          queue,
          slots,
          permits: permitsFor(queue, { pool: permits.pool, tickets: queues.get(shard, queue) }),
          ready: openReady(parts, shard, queue),
          handle: (ticket, how) => executeTicket(executor, ticket, how),
          onReturned: (id, { tenant }) => acknowledge(shard, outboxEntry(tenant, [parseTicketId(id)])),
        }),
    ),
  );
}

/** What free slots take without BullMQ; undefined for a queue whose tickets BullMQ counts for its limiter. */
function openReady({ config, ledger, queues, relay, log }: Parts, shard: number, name: TaskQueue): ReadyTickets | undefined {
  const { dispatch, queues: settings } = config.settings;
  if (!dispatch.direct || settings[name]?.limiter) return undefined;
  return new ReadyTickets({ ledger, shard, name, queue: queues.get(shard, name), relay, log });
}
