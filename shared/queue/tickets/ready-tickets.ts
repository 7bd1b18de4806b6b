import { loadOf } from '../accept/log-accepted.ts';
import type { TaskQueue } from '../../config/index.ts';
import {
  type DispatchLimit,
  dispatchReady,
  type FreeSlot,
  type IssuedTicket,
  type Ledger,
  type SharedSlots,
  takeReady,
  type TicketClaim,
} from '../../ledger/index.ts';
import type { Log } from '../../log/index.ts';
import type { TicketQueue } from '../queues.ts';
import type { TicketRelay } from './ticket-relay.ts';
import { ticketJob } from './ticket.ts';

export interface ReadyTicketsOptions {
  ledger: Ledger;
  shard: number;
  name: TaskQueue;
  queue: TicketQueue;
  relay: Pick<TicketRelay, 'add'>;
  /** The worker that claims the tasks of tickets which its slots take; without it only the tickets are taken. */
  claimer?: string | undefined;
  /** Where the ledger chooses among several queues: all that the worker takes from, this one too. */
  pool?: ReadonlyMap<TaskQueue, ReadyTickets>;
  log: Log;
}

/** A ticket that a slot took, and its task where that was claimed with it. */
export interface TakenTicket {
  ticket: IssuedTicket;
  claimed?: TicketClaim['claimed'];
}

/** The slot that takes a ticket. */
interface TakingSlot {
  /** Whether the ticket alone is taken, and its task claimed later. */
  isTicketOnly: boolean;
  /** The worker's slots, where the ledger chooses among their queues. */
  slots: SharedSlots | undefined;
  /** The lease that the slot's last attempt had. */
  ended: string | undefined;
}

/**
 * ReadyTickets is responsible for the tickets of one queue and shard that free slots take from the ledger, so that work which waits
 * need not go through BullMQ.
 */
export class ReadyTickets {
  readonly #options: ReadyTicketsOptions;
  #isDispatching = false;

  constructor(options: ReadyTicketsOptions) {
    this.#options = options;
  }

  /** For claims of tickets from BullMQ: they give way to better ones that are ready here. */
  get order(): NonNullable<TicketClaim['order']> {
    const { name, queue } = this.#options;
    return { queue: name, pauses: queue.toKey('meta') };
  }

  /** Where tickets are taken, and whether their tasks are claimed with them. */
  get source(): FreeSlot['queues'][number] {
    return { queue: this.#options.name, pauses: this.#options.queue.toKey('meta'), isClaimed: this.#options.claimer !== undefined };
  }

  /** Whether the ledger chooses among all queues of the worker. */
  get isPooled(): boolean {
    return this.#options.pool !== undefined;
  }

  /** Of any of the queues. */
  get #claimer(): string | undefined {
    const all = [...(this.#options.pool?.values() ?? [this])];
    return all.map((each) => each.#options.claimer).find((claimer) => claimer !== undefined);
  }

  /** Those of a queue that the worker takes from. */
  of(queue: TaskQueue): ReadyTickets {
    return this.#options.pool?.get(queue) ?? this;
  }

  /** The ticket whose turn it is; the queue of one that goes first and is in BullMQ, null when none is ready. Never rejects. */
  async take({ isTicketOnly, slots, ended }: TakingSlot): Promise<TakenTicket | TaskQueue | null> {
    const { ledger, shard, name, pool, log } = this.#options;
    const queues = slots && pool ? [...pool.values()] : [this];
    try {
      const answer = await takeReady(ledger, {
        shard,
        queues: queues.map((each) => each.source),
        pool: pool ? slots : undefined,
        worker: isTicketOnly ? undefined : this.#claimer,
        ended,
      });
      if (answer.kind === 'outranked') return answer.by;
      if (answer.kind === 'none') return null;
      const { task, tenant, priority, queue } = answer.ticket;
      log.info(
        { event: 'task.queued', task, tenant, queue, priority, ...loadOf({ ledger, log }, tenant) },
        'a free slot takes a ready task',
      );
      return answer;
    } catch (error) {
      log.debug({ err: error, queue: name, shard }, 'ready tickets cannot be taken now');
      return null;
    }
  }

  /** How many tickets of the shard are ready; none while that cannot be read. */
  async count(): Promise<number> {
    const { ledger, shard, log } = this.#options;
    try {
      return await ledger.redis.zcard(ledger.keys.shard(shard).ready);
    } catch (error) {
      log.debug({ err: error, shard }, 'ready tickets cannot be counted now; the next poll will');
      return 0;
    }
  }

  /** Idle slots wait for BullMQ: what is ready for them goes there. Never throws. */
  dispatch(idle: DispatchLimit): void {
    const { ledger, shard, log } = this.#options;
    if (this.#isDispatching) return;
    this.#isDispatching = true;
    dispatchReady(ledger, shard, idle)
      .catch((error: unknown) => log.debug({ err: error, shard }, 'windows cannot be filled now; the next poll or sweep will'))
      .finally(() => {
        this.#isDispatching = false;
      });
  }

  /** The task goes on under its ticket, for any worker. */
  putBack(ticket: IssuedTicket): void {
    this.#options.relay.add(ticket);
  }

  /** Lists the ticket as failed on the board: BullMQ gets it only for that. Never rejects. */
  async listFailed(ticket: IssuedTicket, message: string): Promise<void> {
    const { queue, log } = this.#options;
    const { name, data, opts } = ticketJob(ticket);
    await queue
      .add(name, { ...data, failed: message }, opts)
      .catch((error: unknown) => log.debug({ err: error, task: ticket.task }, 'the board does not list a failed ticket'));
  }
}
