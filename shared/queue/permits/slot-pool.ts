import type { TaskQueue } from '../../config/index.ts';
import type { DispatchLimit, SharedSlots } from '../../ledger/index.ts';
import { PRIORITY_NAMES } from '../../tasks/index.ts';
import type { WaitingTicket } from './choose-next.ts';
import { kindOf, type PermitKind } from './lease-permits.ts';
import { leaseFor, type PermitLease } from './permit-lease.ts';
import { FIRST_RANK } from './next-ticket.ts';
import { type Permit, PermitLine, type PermitRequest, type PermitResult } from './permit-line.ts';
import { PermitRound } from './permit-round.ts';
import { RoundLoop } from './round-loop.ts';
import type { RunningSlots } from './running-slots.ts';

interface SlotPoolOptions {
  slots: RunningSlots;
  /** For each kind of tickets that the worker serves. */
  leases: readonly PermitLease[];
  /** Between two rounds while takers wait, ms: for lost messages, and for a next ticket that changed. */
  pollMs: number;
}

/** How long slots take it that other queues have ready tickets once one of them has got such a ticket. */
const READY_MS = 1000;

/**
 * SlotPool is responsible for one worker's slots: every queue may use each of them, and a ticket is taken only with a free slot and a permit
 * of the fleet. While no taker waits, both go from one ticket to the next without a call to Redis.
 */
export class SlotPool {
  readonly #options: SlotPoolOptions;
  readonly #line = new PermitLine();
  readonly #round: PermitRound;
  /** Permits whose tickets are ending, for which the next tickets have been asked. */
  readonly #ending = new Set<Permit>();
  /** Permits that go on to the next ticket of their takers: what is known of that is outdated then. */
  readonly #continuing = new Set<Permit>();
  readonly #loop: RoundLoop;
  readonly #shared = new Map<PermitKind, SharedSlots>();
  #readyUntil = 0;

