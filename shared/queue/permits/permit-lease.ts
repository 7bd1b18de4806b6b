import type { TaskQueue } from '../../config/index.ts';
import type { Log } from '../../log/index.ts';
import type { Clock } from '../../time/index.ts';
import { type Fleet, kindOf, leasePermits, type PermitCall, type PermitKind, reservedOf } from './lease-permits.ts';
import { MovedPermits } from './moved-permits.ts';
import { FIRST_RANK, UNKNOWN_RANK } from './next-ticket.ts';

export interface PermitLeaseOptions {
  fleet: Fleet;
  kind: PermitKind;
  worker: string;
  /** All that the worker serves. */
  queues: readonly string[];
  /** Tickets of this kind that the worker can run at once. */
  slots: number;
  /** How long its attempts outlive the worker, ms; 0 when they end with it. */
  keepMs: number;
  clock: Clock;
  log: Log;
}

/** A worker returns what it does not use for so many polls after it learned that another worker waits. */
const CONTENDED_POLLS = 3;

/**
 * PermitLease is responsible for the permits of one kind that a worker holds of the fleet's cap. While no other worker waits, a permit goes
 * from one ticket to the next without a call to Redis. Times are monotonic milliseconds.
 */
export class PermitLease {
  readonly #options: PermitLeaseOptions;
  readonly #moved = new MovedPermits();
  #held = 0;
  #used = 0;
  /** Of the attempts that outlive this process, as many as Redis knows to use a permit. */
  #reported = 0;
  /** Counts the leases, so that a permit of a lost one is known. */
  #number = 0;
  #heldUntil = 0;
  /** Until then another worker, or work of the other kind, is taken to wait. */
  #contendedUntil = 0;
  /** Until then a worker is taken to wait that serves queues which this one does not. */
  #foreignUntil = 0;
  /** Redis lists this worker among the waiting ones. */
  #isRegistered = false;
  #refusedUntil = 0;
  #bestRank = UNKNOWN_RANK;
  #nextAskAt = 0;
  #isRenewalDue = false;

  constructor(options: PermitLeaseOptions) {
    this.#options = options;
  }

  get kind(): PermitKind {
    return this.#options.kind;
  }

  /** Permits that it holds and no ticket uses. */
  get spare(): number {
    return this.#isHeld ? this.#held - this.#used - this.#moved.left : 0;
  }

  get isContended(): boolean {
    return this.#options.clock.monotonic() < this.#contendedUntil;
  }

  get isRegistered(): boolean {
    return this.#isRegistered;
  }

  /** Whether the fleet had no room for a ticket of this worker a moment ago. */
  get isRefused(): boolean {
    return this.spare <= 0 && this.#options.clock.monotonic() < this.#refusedUntil;
  }

  /** Whether so many waiting takers could each have a permit at once. */
  covers(waiting: number): boolean {
    return waiting === 0 || (!this.isContended && this.spare >= waiting);
  }

  /** Whether Redis knows what this worker waits for, and publishes when there is room. */
  get isAnswerDue(): boolean {
    return this.spare <= 0 && this.#isRegistered && this.#options.clock.monotonic() < this.#nextAskAt;
  }

  /** Whether attempts that outlive this process use permits which would be free if it died now. */
  get isReportDue(): boolean {
    return this.#options.keepMs > 0 && Math.min(this.#inUse, this.#held) > this.#reported;
  }

  /** Uses a permit. Returns the lease that it is of. */
  take(): number {
    this.#used += 1;
    return this.#number;
  }

  /**
   * Uses a permit for an attempt that runs already, whether there is one or not: that of the worker that counted it before, or the fleet is
   * asked for what is missing. Returns the lease.
   */
  adopt(from: string | null): number {
    this.#moved.adopt(from);
    return this.take();
  }

  /** Such an attempt has ended. */
  releaseAdopted(): void {
    this.#moved.releaseAdopted();
    this.#used -= 1;
  }

  /** An attempt of this worker goes on elsewhere, with its permit. */
  leave(): void {
    this.#moved.leave();
  }

