import type { TaskQueue } from '../../config/index.ts';
import { type Band, bandOf, chooseNext, roomFor, type RunningTickets, type SlotPolicy, type WaitingTicket } from './choose-next.ts';
import { kindOf, type PermitKind } from './lease-permits.ts';
import type { PermitLease } from './permit-lease.ts';
import { type Permit, PermitLine, type PermitRequest, type PermitResult, type Waiter } from './permit-line.ts';

interface SlotPoolOptions {
  policy: SlotPolicy;
  /** For each kind of tickets that the worker serves. */
  leases: readonly PermitLease[];
  /** Between two rounds while takers wait, ms: makes up for a message that was lost. */
  pollMs: number;
}

/**
 * SlotPool is responsible for one worker's slots: every queue may use each of them, and a ticket is taken only with a free slot and a permit
 * of the fleet. While nobody waits, both go from one ticket to the next without a call to Redis.
 */
export class SlotPool {
  readonly #options: SlotPoolOptions;
  readonly #line = new PermitLine();
  readonly #running = { queues: new Map<TaskQueue, number>(), bands: { high: 0, normal: 0, low: 0 } } satisfies RunningTickets;
  #isRoundDue = false;
  #isClosed = false;
  #rounds: Promise<void> | undefined;
  #poll: NodeJS.Timeout | undefined;

  constructor(options: SlotPoolOptions) {
    this.#options = options;
  }

