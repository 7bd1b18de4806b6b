import type { TaskQueue } from '../config/index.ts';
import { outboxEntry, type TicketClaim } from '../ledger/index.ts';
import {
  FleetPermits,
  type FleetPermitsOptions,
  type JobSource,
  parseTicketId,
  permitsFor,
  ReadyTickets,
  type SlotPolicy,
  type TicketData,
  type TicketResult,
  TicketWorker,
} from '../queue/index.ts';
import { systemClock } from '../time/index.ts';
import type { Parts } from './open-parts.ts';

/** Something that takes jobs from BullMQ. */
export interface JobTaker {
  start(): void;
  /** Takes no more jobs; those it has continue. */
  quiet(): Promise<void>;
  stop(graceMs: number): Promise<void>;
  /** Why it takes no jobs, in words; null while it takes them. */
  readonly problem: string | null;
}

/** Opens the permits under which a worker of this name runs tickets in its slots. */
export function openPermits(parts: Parts, worker: string, policy: SlotPolicy): FleetPermits {
  const { config, keys, redis, log } = parts;
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

/** Takes a ticket to its end. */
export type TicketHandler = (ticket: TicketData, how: TicketClaim, queue: TaskQueue) => Promise<TicketResult>;

interface Taking {
  /** The slots, and the queues that share them. */
  policy: SlotPolicy;
  handle: TicketHandler;
  /** The name under which the process claims whatever task its slots get; without it `handle` decides who claims a task. */
  claimer?: string;
  permits: FleetPermits;
  source: JobSource;
}

/** Opens a ticket worker for each queue that the process serves and each shard. */
export function openTicketWorkers(parts: Parts, { policy, handle, claimer, permits, source }: Taking): JobTaker[] {
  const { keys, redis, queues, log } = parts;
  const { slots, weights } = policy;
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
          // Who runs a task of that queue is chosen after its ticket is taken.
          ready: openReady(parts, { shard, name: queue, claimer: queue === 'remote' ? undefined : claimer }),
          handle: (ticket, how) => handle(ticket, how, queue),
          onReturned: (id, { tenant }) => acknowledge(shard, outboxEntry(tenant, [parseTicketId(id)])),
        }),
    ),
  );
}

/** What free slots take without BullMQ; undefined for a queue whose tickets BullMQ counts for its limiter. */
function openReady(
  { config, ledger, queues, relay, log }: Parts,
  { shard, name, claimer }: { shard: number; name: TaskQueue; claimer: string | undefined },
): ReadyTickets | undefined {
  const { dispatch, queues: settings } = config.settings;
  if (!dispatch.direct || settings[name]?.limiter) return undefined;
  return new ReadyTickets({ ledger, shard, name, queue: queues.get(shard, name), relay, claimer, log });
}