  /** Returns all permits but those that were left. */
  async end(): Promise<void> {
    const end = { needs: 0, spare: 0, rank: UNKNOWN_RANK, leaseMs: 0, attempts: this.#moved.left, from: {} };
    const { fleet, kind, worker, queues, keepMs } = this.#options;
    await leasePermits(fleet, { worker, queues, kind, holds: this.#held, keepMs, ...end });
  }

  /** Whether a permit of this lease still stands, and no other worker waits for it. */
  mayKeep(lease: number): boolean {
    return lease === this.#number && this.#isHeld && !this.isContended && this.spare >= 0;
  }

  /**
   * The same where the ledger chooses the next ticket of all queues of this worker: workers that wait for tickets of these queues alone could
   * start nothing better.
   */
  mayHandOver(lease: number): boolean {
    const isForeign = this.#options.clock.monotonic() < this.#foreignUntil;
    return lease === this.#number && this.#isHeld && !isForeign && this.spare >= 0;
  }

  release(lease: number): void {
    if (lease === this.#number) this.#used -= 1;
  }

  /**
   * Another worker, or work of the other kind, waits for a permit; `queues`: what that worker serves, by name, where it says so. Returns
   * whether it matters here.
   */
  noteContention(kind: PermitKind, queues?: readonly string[]): boolean {
    const { clock, fleet } = this.#options;
    // Permits reserved for critical work are of no use to other work.
    if (kind === 'ordinary' && this.kind === 'critical' && this.#held <= reservedOf(fleet)) return false;
    this.#contendedUntil = clock.monotonic() + fleet.settings.worker.fleetFullMs * CONTENDED_POLLS;
    if (queues === undefined || queues.some((queue) => !this.#options.queues.includes(queue))) this.#foreignUntil = this.#contendedUntil;
    return true;
  }

  /** There may be room now. */
  expectRoom(): void {
    this.#nextAskAt = 0;
    this.#refusedUntil = 0;
  }

  /** The next report extends the lease. */
  planRenewal(): void {
    this.#isRenewalDue = true;
  }

  /** Reports to Redis when it has to know that so many takers wait now, or that none does. Returns whether a report must follow. */
  async report(waiting: number): Promise<boolean> {
    if (!this.#isRenewalDue && !this.#hasNews(waiting)) return false;
    return await this.#call(waiting, this.#bestRank);
  }

  /** Requests so many permits, when there are none to spare or others wait for them too. Returns whether a report must follow. */
  async ask(needs: number, rank: string): Promise<boolean> {
    if (!this.isContended && this.spare > 0) return false;
    const { clock, fleet } = this.#options;
    this.#nextAskAt = clock.monotonic() + fleet.settings.worker.fleetFullMs;
    this.#bestRank = rank;
    return await this.#call(needs, rank);
  }

  get #isHeld(): boolean {
    return this.#options.clock.monotonic() < this.#heldUntil;
  }

  /** Permits that adopted attempts run without. */
  get #owed(): number {
    return Math.min(this.#moved.adopted, Math.max(0, this.#used - this.#held));
  }

  /** Permits that attempts use, those that go on elsewhere included. */
  get #inUse(): number {
    return this.#used + this.#moved.left;
  }

  #hasNews(waiting: number): boolean {
    if (this.#moved.isTaking || this.isReportDue) return true;
    if (this.#owed > 0) return !this.isAnswerDue;
    if (waiting === 0) return this.#isRegistered || (this.isContended && this.spare > 0);
    return !this.#isRegistered && !this.isContended && this.spare < waiting;
  }

  async #call(needs: number, rank: string): Promise<boolean> {
    const { fleet, kind, worker, queues, keepMs, clock, log } = this.#options;
    const { leaseMs } = fleet.settings.worker;
    const calledAt = clock.monotonic();
    // While others wait, unused permits are returned.
    if (this.isContended) this.#held = Math.min(this.#held, this.#inUse);
    const holds = this.#held;
    const { taking } = this.#moved;
    const wish = { ...this.#wishFor(needs, rank), attempts: this.#inUse, from: Object.fromEntries(taking) };
    try {
      const answer = await leasePermits(fleet, { worker, queues, kind, holds, leaseMs, keepMs, ...wish });
      this.#isRenewalDue = false;
      if (answer.kind === 'lost') {
        this.#lose();
        return true;
      }
      this.#moved.noteMoved(taking, answer.moved);
      this.#reported = Math.min(wish.attempts - answer.moved, holds - answer.moved, answer.count);
      this.#held = answer.count;
      this.#heldUntil = calledAt + leaseMs;
      this.#isRegistered = wish.needs > 0 && answer.count < holds + wish.needs;
      this.#noteAnswer(needs, calledAt);
      const isContended = answer.othersWait && this.noteContention('critical', answer.isForeign ? undefined : []);
      return this.#mustFollow(taking) || this.isReportDue || (isContended && this.spare > 0);
    } catch (error) {
      log.debug({ err: error, kind }, 'permits cannot be leased now; trying again');
      return false;
    }
  }

  /** Adopted attempts get their permits before any ticket, and tickets that run above a lowered cap theirs before the next one starts. */
  #wishFor(needs: number, rank: string): Pick<PermitCall, 'needs' | 'spare' | 'rank'> {
    const owed = this.#owed;
    if (this.#moved.isTaking) return { needs: 0, spare: 0, rank: FIRST_RANK };
    if (owed > 0) {
      this.#nextAskAt = this.#options.clock.monotonic() + this.#options.fleet.settings.worker.fleetFullMs;
      return { needs: owed, spare: 0, rank: FIRST_RANK };
    }
    if (needs === 0) return { needs, spare: 0, rank };
    const all = needs + Math.max(0, this.#used - this.#held);
    return { needs: all, spare: Math.max(0, this.#options.slots - this.#held - all), rank };
  }

  /** Whether permits are missing after a take-over: others were adopted meanwhile, or who held them had fewer. */
  #mustFollow(taken: ReadonlyMap<string, number>): boolean {
    return this.#moved.isTaking || (taken.size > 0 && this.#owed > 0);
  }

  /** The fleet had room for what was asked, or not for all of it. */
  #noteAnswer(needs: number, calledAt: number): void {
    if (needs > 0)
      this.#refusedUntil = this.#isRegistered ? calledAt + this.#options.fleet.settings.worker.fleetFullMs * CONTENDED_POLLS : 0;
  }

  /** The lease ended and others may have the permits; what runs under them is aborted with its own lease, adopted attempts go on. */
  #lose(): void {
    this.#number += 1;
    this.#held = 0;
    this.#used = this.#moved.adopted;
    this.#reported = 0;
    this.#heldUntil = 0;
    this.#isRegistered = false;
  }
}

/** The lease whose permits the tickets of this queue need. */
export function leaseFor(leases: readonly PermitLease[], queue: TaskQueue): PermitLease {
  const lease = leases.find(({ kind }) => kind === kindOf(queue));
  if (!lease) throw new Error(`This worker has no slots for the queue "${queue}"`);
  return lease;
}
