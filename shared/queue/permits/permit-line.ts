import { UNKNOWN_RANK } from './ticket-rank.ts';

/** The right to run one ticket. It is void once the worker lost its lease on all of them. */
export interface Permit {
  readonly lease: number;
}

/** How a wait for a permit ends: with one, because the queue has no ticket, or because the wait was ended. */
export type PermitResult = Permit | 'empty' | 'closed';

/** A free slot that asks for a permit. */
export interface PermitRequest {
  /** The rank of the next ticket of its queue; null when there is none. */
  nextRank(): Promise<string | null>;
  /** Ends the wait. */
  signal: AbortSignal;
}

interface Waiter {
  request: PermitRequest;
  resolve: (result: PermitResult) => void;
}

export interface RankedWaiter {
  waiter: Waiter;
  rank: string;
}

/** PermitLine is responsible for the slots of one worker that wait for a permit of one kind. */
export class PermitLine {
  #waiters: Waiter[] = [];

  get length(): number {
    return this.#waiters.length;
  }

  /** Waits until the line gives the request an answer or its signal aborts. */
  async wait(request: PermitRequest): Promise<PermitResult> {
    return await new Promise<PermitResult>((resolve) => {
      const end = (): void => this.#answer(waiter, 'closed');
      const waiter: Waiter = {
        request,
        resolve: (result) => {
          request.signal.removeEventListener('abort', end);
          resolve(result);
        },
      };
      request.signal.addEventListener('abort', end, { once: true });
      this.#waiters.push(waiter);
    });
  }

  /** Gives permits in the order in which the slots came, for as long as there are some. */
  grantAll(take: () => Permit): void {
    for (const waiter of this.#waiters.slice()) this.grant(waiter, take);
  }

  /** Gives a waiter its permit; takes none when its wait has ended meanwhile. */
  grant(waiter: Waiter, take: () => Permit): void {
    if (this.#withdraw(waiter)) waiter.resolve(take());
  }

  /** The waiters by the rank of their next tickets, the best first. The wait of one without a ticket ends. */
  async rank(): Promise<RankedWaiter[]> {
    const waiters = [...this.#waiters];
    const ranks = await Promise.all(waiters.map(({ request }) => request.nextRank().catch(() => UNKNOWN_RANK)));
    const ranked = waiters.flatMap((waiter, position) => {
      const rank = ranks[position] ?? null;
      if (rank === null) this.#answer(waiter, 'empty');
      return rank === null ? [] : [{ waiter, rank }];
    });
    return ranked.toSorted((one, other) => (one.rank < other.rank ? -1 : 1));
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
