import type { Job } from 'bullmq';
import type { TaskQueue } from '../../config/index.ts';
import type { WaitingTicket } from './choose-next.ts';
import { ticketOf } from './next-ticket.ts';
import type { Permit } from './permit-line.ts';
import type { TicketPermits } from './ticket-permits.ts';

/** HeldPermits is responsible for the permits of one taker of tickets, by the token that BullMQ claims a ticket with. */
export class HeldPermits {
  /** Where they come from. */
  readonly source: TicketPermits;
  readonly #permits = new Map<string, Permit>();
  /** Tokens whose permit is kept for the next ticket. */
  readonly #kept = new Set<string>();

  constructor(source: TicketPermits) {
    this.source = source;
  }

  /** Whether there was a permit for the token at once. */
  tryAcquire(token: string): boolean {
    const permit = this.source.pool.tryAcquire(this.source);
    if (permit) this.add(token, permit);
    return permit !== null;
  }

  add(token: string, permit: Permit): void {
    this.#permits.set(token, permit);
  }

  isKept(token: string): boolean {
    return this.#kept.has(token);
  }

  /** Whether other takers wait for what this one uses. */
  get isShared(): boolean {
    return this.source.pool.isShared(this.source.queue);
  }

  /** The queue of the last ticket that the token's permit was used for. */
  queueOf(token: string): TaskQueue | undefined {
    return this.#permits.get(token)?.queue;
  }

  /** The permit is used for a ticket that BullMQ claimed. */
  noteJob(token: string, job: Pick<Job, 'priority' | 'timestamp'>): void {
    this.noteTicket(token, ticketOf(this.source.queue, job));
  }

  noteTicket(token: string, ticket: WaitingTicket): void {
    this.#kept.delete(token);
    const permit = this.#permits.get(token);
    if (permit) this.source.pool.noteTicket(permit, ticket);
  }

  /** Whether the next ticket of the queue may be claimed with this permit, which is kept then. */
  mayKeep(token: string): boolean {
    const permit = this.#permits.get(token);
    return permit !== undefined && this.source.pool.mayKeep(permit) && this.#keep(token);
  }

  /** Whether the ledger may choose the next ticket for this permit, which is kept then. */
  mayHandOver(token: string): boolean {
    const permit = this.#permits.get(token);
    return permit !== undefined && this.source.pool.mayHandOver(permit) && this.#keep(token);
  }

  #keep(token: string): true {
    this.#kept.add(token);
    return true;
  }

  release(token: string): void {
    const permit = this.#permits.get(token);
    this.#kept.delete(token);
    this.#permits.delete(token);
    if (permit) this.source.pool.release(permit);
  }
}
