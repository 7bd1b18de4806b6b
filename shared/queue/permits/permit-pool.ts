import type { Log } from '../../log/index.ts';
import type { Clock } from '../../time/index.ts';
import { type Fleet, leasePermits, type PermitKind, reservedOf } from './lease-permits.ts';
import { UNKNOWN_RANK } from './ticket-rank.ts';

/** The right to run one ticket. It is void once the worker lost its lease on all of them. */
export interface Permit {
  readonly lease: number;
}

/** What becomes of a wait for a permit: one, or word that the queue has no ticket or that the wait was ended. */
export type Entry = Permit | 'empty' | 'closed';

/** A taker that has a free slot. */
export interface Taker {
  /** The rank of its next ticket; null when it has none. */
  head(): Promise<string | null>;
  /** Ends the wait. */
  signal: AbortSignal;
}

export interface PermitPoolOptions {
  fleet: Fleet;
  kind: PermitKind;
  worker: string;
  /** Tickets that the worker can run at once. */
  slots: number;
  clock: Clock;
  log: Log;
}

interface Waiter {
  taker: Taker;
  resolve: (entry: Entry) => void;
}

interface Ranked {
  waiter: Waiter;
  rank: string;
}

/** How many of its own looks a worker gives back what it does not use, after it heard of another that waits. */
const CONTENDED_LOOKS = 3;

/**
 * PermitPool is responsible for one worker's permits of one kind, so that it takes a ticket only when the fleet has room for it. While
 * nobody waits, a permit goes from one ticket to the next without a word to Redis. Times are monotonic milliseconds.
 */
export class PermitPool {
  readonly #options: PermitPoolOptions;
  #waiting: Waiter[] = [];
  #held = 0;
  #used = 0;
  #lease = 0;
  #heldUntil = 0;
  /** Until then another worker, or work of the other kind, is taken to wait. */
  #contendedUntil = 0;
  /** Redis has this pool among those that wait. */
  #isRegistered = false;
  #bestRank = UNKNOWN_RANK;
  #askAgainAt = 0;
  #isRenewalDue = false;
  #isDue = false;
  #isClosed = false;
  #running: Promise<void> | undefined;
  #poll: NodeJS.Timeout | undefined;

  constructor(options: PermitPoolOptions) {
    this.#options = options;
  }