  /** Takes a permit at once, or null when the caller has to wait. */
  tryAcquire(queue: TaskQueue): Permit | null {
    const lease = this.#leaseOf(queue);
    if (this.#isClosed || this.#isWaitedFor(lease.kind) || lease.isContended || lease.spare <= 0) return null;
    return this.#roomFor(lease.kind) > 0 ? this.#take(queue, 'normal') : null;
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
    return this.#leaseOf(permit.queue).mayKeep(permit.lease) && !this.#isWaitedFor(kindOf(permit.queue));
  }

  /** Counts a permit by the ticket that it is used for. */
  noteTicket(permit: Permit, ticket: Pick<WaitingTicket, 'priority' | 'madeAt'>): void {
    const band = bandOf(ticket, this.#options.policy, Date.now());
    this.#count(permit, -1);
    permit.band = band;
    this.#count(permit, 1);
  }

  release(permit: Permit): void {
    const lease = this.#leaseOf(permit.queue);
    this.#count(permit, -1);
    lease.release(permit.lease);
    if (this.#line.length > 0 || lease.isContended) this.#startRound();
  }

  /** Another worker, or work of the other kind, waits for a permit of kind `wanted`, which those of kind `held` are to make room for. */
  noteContention(held: PermitKind, wanted: PermitKind): void {
    for (const lease of this.#options.leases) {
      if (lease.kind === held && lease.noteContention(wanted) && lease.spare > 0) this.#startRound();
    }
  }

  /** The fleet may have room now. */
  wake(kind: PermitKind): void {
    for (const lease of this.#options.leases) if (lease.kind === kind) lease.expectRoom();
    this.#startRound();
  }

  /** Extends the leases. */
  renew(): void {
    for (const lease of this.#options.leases) lease.planRenewal();
    this.#startRound();
  }

  /** Ends all waits and gives no permit any more. Resolves when no call is under way. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#poll);
    this.#line.close();
    await this.#rounds;
  }

  #leaseOf(queue: TaskQueue): PermitLease {
    const lease = this.#options.leases.find(({ kind }) => kind === kindOf(queue));
    if (!lease) throw new Error(`This worker has no slots for the queue "${queue}"`);
    return lease;
  }

  #roomFor(kind: PermitKind): number {
    return roomFor(kind, this.#running, this.#options.policy);
  }

  /** Whether somebody waits who may be before a ticket of this kind. */
  #isWaitedFor(kind: PermitKind): boolean {
    return kind === 'critical' ? this.#line.of('critical').length > 0 : this.#line.length > 0;
  }

  #take(queue: TaskQueue, band: Band): Permit {
    const permit = { queue, lease: this.#leaseOf(queue).take(), band };
    this.#count(permit, 1);
    return permit;
  }

  readonly #takeFor = ({ request, next }: Waiter): Permit =>
    this.#take(request.queue, next ? bandOf(next, this.#options.policy, Date.now()) : 'normal');

  #count({ queue, band }: Permit, change: 1 | -1): void {
    const { queues, bands } = this.#running;
    queues.set(queue, (queues.get(queue) ?? 0) + change);
    if (kindOf(queue) === 'ordinary') bands[band] += change;
  }

  #startRound(): void {
    this.#isRoundDue = true;
    if (this.#isClosed) return;
    this.#rounds ??= this.#runRounds().finally(() => {
      this.#rounds = undefined;
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
    for (const lease of this.#options.leases) if (await lease.report(this.#wantedBy(lease.kind).length)) this.#isRoundDue = true;
    if (this.#coversAll) {
      for (const waiter of this.#line.all()) this.#line.grant(waiter, this.#takeFor);
      return;
    }
    await this.#line.readNext(this.#waitersToRead());
    await this.#askFleet();
    this.#grantBest();
    this.#wakeOthers();
  }

  /** Takers of a kind that a free slot could serve, as many as there are slots. */
  #wantedBy(kind: PermitKind): Waiter[] {
    return this.#line.of(kind).slice(0, this.#roomFor(kind));
  }

  /** Whether each taker that waits can have a slot and a permit at once, so that no order matters. */
  get #coversAll(): boolean {
    const { leases, policy } = this.#options;
    const isCovered = leases.every((lease) => lease.covers(this.#line.of(lease.kind).length));
    return (
      isCovered &&
      this.#line.of('ordinary').length <= this.#roomFor('ordinary') &&
      this.#line.length <= roomFor('critical', this.#running, policy)
    );
  }

  /** Takers whose next tickets decide now who goes first, and new ones: their queue may be empty, or another worker may have room. */
  #waitersToRead(): Waiter[] {
    return this.#options.leases.flatMap((lease) => {
      const waiters = this.#line.of(lease.kind);
      if (this.#roomFor(lease.kind) <= 0) return waiters.filter(({ next }) => next === null);
      return lease.isAnswerDue ? [] : waiters;
    });
  }

  /** Asks for the permits that known tickets need. */
  async #askFleet(): Promise<void> {
    for (const lease of this.#options.leases) {
      const known = this.#known(lease.kind);
      const first = this.#choose(known);
      if (first !== null && lease.isAnswerDue) continue;
      const isDue =
        first === null
          ? await lease.report(this.#wantedBy(lease.kind).length)
          : await lease.ask(Math.min(known.length, this.#roomFor(lease.kind)), first.rank);
      if (isDue) this.#isRoundDue = true;
    }
  }

  /** Gives slots to known tickets as long as there are slots and permits. */
  #grantBest(): void {
    for (;;) {
      const chosen = this.#choose(this.#options.leases.flatMap((lease) => (lease.spare > 0 ? this.#known(lease.kind) : [])));
      if (chosen === null) return;
      this.#line.grant(chosen.waiter, this.#takeFor);
    }
  }

  #known(kind: PermitKind): KnownTicket[] {
    return this.#line.of(kind).flatMap((waiter) => (waiter.next ? [{ ...waiter.next, waiter }] : []));
  }

  #choose(known: readonly KnownTicket[]): KnownTicket | null {
    return chooseNext(known, this.#running, this.#options.policy, Date.now());
  }

  /** A taker of a full worker took the wake-up of its ticket from those with free slots. */
  #wakeOthers(): void {
    for (const waiter of this.#line.all()) {
      if (waiter.isOffered || waiter.next === null || this.#roomFor(kindOf(waiter.request.queue)) > 0) continue;
      waiter.isOffered = true;
      void waiter.request.wakeAnother();
    }
  }

  #planPoll(): void {
    const { leases, pollMs } = this.#options;
    if (this.#isClosed || (this.#line.length === 0 && !leases.some(({ isRegistered }) => isRegistered))) return;
    this.#poll ??= setTimeout(() => {
      this.#poll = undefined;
      for (const { kind } of leases) this.wake(kind);
    }, pollMs);
  }
}

interface KnownTicket extends WaitingTicket {
  waiter: Waiter;
}
