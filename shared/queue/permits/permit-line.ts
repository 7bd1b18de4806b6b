import type { TaskQueue } from '../../config/index.ts';
import type { Band, WaitingTicket } from './choose-next.ts';
import { kindOf, type PermitKind } from './lease-permits.ts';
import { unknownTicket } from './next-ticket.ts';

/** The right to run one ticket in a slot of the worker. It is void once the worker lost its lease on all of them. */
export interface Permit {
  /** Of its ticket. All that one permit serves, one after the other, are of one kind. */
  queue: TaskQueue;
  /** Of its request. */
  readonly taker: string;
  readonly lease: number;
  /** Whether the ledger chooses its next ticket now. */
  isHandingOver: boolean;
  /** Of its ticket; a guess until that is known. */
  band: Band;
  /** The ticket that it is used for; null while one is fetched. */
  ticket: WaitingTicket | null;
}

/** How a wait for a permit ends: with a permit, because the queue has no ticket, or because the wait was ended. */
export type PermitResult = Permit | 'empty' | 'closed';

/** A taker of tickets that needs a slot and a permit. */
export interface PermitRequest {
  queue: TaskQueue;
  /** Names the queue and its shard. */
  taker: string;
  /** Reads the next ticket of its queue; null when there is none. */
  readNext(): Promise<WaitingTicket | null>;
  /** Lets another worker be woken for the ticket, since this one has no free slot. Never rejects. */
  wakeAnother(): Promise<void>;
  /** Ends the wait. */
  signal: AbortSignal;
}

export interface Waiter {
  readonly request: PermitRequest;
  /** The next ticket of its queue, as it was read last. */
  next: WaitingTicket | null;
  /** When it was read, monotonic ms. */
  readAt: number;
  /** What was read before is no longer the next one; monotonic ms. */
  validFrom: number;
  /** Another worker was woken for it. */
  isOffered: boolean;
  resolve(result: PermitResult): void;
}

/** What was read of the next tickets so long ago, in ms, is old. */
const FRESH_MS = 50;

/** PermitLine is responsible for the takers of one worker that wait for a slot and a permit. */
export class PermitLine {
  #waiters: Waiter[] = [];
  /** What was read of the next tickets before is to be read again; monotonic ms. */
  #validFrom = 0;

  /** Takers that wait for a permit of this kind, in the order in which they came. */
  of(kind: PermitKind): Waiter[] {
    return this.#waiters.filter(({ request }) => kindOf(request.queue) === kind);
  }

  all(): Waiter[] {
    return this.#waiters.slice();
  }

  get length(): number {
    return this.#waiters.length;
  }

  /** Whether a taker waits that may come before a ticket of this kind. */
  isWaitedFor(kind: PermitKind): boolean {
    return kind === 'critical' ? this.of('critical').length > 0 : this.length > 0;
  }

  /** Waits until the line gives the request an answer or its signal aborts. */
  async wait(request: PermitRequest): Promise<PermitResult> {
    return await new Promise<PermitResult>((resolve) => {
      const end = (): void => this.#answer(waiter, 'closed');
      const waiter: Waiter = {
        request,
        next: null,
        readAt: 0,
        validFrom: 0,
        isOffered: false,
        resolve: (result) => {
          request.signal.removeEventListener('abort', end);
          resolve(result);
        },
      };
      request.signal.addEventListener('abort', end, { once: true });
      this.#waiters.push(waiter);
    });
  }

  /** Gives a waiter its permit; takes none when its wait has ended meanwhile. */
  grant(waiter: Waiter, take: (waiter: Waiter) => Permit): void {
    if (this.#withdraw(waiter)) waiter.resolve(take(waiter));
  }

  /** Whether the next tickets of all were read a moment ago. */
  get isFresh(): boolean {
    const since = performance.now() - FRESH_MS;
    return this.#waiters.every((each) => each.next !== null && each.readAt >= since && this.#isValid(each));
  }

  /** The next tickets may be others by now. */
  invalidate(): void {
    this.#validFrom = performance.now();
  }

  /**
   * A slot that was kept has taken the next ticket of this taker, which waits for another slot. What follows is read where others wait, which
   * it is compared with. Never rejects.
   */
  async noteTaken(taker: string): Promise<void> {
    const waiters = this.#waiters.filter(({ request }) => request.taker === taker);
    for (const waiter of waiters) waiter.validFrom = performance.now();
    if (waiters.length < this.#waiters.length) await Promise.all(waiters.map((each) => this.#read(each)));
  }

  #isValid({ readAt, validFrom }: Waiter): boolean {
    return readAt >= Math.max(validFrom, this.#validFrom);
  }

  /** Reads the next tickets that are not known. The wait of a taker without a ticket ends. */
  async readNext(): Promise<void> {
    await Promise.all(this.#waiters.filter((each) => each.next === null || !this.#isValid(each)).map((each) => this.#read(each)));
    await this.readNew();
  }

  /** The same for takers that came meanwhile, since they may come first. */
  async readNew(): Promise<void> {
    for (;;) {
      const unread = this.#waiters.filter(({ next }) => next === null);
      if (unread.length === 0) return;
      await Promise.all(unread.map((each) => this.#read(each)));
    }
  }

  async #read(waiter: Waiter): Promise<void> {
    const { request } = waiter;
    const readAt = performance.now();
    waiter.next = await request.readNext().catch(() => unknownTicket(request.queue));
    waiter.readAt = readAt;
    if (waiter.next === null) this.#answer(waiter, 'empty');
  }

  close(): void {
    for (const waiter of this.#waiters.splice(0)) waiter.resolve('closed');
  }

  #answer(waiter: Waiter, result: 'empty' | 'closed'): void {
    if (this.#withdraw(waiter)) waiter.resolve(result);
  }

  #withdraw(waiter: Waiter): boolean {
    const position = this.#waiters.indexOf(waiter);
    if (position >= 0) this.#waiters.splice(position, 1);
    return position >= 0;
  }
}