  /** Takes a permit at once, or null when the caller has to wait. */
  tryEnter(): Permit | null {
    if (this.#isClosed || this.#waiting.length > 0 || this.#isContended || this.#spare <= 0) return null;
    return this.#use();
  }

  /** Waits for a permit. */
  async enter(taker: Taker): Promise<Entry> {
    if (this.#isClosed || taker.signal.aborted) return 'closed';
    return await new Promise<Entry>((resolve) => {
      const end = (): void => this.#answer(waiter, 'closed');
      const waiter: Waiter = {
        taker,
        resolve: (entry) => {
          taker.signal.removeEventListener('abort', end);
          resolve(entry);
        },
      };
      taker.signal.addEventListener('abort', end, { once: true });
      this.#waiting.push(waiter);
      this.#kick();
    });
  }

  /** Whether the holder of a permit may take another ticket with it. */
  mayKeep(permit: Permit): boolean {
    return permit.lease === this.#lease && this.#isHeld && this.#waiting.length === 0 && !this.#isContended;
  }

  leave(permit: Permit): void {
    if (permit.lease !== this.#lease) return;
    this.#used -= 1;
    if (this.#waiting.length > 0 || this.#isContended) this.#kick();
  }

  /** Another worker, or work of the other kind, waits for a permit. */
  heardWanted(kind: PermitKind): void {
    const { clock, fleet } = this.#options;
    // What is kept for critical work is of no use to other work.
    if (kind === 'ordinary' && this.#options.kind === 'critical' && this.#held <= reservedOf(fleet.settings)) return;
    this.#contendedUntil = clock.monotonic() + fleet.settings.worker.fleetFullMs * CONTENDED_LOOKS;
    if (this.#spare > 0) this.#kick();
  }

  /** There may be room now. */
  wake(): void {
    this.#askAgainAt = 0;
    this.#kick();
  }

  /** Extends the lease. */
  renew(): void {
    this.#isRenewalDue = true;
    this.#kick();
  }

  /** Ends all waits and gives no permit any more. Resolves when no call is under way. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#poll);
    for (const waiter of this.#waiting.splice(0)) waiter.resolve('closed');
    await this.#running;
  }

  get #isHeld(): boolean {
    return this.#options.clock.monotonic() < this.#heldUntil;
  }

  get #isContended(): boolean {
    return this.#options.clock.monotonic() < this.#contendedUntil;
  }

  get #spare(): number {
    return this.#isHeld ? this.#held - this.#used : 0;
  }

  #use(): Permit {
    this.#used += 1;
    return { lease: this.#lease };
  }

  #answer(waiter: Waiter, entry: Exclude<Entry, Permit>): void {
    if (this.#withdraw(waiter)) waiter.resolve(entry);
  }

  #admit(waiter: Waiter): void {
    if (this.#withdraw(waiter)) waiter.resolve(this.#use());
  }

  #withdraw(waiter: Waiter): boolean {
    const place = this.#waiting.indexOf(waiter);
    if (place >= 0) this.#waiting.splice(place, 1);
    return place >= 0;
  }

  #kick(): void {
    this.#isDue = true;
    if (this.#isClosed) return;
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
      if (this.#isDue) this.#kick();
    });
  }

  async #run(): Promise<void> {
    while (this.#isDue && !this.#isClosed) {
      this.#isDue = false;
      await this.#step();
      this.#keepLooking();
    }
  }

  async #step(): Promise<void> {
    if (this.#isRenewalDue || this.#isChanged) await this.#ask(this.#waiting.length, this.#bestRank);
    if (!this.#isContended && this.#spare >= this.#waiting.length) {
      for (const waiter of this.#waiting.slice()) this.#admit(waiter);
      return;
    }
    // Redis knows what it waits for, and will say when there is room.
    const isKnown = this.#spare <= 0 && this.#isRegistered && this.#options.clock.monotonic() < this.#askAgainAt;
    if (!isKnown) await this.#admitBest();
  }

  /** Whether Redis has to hear, before anything is looked at, that it waits or waits no more. */
  get #isChanged(): boolean {
    if (this.#waiting.length === 0) return this.#isRegistered || (this.#isContended && this.#spare > 0);
    return !this.#isRegistered && !this.#isContended && this.#spare < this.#waiting.length;
  }

  async #admitBest(): Promise<void> {
    const { clock, fleet } = this.#options;
    const ranked = await this.#rank();
    const [best] = ranked;
    if (!best) {
      if (this.#isRegistered) this.#isDue = true;
      return;
    }
    if (this.#isContended || this.#spare <= 0) {
      this.#askAgainAt = clock.monotonic() + fleet.settings.worker.fleetFullMs;
      this.#bestRank = best.rank;
      await this.#ask(ranked.length, best.rank);
    }
    for (const { waiter } of ranked) if (this.#spare > 0) this.#admit(waiter);
  }

  /** Those that wait, the best ticket first; those without a ticket wait no more. */
  async #rank(): Promise<Ranked[]> {
    const waiting = [...this.#waiting];
    const ranks = await Promise.all(waiting.map(({ taker }) => taker.head().catch(() => UNKNOWN_RANK)));
    const ranked = waiting.flatMap((waiter, position) => {
      const rank = ranks[position] ?? null;
      if (rank === null) this.#answer(waiter, 'empty');
      return rank === null ? [] : [{ waiter, rank }];
    });
    return ranked.toSorted((one, other) => (one.rank < other.rank ? -1 : 1));
  }

  /** A word that was lost costs one look. */
  #keepLooking(): void {
    if (this.#isClosed || (this.#waiting.length === 0 && !this.#isRegistered)) return;
    this.#poll ??= setTimeout(() => {
      this.#poll = undefined;
      this.wake();
    }, this.#options.fleet.settings.worker.fleetFullMs);
  }

  async #ask(needs: number, rank: string): Promise<void> {
    const { fleet, kind, worker, slots, clock, log } = this.#options;
    const { leaseMs } = fleet.settings.worker;
    const calledAt = clock.monotonic();
    // While others wait, what is not used is given back.
    if (this.#isContended) this.#held = this.#used;
    const holds = this.#held;
    const spare = needs > 0 ? Math.max(0, slots - holds - needs) : 0;
    try {
      const answer = await leasePermits(fleet, { worker, kind, holds, needs, spare, rank, leaseMs });
      this.#isRenewalDue = false;
      if (answer.kind === 'lost') {
        this.#lose();
        return;
      }
      this.#held = answer.count;
      this.#heldUntil = calledAt + leaseMs;
      this.#isRegistered = answer.count < holds + needs;
      if (answer.othersWait) this.heardWanted('critical');
    } catch (error) {
      log.debug({ err: error, kind }, 'the fleet could not be asked for room; trying again');
    }
  }

  /** The lease ended and others may have the permits; what runs under them is aborted with its own lease. */
  #lose(): void {
    this.#lease += 1;
    this.#held = 0;
    this.#used = 0;
    this.#heldUntil = 0;
    this.#isRegistered = false;
    this.#isDue = true;
  }
}
