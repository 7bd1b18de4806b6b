import { type Ledger, type Renewal, renewLeases } from '../../ledger/index.ts';
import type { Log } from '../../log/index.ts';
import { type Clock, Recent } from '../../time/index.ts';
import { pollInput } from './signal-listener.ts';
import type { RunningAttempt } from '../attempt/running-attempt.ts';
import { RunningAttempts } from './running-attempts.ts';

export interface LeaseKeeperOptions {
  ledger: Ledger;
  clock: Clock;
  log: Log;
}

/** How often leases are checked; the renewal itself is due at half of the lease. */
const CHECKS_PER_LEASE = 10;
/** While attempts run, this process checks so often whether it was frozen, which shows as a gap. */
const WAKE_MS = 10;
const FREEZE_MS = 100;
/** Attempts remembered that defects of this program kept from their end. */
const MAX_ABANDONED = 1000;

/**
 * LeaseKeeper is responsible for renewing the leases of all attempts of this worker, and for aborting an attempt by the time its lease
 * ends without a renewal, so that no two workers ever believe that they hold the same task.
 */
export class LeaseKeeper {
  readonly #options: LeaseKeeperOptions;
  readonly #attempts = new RunningAttempts();
  readonly #abandoned = new Recent<string, true>({ maxEntries: MAX_ABANDONED });
  #timer: NodeJS.Timeout | undefined;
  #wakeTimer: NodeJS.Timeout | undefined;
  /** Of the last wake-up, monotonic. */
  #wokeAt = 0;
  #isRenewing = false;
  #isHandingOver = false;
  #isDraining = false;
  #empty: PromiseWithResolvers<void> | undefined;

  constructor(options: LeaseKeeperOptions) {
    this.#options = options;
  }

  get running(): RunningAttempt[] {
    return this.#attempts.all;
  }

  /** How long the longest attempt has run here, ms; 0 where none runs. */
  get longestMs(): number {
    const now = this.#options.clock.monotonic();
    return this.#attempts.all.reduce((longest, { since }) => Math.max(longest, now - since), 0);
  }

  start(): void {
    const { leaseMs } = this.#options.ledger.settings.worker;
    this.#timer = setInterval(() => void this.#tick(), leaseMs / CHECKS_PER_LEASE);
  }

