import type { TaskQueue } from '../config/index.ts';
import { type DispatchLimit, outboxEntry, type TicketClaim } from '../ledger/index.ts';
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

/** Opens the permits under which a worker of this name runs tickets in its slots. `keepMs`: how long its attempts outlive the process. */
export function openPermits(
  parts: Parts,
  { worker, policy, keepMs }: { worker: string; policy: SlotPolicy; keepMs: number },
): FleetPermits {
  const { config, keys, redis, log } = parts;
  const subscribe: FleetPermitsOptions['subscribe'] = (channels, onMessage) => parts.subscribe('worker-permits', channels, onMessage);
  return new FleetPermits({
    fleet: { redis, keys, settings: config.settings, fleetLimits: () => parts.fleetLimits.current() },
    worker,
    policy,
    keepMs,
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
  return shards.flatMap((shard) => {
    const ready = openReady(parts, { shard, names: [...weights.keys()], claimer });
    return [...weights.keys()].map(
      (queue) =>
        new TicketWorker({
          source,
          shard,
          queue,
          slots,
          permits: permitsFor(queue, { pool: permits.pool, tickets: queues.get(shard, queue) }),
          ready: ready.get(queue),
          handle: (ticket, how, own = queue) => handle(ticket, how, own),
          onReturned: (id, { tenant }) => acknowledge(shard, outboxEntry(tenant, [parseTicketId(id)])),
        }),
    );
  });
}

interface TakingShard {
  shard: number;
  names: readonly TaskQueue[];
  claimer: string | undefined;
}

/**
 * What free slots take without BullMQ; nothing of a queue whose tickets BullMQ counts for its limiter. Where there is one shard and no such
 * queue, the ledger has all that slots of a worker may take, and chooses among the queues.
 */
function openReady(
  { config, ledger, keys, queues, relay, log }: Parts,
  { shard, names, claimer }: TakingShard,
): ReadonlyMap<TaskQueue, ReadyTickets> {
  const { dispatch, queues: settings } = config.settings;
  const direct = dispatch.direct ? names.filter((name) => !settings[name]?.limiter) : [];
  const isPooled = claimer !== undefined && mayPool({ config, keys }, names);
  const pool = new Map<TaskQueue, ReadyTickets>();
  for (const name of direct) {
    // Who runs a remote task is chosen after its ticket is taken.
    const own = { ledger, shard, name, queue: queues.get(shard, name), relay, claimer: name === 'remote' ? undefined : claimer, log };
    pool.set(name, new ReadyTickets(isPooled ? { ...own, pool } : own));
  }
  return pool;
}

/** Whether the ledger has all that the slots of a worker may take. */
function mayPool({ config, keys }: Pick<Parts, 'config' | 'keys'>, names: readonly TaskQueue[]): boolean {
  const { dispatch, queues } = config.settings;
  return dispatch.direct && keys.shards === 1 && names.every((name) => !queues[name]?.limiter);
}

/** What a worker's sweep puts into BullMQ for its idle slots; undefined where BullMQ has to have tickets of each queue for busy ones, too. */
export function idleOf(parts: Parts, { pool }: FleetPermits, { weights }: SlotPolicy): (() => DispatchLimit | null) | undefined {
  return mayPool(parts, [...weights.keys()]) ? () => pool.idle : undefined;
}
