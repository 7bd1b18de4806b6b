import type { TaskQueue } from '../../config/index.ts';
import type { WaitingTicket } from './choose-next.ts';
import { kindOf, type PermitKind } from './lease-permits.ts';
import type { PermitLease } from './permit-lease.ts';
import { type Permit, PermitLine, type PermitRequest, type PermitResult, type Waiter } from './permit-line.ts';
import type { RunningSlots } from './running-slots.ts';

interface SlotPoolOptions {
  slots: RunningSlots;
  /** For each kind of tickets that the worker serves. */
  leases: readonly PermitLease[];
  /** Between two rounds while takers wait, ms: makes up for a message that was lost, and for a next ticket that changed. */
  pollMs: number;
}

interface KnownTicket extends WaitingTicket {
  waiter: Waiter;
}

/**
 * SlotPool is responsible for one worker's slots: every queue may use each of them, and a ticket is taken only with a free slot and a permit
 * of the fleet. While nobody waits, both go from one ticket to the next without a call to Redis.
 */
export class SlotPool {
  readonly #options: SlotPoolOptions;
  readonly #line = new PermitLine();
  #isRoundDue = false;
  /** Free slots were not given to low tickets, since others may come first. */
  #isLowHeldBack = false;
  #isClosed = false;
  #rounds: Promise<void> | undefined;
  #poll: NodeJS.Timeout | undefined;

  constructor(options: SlotPoolOptions) {
    this.#options = options;
  }

  /** Takes a permit at once, or null when the caller has to wait. */
  tryAcquire(queue: TaskQueue): Permit | null {
    const { slots } = this.#options;
    const lease = this.#leaseOf(queue);
    if (this.#isClosed || this.#isWaitedFor(lease.kind) || slots.mayHoldBack(queue, 0)) return null;
    return lease.covers(1) && slots.roomFor(lease.kind) > 0 ? slots.take(queue, lease.take(), null) : null;
  }

  /** Waits for a permit. */
  async acquire(request: PermitRequest): Promise<PermitResult> {
    if (this.#isClosed || request.signal.aborted) return 'closed';
    const result = this.#line.wait(request);
    this.#startRound();
    return await result;
  }

  /** Whether the holder of a permit may take the next ticket of its queue with it: nobody waits, or those that do would come later. */
  mayKeep(permit: Permit): boolean {
    const lease = this.#leaseOf(permit.queue);
    if (!lease.mayKeep(permit.lease)) return false;
    const { slots } = this.#options;
    if (!this.#isWaitedFor(lease.kind) && !slots.mayHoldBack(permit.queue, 0)) return true;
    const waiting = this.#line.all().flatMap(({ next }) => next ?? []);
    return waiting.length === this.#line.length && slots.keepsSlot(permit, waiting);
  }

  /** Counts a permit by the ticket that it is used for. */
  noteTicket(permit: Permit, ticket: WaitingTicket): void {
    const { slots } = this.#options;
    slots.noteTicket(permit, ticket);
    if (this.#isLowHeldBack && !slots.isFetching) this.#startRound();
  }

  release(permit: Permit): void {
    const lease = this.#leaseOf(permit.queue);
    this.#options.slots.release(permit);
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

  /** Whether somebody waits who may be before a ticket of this kind. */
  #isWaitedFor(kind: PermitKind): boolean {
    return kind === 'critical' ? this.#line.of('critical').length > 0 : this.#line.length > 0;
  }

  readonly #takeFor = ({ request: { queue }, next }: Waiter): Permit => this.#options.slots.take(queue, this.#leaseOf(queue).take(), next);

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
    for (const lease of this.#options.leases) if (await lease.report(this.#wanted(lease.kind))) this.#isRoundDue = true;
    if (this.#coversAll) {
      for (const waiter of this.#line.all()) this.#line.grant(waiter, this.#takeFor);
      return;
    }
    await this.#line.readNext(this.#waitersToRead());
    await this.#askFleet();
    this.#grantBest();
    this.#wakeOthers();
  }

  /** How many takers of a kind a free slot could serve. */
  #wanted(kind: PermitKind): number {
    return Math.min(this.#line.of(kind).length, this.#options.slots.roomFor(kind));
  }

  /** Whether each taker that waits can have a slot and a permit at once, so that no order matters. */
  get #coversAll(): boolean {
    const { leases, slots } = this.#options;
    const all = this.#line.all();
    const isCovered = leases.every((lease) => lease.covers(this.#line.of(lease.kind).length));
    const hasRoom = this.#line.of('ordinary').length <= slots.roomFor('ordinary') && all.length <= slots.roomFor('critical');
    return isCovered && hasRoom && !all.some(({ request }) => slots.mayHoldBack(request.queue, all.length - 1));
  }

  /**
   * Takers whose next tickets are to be read: new ones, those that compete with other workers, and others now and then, since their queues
   * may have a better ticket or none by now.
   */
  #waitersToRead(): Waiter[] {
    const { leases, slots, pollMs } = this.#options;
    const now = performance.now();
    const isOld = ({ next, readAt }: Waiter): boolean => next === null || now - readAt >= pollMs;
    return leases.flatMap((lease) => {
      const waiters = this.#line.of(lease.kind);
      if (slots.roomFor(lease.kind) <= 0 || lease.covers(1)) return waiters.filter(isOld);
      return lease.isAnswerDue ? [] : waiters;
    });
  }

  /** Asks for the permits that known tickets need. */
  async #askFleet(): Promise<void> {
    const { leases, slots } = this.#options;
    for (const lease of leases) {
      const known = this.#known(lease.kind);
      const first = slots.choose(known);
      if (first !== null && lease.isAnswerDue) continue;
      const isDue =
        first === null
          ? await lease.report(this.#wanted(lease.kind))
          : await lease.ask(Math.min(known.length, slots.roomFor(lease.kind)), first.rank);
      if (isDue) this.#isRoundDue = true;
    }
  }

  /** Gives slots to known tickets as long as there are slots and permits. */
  #grantBest(): void {
    const { leases, slots } = this.#options;
    for (;;) {
      const candidates = leases.flatMap((lease) => (lease.spare > 0 ? this.#known(lease.kind) : []));
      const chosen = slots.choose(candidates);
      this.#isLowHeldBack = chosen === null && candidates.length > 0 && slots.roomFor('ordinary') > 0;
      if (chosen === null) return;
      this.#line.grant(chosen.waiter, this.#takeFor);
    }
  }

  #known(kind: PermitKind): KnownTicket[] {
    return this.#line.of(kind).flatMap((waiter) => (waiter.next ? [{ ...waiter.next, waiter }] : []));
  }

  /** A taker of a full worker took the wake-up of its ticket from those with free slots. */
  #wakeOthers(): void {
    for (const waiter of this.#line.all()) {
      if (waiter.isOffered || waiter.next === null || this.#options.slots.roomFor(kindOf(waiter.request.queue)) > 0) continue;
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