  stop(): void {
    clearInterval(this.#timer);
    clearInterval(this.#wakeTimer);
    this.#wakeTimer = undefined;
  }

  add(attempt: RunningAttempt): void {
    if (!this.#wakeTimer) this.#wokeAt = this.#options.clock.monotonic();
    this.#wakeTimer ??= setInterval(() => this.#onWake(), WAKE_MS);
    this.#attempts.add(attempt);
    // A frozen process reads the answer to a claim after the lease that the claim began.
    if (!attempt.isHeld(this.#options.clock.monotonic())) attempt.stop({ kind: 'lease-lost' });
    if (this.#isHandingOver) attempt.handOver();
    if (this.#isDraining) attempt.stop({ kind: 'drain' });
  }

  /** Has every attempt whose run has steps end before its next one, also one whose claim is still under way. */
  handOver(): void {
    this.#isHandingOver = true;
    for (const attempt of this.#attempts.all) attempt.handOver();
  }

  /** Stops every attempt, also one whose claim is still under way, so that no agent outlives its worker's drain. */
  drain(): void {
    this.#isDraining = true;
    for (const attempt of this.#attempts.all) attempt.stop({ kind: 'drain' });
  }

  release(attempt: RunningAttempt): void {
    this.#attempts.delete(attempt);
    if (this.#attempts.size > 0) return;
    clearInterval(this.#wakeTimer);
    this.#wakeTimer = undefined;
    this.#empty?.resolve();
  }

  /** Releases an attempt that this worker cannot settle, so that its lease runs out. */
  abandon(attempt: RunningAttempt): void {
    this.#abandoned.set(attempt.member, true);
    this.release(attempt);
  }

  /** Whether this worker neither runs the attempt of this lease member nor has left it to its lease. */
  isUnknown(member: string): boolean {
    return !this.has(member) && this.#abandoned.get(member) === undefined;
  }

  /** Whether this worker runs or settles the attempt of this lease member. */
  has(member: string): boolean {
    return this.#attempts.get(member) !== undefined;
  }

  /** Resolves when this worker runs and settles nothing. */
  async empty(): Promise<void> {
    while (this.#attempts.size > 0) await (this.#empty = Promise.withResolvers()).promise;
  }

  /** Notifies an attempt of this worker that messages wait for its run. */
  notifyInput(member: string): void {
    this.#attempts.get(member)?.notifyInput();
  }

  /** Renews the lease of an attempt at once, which reveals a stop. */
  async renewNow(member: string): Promise<void> {
    const attempt = this.#attempts.get(member);
    if (attempt) await this.#renew([attempt]);
  }

  async #tick(): Promise<void> {
    const { clock, ledger, log } = this.#options;
    this.#abortExpired(clock.monotonic());
    if (this.#isRenewing) return;
    const due = this.running.filter(({ heldUntil }) => heldUntil - clock.monotonic() <= ledger.settings.worker.leaseMs / 2);
    if (due.length === 0) return;
    this.#isRenewing = true;
    try {
      await this.#renew(due);
      await pollInput(ledger, due);
    } catch (error) {
      log.debug({ err: error, attempts: due.length }, 'leases could not be renewed; trying again');
    } finally {
      this.#isRenewing = false;
    }
  }

  /** Timers run in the order in which they are due: this one before those of agents that are due later than a moment after the freeze. */
  #onWake(): void {
    const now = this.#options.clock.monotonic();
    if (now - this.#wokeAt > FREEZE_MS) this.#abortExpired(now);
    this.#wokeAt = now;
  }

  /** An attempt whose lease ran out is aborted before any other step. */
  #abortExpired(now: number): void {
    for (const attempt of this.#attempts.all) {
      if (!attempt.isHeld(now)) attempt.stop({ kind: 'lease-lost' });
    }
  }

  async #renew(attempts: RunningAttempt[]): Promise<void> {
    const { ledger } = this.#options;
    const byShard = Map.groupBy(attempts, ({ ref }) => ledger.keys.shardOf(ref.tenant));
    // A node of a cluster that is away keeps no lease of another node from its renewal.
    const renewals = await Promise.allSettled([...byShard].map(async ([shard, group]) => await this.#renewShard(shard, group)));
    for (const renewal of renewals) if (renewal.status === 'rejected') throw renewal.reason;
  }

  async #renewShard(shard: number, group: readonly RunningAttempt[]): Promise<void> {
    const { ledger, clock } = this.#options;
    // From before the call: the lease may have been written any time after it.
    const heldUntil = clock.monotonic() + ledger.settings.worker.leaseMs;
    const answers = await renewLeases(
      ledger,
      shard,
      group.map(({ member }) => member),
    );
    for (const [position, attempt] of group.entries()) this.#apply(attempt, answers[position] ?? 'lost', heldUntil);
  }

  /** Its lease goes on, because the worker's own grace bounds how long its agent takes to end. */
  #preempt(attempt: RunningAttempt, by: string, heldUntil: number): void {
    attempt.extend(heldUntil);
    attempt.stop({ kind: 'preempt', by });
  }

  #apply(attempt: RunningAttempt, renewal: Renewal, heldUntil: number): void {
    if (renewal === 'held') attempt.extend(heldUntil);
    else if (renewal === 'lost') attempt.stop({ kind: 'lease-lost' });
    else if (renewal.kind === 'preempt') this.#preempt(attempt, renewal.by, heldUntil);
    else attempt.stop({ kind: 'cancel', reason: renewal.reason });
  }
}
