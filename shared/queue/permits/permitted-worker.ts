import { type Job, Worker } from 'bullmq';
import { HeldPermits } from './held-permits.ts';
import type { Permit } from './permit-line.ts';
import { OvertakenError, type ReadySource } from './ready-source.ts';
import type { TicketPermits } from './ticket-permits.ts';

/** Polls of BullMQ for a ticket that goes first and is not there: another slot has just taken it. */
const MAX_MISSES = 3;

/**
 * PermittedWorker is responsible for claiming a ticket from BullMQ only with a permit, so that tickets that cannot run stay in their
 * queue, in order. BullMQ's own loop does the rest.
 */
export class PermittedWorker<Data, Result> extends Worker<Data, Result> {
  #ready: ReadySource | undefined;
  #wait = new AbortController();
  /** Undefined while tickets need no permit. */
  #held: HeldPermits | undefined;
  /** Tokens whose ticket is back in BullMQ for a better one that is ready: the next from there would be the same. */
  readonly #overtaken = new Set<string>();
  #isWaiting = false;

  /** From now on each ticket needs a permit. Call it before `run`. */
  requirePermits(source: TicketPermits): void {
    this.#held = new HeldPermits(source);
  }

  /** From now on a slot whose queue has no next ticket in BullMQ takes a ready one. Call it before `run`. */
  takeReady(ready: ReadySource): void {
    this.#ready = ready;
  }

  /** Whether it waits for a permit, with a ticket in its queue. */
  get isWaitingForPermit(): boolean {
    return this.#isWaiting;
  }

  override async pause(doNotWaitActive?: boolean): Promise<void> {
    const pausing = super.pause(doNotWaitActive);
    this.#endWait();
    await pausing;
  }

  override async close(force?: boolean): Promise<void> {
    const closing = super.close(force);
    this.#endWait();
    await closing;
  }

  protected override async moveToActive(token: string, name?: string): Promise<Job<Data, Result>> {
    // Undefined when there is no ticket: BullMQ's type leaves that out.
    let job!: Job<Data, Result>;
    if (this.#held && !this.#held.isKept(token) && !(await this.#acquire(this.#held, token))) {
      this.#fill(false);
      return job;
    }
    try {
      job = await super.moveToActive(token, name);
      return job;
    } finally {
      if (!job) this.#held?.release(token);
      if (!job) this.#fill();
    }
  }

  override async processJob(
    job: Job<Data, Result>,
    token: string,
    mayTakeNext: () => boolean = () => true,
  ): Promise<void | Job<Data, Result>> {
    this.#held?.noteJob(token, job);
    let next: void | Job<Data, Result> = undefined;
    try {
      const mayFetch = (): boolean => !this.#overtaken.delete(token) && mayTakeNext() && !this.#asksFirst() && this.#mayKeep(token);
      next = await super.processJob(job, token, mayFetch);
      if (!next && this.#ready) next = await this.#runReady(this.#ready, token, mayTakeNext);
      return next;
    } finally {
      if (!next) {
        this.#held?.release(token);
        // Takers of other queues wait for BullMQ too, and its slot is theirs now.
        this.#fill();
      }
    }
  }

  protected override async callProcessJob(job: Job<Data, Result>, token: string, signal?: AbortSignal): Promise<Result> {
    try {
      return await super.callProcessJob(job, token, signal);
    } catch (error) {
      if (error instanceof OvertakenError) this.#overtaken.add(token);
      throw error;
    }
  }

  /** Runs ready tickets in a slot, one after the other. Returns the next ticket from BullMQ, if the slot has one. */
  async #runReady(ready: ReadySource, token: string, mayTakeNext: () => boolean): Promise<void | Job<Data, Result>> {
    let misses = 0;
    let ended: string | undefined;
    const mayGoOn = (): boolean => mayTakeNext() && this.#isOpen && (ready.isPooled ? this.#mayHandOver(token) : this.#mayKeep(token));
    while (misses < MAX_MISSES && mayGoOn()) {
      const taken = await ready.take(this.#held?.queueOf(token), ended);
      // One of another queue in BullMQ is for the taker of that queue.
      if (taken === null || (typeof taken === 'string' && taken !== this.name)) return;
      if (typeof taken === 'string') {
        misses += 1;
        const job: Job<Data, Result> | undefined = await super.moveToActive(token, '');
        if (job) return job;
      } else {
        misses = 0;
        this.#held?.noteTicket(token, taken.ticket);
        ended = await taken.run();
      }
    }
  }

  get #isOpen(): boolean {
    return !this.closing && !this.paused;
  }

  /** Whether the ledger chooses the next ticket, because several queues have some. */
  #asksFirst(): boolean {
    return this.#ready?.isPooled === true && this.#held?.isShared === true;
  }

  /** What is ready goes to BullMQ for slots that are idle. `hadPermit`: else it is not known whether the fleet has one. */
  #fill(hadPermit = true): void {
    const held = this.#held;
    if (!this.#ready?.isPooled || !held) {
      this.#ready?.fill({ max: Math.max(1, held?.source.pool.free ?? 1) });
      return;
    }
    const idle = held.source.pool.idleFor(held.source.queue);
    if (idle) this.#ready.fill(hadPermit ? idle : { ...idle, max: 1 });
  }

  async #acquire(held: HeldPermits, token: string): Promise<boolean> {
    const permit = held.source.pool.tryAcquire(held.source) ?? (await this.#waitForPermit(held.source));
    if (permit === null) return false;
    held.add(token, permit);
    return true;
  }

  /**
   * Waits as for an empty queue: `waiting` makes BullMQ's loop go on with the tickets that it has, `drained` makes it wait for the next
   * ticket, and `limitUntil` lifts its own limit. Null when there is no ticket or the wait ended.
   */
  async #waitForPermit({ pool, ...request }: TicketPermits): Promise<Permit | null> {
    const acquiring = pool.acquire({ ...request, signal: this.#wait.signal });
    Reflect.set(this, 'waiting', acquiring);
    this.#isWaiting = true;
    try {
      const result = await acquiring;
      if (result === 'empty') Object.assign(this, { drained: true, limitUntil: 0 });
      return typeof result === 'string' ? null : result;
    } finally {
      this.#isWaiting = false;
      Reflect.set(this, 'waiting', null);
    }
  }

  #endWait(): void {
    this.#wait.abort();
    this.#wait = new AbortController();
  }

  #mayKeep(token: string): boolean {
    return this.#held?.mayKeep(token) ?? true;
  }

  #mayHandOver(token: string): boolean {
    return this.#held?.mayHandOver(token) ?? true;
  }
}
