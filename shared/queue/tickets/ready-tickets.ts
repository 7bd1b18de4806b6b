import type { TaskQueue } from '../../config/index.ts';
import { dispatchReady, type IssuedTicket, type Ledger, takeReady, type TicketClaim } from '../../ledger/index.ts';
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
  /** The lease that the slot's last attempt had. */
  ended: string | undefined;
}

/**
 * ReadyTickets is responsible for the tickets of one queue and shard that free slots take from the ledger, so that work which waits
 * need not go through BullMQ.
 */
export class ReadyTickets {
  readonly #options: ReadyTicketsOptions;
  #isFilling = false;

  constructor(options: ReadyTicketsOptions) {
    this.#options = options;
  }

  /** For claims of tickets from BullMQ: they give way to better ones that are ready here. */
  get order(): NonNullable<TicketClaim['order']> {
    const { name, queue } = this.#options;
    return { queue: name, pauses: queue.toKey('meta') };
  }

  /** The ticket whose turn it is; `outranked` when one that goes first is in BullMQ, null when none is ready. Never rejects. */
  async take({ isTicketOnly, ended }: TakingSlot): Promise<TakenTicket | 'outranked' | null> {
    const { ledger, shard, name, queue, log, claimer } = this.#options;
    try {
      const answer = await takeReady(ledger, {
        shard,
        queue: name,
        pauses: queue.toKey('meta'),
        worker: isTicketOnly ? undefined : claimer,
        ended,
      });
      if (answer.kind !== 'taken') return answer.kind === 'outranked' ? 'outranked' : null;
      const { task, tenant, priority } = answer.ticket;
      log.info({ event: 'task.queued', task, tenant, queue: name, priority }, 'a free slot takes a ready task');
      return answer;
    } catch (error) {
      log.debug({ err: error, queue: name, shard }, 'ready tickets cannot be taken now');
      return null;
    }
  }

  /** So many slots are idle and wait for BullMQ: what is ready for them goes there. Never throws. */
  fill(idle: number): void {
    const { ledger, shard, log } = this.#options;
    if (this.#isFilling) return;
    this.#isFilling = true;
    dispatchReady(ledger, shard, Math.max(1, idle))
      .catch((error: unknown) => log.debug({ err: error, shard }, 'windows cannot be filled now; the next poll or sweep will'))
      .finally(() => {
        this.#isFilling = false;
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
