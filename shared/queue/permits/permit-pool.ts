import type { Log } from '../../log/index.ts';
import type { Clock } from '../../time/index.ts';
import { type Fleet, leasePermits, type PermitKind, reservedOf } from './lease-permits.ts';
import { type Permit, PermitLine, type PermitRequest, type PermitResult } from './permit-line.ts';
import { UNKNOWN_RANK } from './ticket-rank.ts';

export interface PermitPoolOptions {
  fleet: Fleet;
  kind: PermitKind;
  worker: string;
  /** Tickets that the worker can run at once. */
  slots: number;
  clock: Clock;
  log: Log;
}

/** A worker returns what it does not use for so many polls after it learned that another one waits. */
const CONTENDED_POLLS = 3;

/**
 * PermitPool is responsible for one worker's permits of one kind, so that it takes a ticket only when the fleet has room for it. While
 * no slot waits, a permit goes from one ticket to the next without a call to Redis. Times are monotonic milliseconds.
 */
export class PermitPool {
  readonly #options: PermitPoolOptions;
  readonly #line = new PermitLine();
  #held = 0;
  #used = 0;
  /** Counts the leases, so that a permit of a lost one is known. */
  #lease = 0;
  #heldUntil = 0;
  /** Until then another worker, or work of the other kind, is taken to wait. */
  #contendedUntil = 0;
  /** Redis lists this pool among the waiting ones. */
  #isRegistered = false;
  #bestRank = UNKNOWN_RANK;
  #nextCallAt = 0;
  #isRenewalDue = false;
  #isRoundDue = false;
  #isClosed = false;
  #running: Promise<void> | undefined;
  #poll: NodeJS.Timeout | undefined;

  constructor(options: PermitPoolOptions) {
    this.#options = options;
  }

  /** Takes a permit at once, or null when the caller has to wait. */
  tryAcquire(): Permit | null {
    if (this.#isClosed || this.#line.length > 0 || this.#isContended || this.#spare <= 0) return null;
    return this.#take();
  }

  /** Waits for a permit. */
  async acquire(request: PermitRequest): Promise<PermitResult> {
    if (this.#isClosed || request.signal.aborted) return 'closed';
    const result = this.#line.wait(request);
    this.#startRound();
    return await result;
  }

  /** Whether the holder of a permit may take another ticket with it. */
  mayKeep(permit: Permit): boolean {
    return permit.lease === this.#lease && this.#isHeld && this.#line.length === 0 && !this.#isContended;
  }

  release(permit: Permit): void {
    if (permit.lease !== this.#lease) return;
    this.#used -= 1;
    if (this.#line.length > 0 || this.#isContended) this.#startRound();
  }

  /** Another worker, or work of the other kind, waits for a permit. */
  noteContention(kind: PermitKind): void {
    const { clock, fleet } = this.#options;
    // Permits reserved for critical work are of no use to other work.
    if (kind === 'ordinary' && this.#options.kind === 'critical' && this.#held <= reservedOf(fleet.settings)) return;
    this.#contendedUntil = clock.monotonic() + fleet.settings.worker.fleetFullMs * CONTENDED_POLLS;
    if (this.#spare > 0) this.#startRound();
  }

  /** There may be room now. */
  wake(): void {
    this.#nextCallAt = 0;
    this.#startRound();
  }

  /** Extends the lease. */
  renew(): void {
    this.#isRenewalDue = true;
    this.#startRound();
  }

  /** Ends all waits and gives no permit any more. Resolves when no call is under way. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#poll);
    this.#line.close();
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

  readonly #take = (): Permit => {
    this.#used += 1;
    return { lease: this.#lease };
  };

  #startRound(): void {
    this.#isRoundDue = true;
    if (this.#isClosed) return;
    this.#running ??= this.#runRounds().finally(() => {
      this.#running = undefined;
      if (this.#isRoundDue) this.#startRound();
    });
  }

  async #runRounds(): Promise<void> {
    while (this.#isRoundDue && !this.#isClosed) {
      this.#isRoundDue = false;
      await this.#runRound();
      this.#planPoll();
    }
  }

  async #runRound(): Promise<void> {
    if (this.#isRenewalDue || this.#hasNews) await this.#callRedis(this.#line.length, this.#bestRank);
    if (!this.#isContended && this.#spare >= this.#line.length) {
      this.#line.grantAll(this.#take);
      return;
    }
    // Redis knows what this pool waits for, and publishes when there is room.
    const isRegistered = this.#spare <= 0 && this.#isRegistered && this.#options.clock.monotonic() < this.#nextCallAt;
    if (!isRegistered) await this.#grantByRank();
  }

  /** Whether Redis has to learn, before tickets are ranked, that this pool waits or has stopped waiting. */
  get #hasNews(): boolean {
    if (this.#line.length === 0) return this.#isRegistered || (this.#isContended && this.#spare > 0);
    return !this.#isRegistered && !this.#isContended && this.#spare < this.#line.length;
  }

  async #grantByRank(): Promise<void> {
    const { clock, fleet } = this.#options;
    const ranked = await this.#line.rank();
    const [best] = ranked;
    if (!best) {
      if (this.#isRegistered) this.#isRoundDue = true;
      return;
    }
    if (this.#isContended || this.#spare <= 0) {
      this.#nextCallAt = clock.monotonic() + fleet.settings.worker.fleetFullMs;
      this.#bestRank = best.rank;
      await this.#callRedis(ranked.length, best.rank);
    }
    for (const { waiter } of ranked) if (this.#spare > 0) this.#line.grant(waiter, this.#take);
  }

  /** Makes up for a message that was lost. */
  #planPoll(): void {
    if (this.#isClosed || (this.#line.length === 0 && !this.#isRegistered)) return;
    this.#poll ??= setTimeout(() => {
      this.#poll = undefined;
      this.wake();
    }, this.#options.fleet.settings.worker.fleetFullMs);
  }

  /** Renews the lease and asks for the permits that are needed. */
  async #callRedis(needs: number, rank: string): Promise<void> {
    const { fleet, kind, worker, slots, clock, log } = this.#options;
    const { leaseMs } = fleet.settings.worker;
    const calledAt = clock.monotonic();
    // While others wait, unused permits are returned.
    if (this.#isContended) this.#held = this.#used;
    const holds = this.#held;
    const spare = needs > 0 ? Math.max(0, slots - holds - needs) : 0;
    try {
      const answer = await leasePermits(fleet, { worker, kind, holds, needs, spare, rank, leaseMs });
      this.#isRenewalDue = false;
      if (answer.kind === 'lost') {
        this.#loseLease();
        return;
      }
      this.#held = answer.count;
      this.#heldUntil = calledAt + leaseMs;
      this.#isRegistered = answer.count < holds + needs;
      if (answer.othersWait) this.noteContention('critical');
    } catch (error) {
      log.debug({ err: error, kind }, 'permits cannot be leased now; trying again');
    }
  }

  /** The lease ended and others may have the permits; what runs under them is aborted with its own lease. */
  #loseLease(): void {
    this.#lease += 1;
    this.#held = 0;
    this.#used = 0;
    this.#heldUntil = 0;
    this.#isRegistered = false;
    this.#isRoundDue = true;
  }
}