  constructor(options: SlotPoolOptions) {
    this.#options = options;
    this.#round = new PermitRound({ ...options, line: this.#line });
    this.#loop = new RoundLoop({
      run: () => this.#round.run(),
      pollMs: options.pollMs,
      needsPoll: () => this.#line.length > 0 || options.leases.some(({ isRegistered }) => isRegistered),
      poll: () => {
        for (const { kind } of options.leases) this.wake(kind);
      },
    });
  }

  /** Takes a permit at once, or null when the caller has to wait. */
  tryAcquire(request: Pick<PermitRequest, 'queue' | 'taker'>): Permit | null {
    const { slots, leases } = this.#options;
    const lease = leaseFor(leases, request.queue);
    if (this.#loop.isClosed || this.#line.isWaitedFor(lease.kind) || slots.mayHoldBack(request.queue, 0)) return null;
    if (!lease.covers(1) || slots.roomFor(lease.kind) <= 0) return null;
    const permit = slots.take(request, lease.take(), null);
    if (lease.isReportDue) this.#loop.start();
    return permit;
  }

  /**
   * Counts an attempt that runs already: it uses a slot and a permit, whether they are free or not, so that nothing starts in their place.
   * `from`: the worker that counted it before, whose permit it takes over. Returns what releases them.
   */
  adopt(queue: TaskQueue, from: string | null): () => void {
    const { slots, leases } = this.#options;
    const lease = leaseFor(leases, queue);
    const permit = slots.take({ queue, taker: 'adopted' }, lease.adopt(from), null);
    slots.noteTicket(permit, { queue, priority: PRIORITY_NAMES.normal, madeAt: Date.now(), rank: FIRST_RANK });
    this.#loop.start();
    return () => {
      slots.release(permit);
      lease.releaseAdopted();
      this.#line.invalidate();
      this.#loop.start();
    };
  }

  /** An attempt of this worker goes on elsewhere: its permit stays in use until it is taken over there. */
  leave(queue: TaskQueue): void {
    leaseFor(this.#options.leases, queue).leave();
  }

  /** Waits for a permit. */
  async acquire(request: PermitRequest): Promise<PermitResult> {
    if (this.#loop.isClosed || request.signal.aborted) return 'closed';
    const result = this.#line.wait(request);
    // Other workers take tickets meanwhile.
    if (leaseFor(this.#options.leases, request.queue).isContended) this.#line.invalidate();
    this.#loop.start();
    return await result;
  }

  /** Whether the holder of a permit may take the next ticket of its queue with it: no taker waits, or every waiting one comes later. */
  mayKeep(permit: Permit): boolean {
    const lease = leaseFor(this.#options.leases, permit.queue);
    const { slots } = this.#options;
    this.#ending.delete(permit);
    this.#noteContinued(permit);
    const isKept = lease.mayKeep(permit.lease);
    if (isKept && !this.#line.isWaitedFor(lease.kind) && !slots.mayHoldBack(permit.queue, 0)) return true;
    const waiters = this.#line.all();
    const isOnly = waiters.every(({ request, next }) => next !== null && request.taker === permit.taker);
    if (isKept && (isOnly || (this.#line.isFresh && !this.#isTakenFrom(permit.taker)))) {
      const keeps = slots.keepsSlot(
        permit,
        waiters.flatMap(({ next, request: { taker } }) => (next ? [{ ...next, taker }] : [])),
      );
      if (keeps) this.#continuing.add(permit);
      return keeps;
    }
    // What comes next is read while BullMQ ends the ticket that has the slot.
    this.#ending.add(permit);
    this.#line.invalidate();
    if (waiters.length > 0) this.#loop.start();
    return false;
  }

  /** Whether some slot is about to take the next ticket of this taker. */
  #isTakenFrom(taker: string): boolean {
    return [...this.#continuing].some((each) => each.taker === taker);
  }

  #noteContinued(permit: Permit): void {
    if (this.#continuing.delete(permit)) void this.#line.noteTaken(permit.taker);
  }

  /**
   * Whether the holder of a permit whose ticket has ended may let the ledger choose its next one among all queues of this worker. No taker has
   * to be compared then: what they wait for is in the ledger, too.
   */
  mayHandOver(permit: Permit): boolean {
    this.#ending.delete(permit);
    if (!leaseFor(this.#options.leases, permit.queue).mayHandOver(permit.lease)) return false;
    this.#options.slots.handOver(permit);
    return true;
  }

  /** What else runs in the slots, for the ledger to choose a next ticket by. */
  sharedSlots(queue: TaskQueue): SharedSlots {
    const lease = leaseFor(this.#options.leases, queue);
    const kind = kindOf(queue);
    let shared = this.#shared.get(kind);
    if (!shared) {
      shared = { kind, figures: () => ({ ...this.#options.slots.figuresFor(kind), idle: this.#startable(lease) }) };
      this.#shared.set(kind, shared);
    }
    return shared;
  }

  /** Idle slots whose tickets could start at once: no taker waits, and the fleet has granted the permits. */
  #startable(lease: PermitLease): number {
    if (this.#loop.isClosed || lease.isContended || this.#line.length > 0) return 0;
    return Math.max(0, Math.min(this.#options.slots.roomFor(lease.kind), lease.spare));
  }

  /** Tickets of several queues are ready: slots ask the ledger before BullMQ for a while. */
  noteReady(): void {
    this.#readyUntil = performance.now() + READY_MS;
  }

  /** Slots that nothing uses. */
  get free(): number {
    return this.#options.slots.roomFor('critical');
  }

  /**
   * What may go to BullMQ for idle slots, after a queue had nothing there; null for nothing: the fleet has no permit for them, or takers wait,
   * whose tickets are in BullMQ.
   */
  idleFor(queue: TaskQueue): DispatchLimit | null {
    const kind = kindOf(queue);
    if (this.#line.isWaitedFor(kind) || leaseFor(this.#options.leases, queue).isRefused) return null;
    const max = this.#options.slots.roomFor(kind);
    if (max === 0) return null;
    return kind === 'critical' ? { max, only: 'critical' } : { max };
  }

  /** The same for a worker that looks by itself: one ticket of each queue wakes its takers, which go on. */
  get idle(): DispatchLimit | null {
    const kinds = this.#options.leases.map(({ kind }) => this.idleFor(kind === 'critical' ? 'critical' : 'tasks'));
    const idle = kinds.find((each) => each !== null && each.only === undefined) ?? kinds.find((each) => each !== null);
    return idle ? { ...idle, max: 1 } : null;
  }

  /** Whether takers of other queues or other workers wait for what a queue of this worker uses. */
  isShared(queue: TaskQueue): boolean {
    if (performance.now() < this.#readyUntil) return true;
    return leaseFor(this.#options.leases, queue).isContended || this.#line.all().some(({ request }) => request.queue !== queue);
  }

  /** Counts a permit by the ticket that it is used for. */
  noteTicket(permit: Permit, ticket: WaitingTicket): void {
    const { slots } = this.#options;
    slots.noteTicket(permit, ticket);
    this.#noteContinued(permit);
    if (this.#round.isLowHeldBack && !slots.isFetching) this.#loop.start();
  }

  release(permit: Permit): void {
    const lease = leaseFor(this.#options.leases, permit.queue);
    this.#options.slots.release(permit);
    lease.release(permit.lease);
    this.#noteContinued(permit);
    if (!this.#ending.delete(permit) && (lease.isContended || !this.#line.isFresh)) this.#line.invalidate();
    if (this.#line.length > 0 || lease.isContended) this.#loop.start();
  }

  /**
   * Another worker, or work of the other kind, waits for a permit of kind `wanted`, which those of kind `held` are to make room for. `queues`:
   * what that worker serves, where it says so.
   */
  noteContention(held: PermitKind, wanted: PermitKind, queues?: readonly string[]): void {
    for (const lease of this.#options.leases) {
      if (lease.kind === held && lease.noteContention(wanted, queues) && lease.spare > 0) this.#loop.start();
    }
  }

  /** The fleet may have room now. */
  wake(kind: PermitKind): void {
    for (const lease of this.#options.leases) if (lease.kind === kind) lease.expectRoom();
    this.#line.invalidate();
    this.#loop.start();
  }

  /** Extends the leases. */
  renew(): void {
    for (const lease of this.#options.leases) lease.planRenewal();
    this.#loop.start();
  }

  /** Ends all waits and gives no permit any more. Resolves when no call is under way. */
  async close(): Promise<void> {
    const closing = this.#loop.close();
    this.#line.close();
    await closing;
  }
}
