import { type Job, Worker } from 'bullmq';
import type { TaskQueue } from '../../config/index.ts';
import type { TicketQueue } from '../queues.ts';
import type { WaitingTicket } from './choose-next.ts';
import { readNextTicket, ticketOf, wakePoller } from './next-ticket.ts';
import type { Permit, PermitRequest } from './permit-line.ts';
import { OvertakenError, type ReadySource } from './ready-source.ts';
import type { SlotPool } from './slot-pool.ts';

/** Where the taker of a queue's tickets gets its slots and permits. */
export interface TicketPermits extends Omit<PermitRequest, 'signal'> {
  pool: SlotPool;
}

/** Polls of BullMQ for a ticket that goes first and is not there: another slot has just taken it. */
const MAX_MISSES = 3;

interface TakerParts {
  pool: SlotPool;
  tickets: TicketQueue;
}

/** Where the taker of this queue's tickets gets its slots and permits. */
export function permitsFor(queue: TaskQueue, { pool, tickets }: TakerParts): TicketPermits {
  return {
    pool,
    queue,
    taker: tickets.qualifiedName,
    readNext: () => readNextTicket(tickets, queue),
    // Without it the others poll after `consumers.pollMs`.
    wakeAnother: () => wakePoller(tickets).catch(() => undefined),
  };
}

/**
 * PermittedWorker is responsible for claiming a ticket from BullMQ only with a permit, so that tickets that cannot run stay in their
 * queue, in order. BullMQ's own loop does the rest.
 */
export class PermittedWorker<Data, Result> extends Worker<Data, Result> {
  #source: TicketPermits | undefined;
  #ready: ReadySource | undefined;
  #wait = new AbortController();
  /** By the token that BullMQ claims a ticket with. */
  readonly #permits = new Map<string, Permit>();
  /** Tokens whose permit is kept for the next ticket. */
  readonly #kept = new Set<string>();
  /** Tokens whose ticket is back in BullMQ for a better one that is ready: the next from there would be the same. */
  readonly #overtaken = new Set<string>();
  #isWaiting = false;

  /** From now on each ticket needs a permit. Call it before `run`. */
  requirePermits(source: TicketPermits): void {
    this.#source = source;
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
    if (this.#source && !this.#kept.has(token) && !(await this.#acquire(this.#source, token))) {
      this.#fill(false);
      return job;
    }
    try {
      job = await super.moveToActive(token, name);
      return job;
    } finally {
      if (!job) this.#release(token);
      if (!job) this.#fill();
    }
  }

  override async processJob(
    job: Job<Data, Result>,
    token: string,
    mayTakeNext: () => boolean = () => true,
  ): Promise<void | Job<Data, Result>> {
    const permit = this.#permits.get(token);
    if (permit && this.#source) this.#noteTicket(token, ticketOf(this.#source.queue, job));
    let next: void | Job<Data, Result> = undefined;
    try {
      const mayFetch = (): boolean => !this.#overtaken.delete(token) && mayTakeNext() && !this.#asksFirst() && this.#mayKeep(token);
      next = await super.processJob(job, token, mayFetch);
      if (!next && this.#ready) next = await this.#runReady(this.#ready, token, mayTakeNext);
      return next;
    } finally {
      if (!next) {
        this.#release(token);
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
      const taken = await ready.take(this.#permits.get(token)?.queue, ended);
      // One of another queue in BullMQ is for the taker of that queue.
      if (taken === null || (typeof taken === 'string' && taken !== this.name)) return;
      if (typeof taken === 'string') {
        misses += 1;
        const job: Job<Data, Result> | undefined = await super.moveToActive(token, '');
        if (job) return job;
      } else {
        misses = 0;
        this.#noteTicket(token, taken.ticket);
        ended = await taken.run();
      }
    }
  }

  get #isOpen(): boolean {
    return !this.closing && !this.paused;
  }

  /** Whether the ledger chooses the next ticket, because several queues have some. */
  #asksFirst(): boolean {
    return this.#ready?.isPooled === true && this.#source?.pool.isShared(this.#source.queue) === true;
  }

  /** What is ready goes to BullMQ for slots that are idle. `hadPermit`: else it is not known whether the fleet has one. */
  #fill(hadPermit = true): void {
    if (!this.#ready?.isPooled || !this.#source) {
      this.#ready?.fill({ max: Math.max(1, this.#source?.pool.free ?? 1) });
      return;
    }
    const idle = this.#source.pool.idleFor(this.#source.queue);
    if (idle) this.#ready.fill(hadPermit ? idle : { ...idle, max: 1 });
  }

  #noteTicket(token: string, ticket: WaitingTicket): void {
    this.#kept.delete(token);
    const permit = this.#permits.get(token);
    if (permit) this.#source?.pool.noteTicket(permit, ticket);
  }

  async #acquire(source: TicketPermits, token: string): Promise<boolean> {
    const permit = source.pool.tryAcquire(source) ?? (await this.#waitForPermit(source));
    if (permit === null) return false;
    this.#permits.set(token, permit);
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
    const permit = this.#permits.get(token);
    if (!this.#source) return true;
    if (!permit || !this.#source.pool.mayKeep(permit)) return false;
    this.#kept.add(token);
    return true;
  }

  #mayHandOver(token: string): boolean {
    const permit = this.#permits.get(token);
    if (!this.#source) return true;
    if (!permit || !this.#source.pool.mayHandOver(permit)) return false;
    this.#kept.add(token);
    return true;
  }

  #release(token: string): void {
    const permit = this.#permits.get(token);
    this.#kept.delete(token);
    this.#permits.delete(token);
    if (permit) this.#source?.pool.release(permit);
  }
}
