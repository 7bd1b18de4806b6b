import { type Job, Worker } from 'bullmq';
import { HeldPermits } from './held-permits.ts';
import type { Permit } from './permit-line.ts';
import { OvertakenError, type ReadySource } from './ready-source.ts';
import { ReadySlots } from './ready-slots.ts';
import type { TicketPermits } from './ticket-permits.ts';

/** A slot whose ticket from BullMQ is being processed. */
interface ProcessingSlot<Ticket> {
  mayTakeNext: () => boolean;
  /** What it runs after that, until its next ticket from BullMQ: begun before BullMQ completed the last one. */
  continued?: Promise<void | Ticket>;
}

/**
 * PermittedWorker is responsible for claiming a ticket from BullMQ only with a permit, so that tickets that cannot run stay in their
 * queue, in order. BullMQ's own loop does the rest.
 */
export class PermittedWorker<Data, Result> extends Worker<Data, Result> {
  #ready: ReadySlots | undefined;
  #wait = new AbortController();
  /** Undefined while tickets need no permit. */
  #held: HeldPermits | undefined;
  /** Tokens whose ticket is back in BullMQ for a better one that is ready: the next from there would be the same. */
  readonly #overtaken = new Set<string>();
  /** By token. */
  readonly #slots = new Map<string, ProcessingSlot<Job<Data, Result>>>();
  /** Whether BullMQ had nothing the last time a slot asked it for its next ticket: what comes next is granted by what ends. */
  #isDry = false;
  #isWaiting = false;

  /** From now on each ticket needs a permit. Call it before `run`. */
  requirePermits(source: TicketPermits): void {
    this.#held = new HeldPermits(source);
  }

  /** From now on a slot whose queue has no next ticket in BullMQ takes a ready one. Call it before `run`. */
  takeReady(ready: ReadySource): void {
    this.#ready = new ReadySlots({ ready, queue: this.name, held: () => this.#held, isOpen: () => this.#isOpen });
  }

  /** Whether it waits for a permit, with a ticket in its queue. */
  get isWaitingForPermit(): boolean {
    return this.#isWaiting;
  }

  override async pause(doNotWaitActive?: boolean): Promise<void> {
    const pausing = super.pause(doNotWaitActive);
    this.#endWait();
    await pausing;
    if (!doNotWaitActive) await this.#ready?.hasEnded();
  }

  override async close(force?: boolean): Promise<void> {
    const closing = super.close(force);
    this.#endWait();
    await closing;
    if (!force) await this.#ready?.hasEnded();
  }

  protected override async moveToActive(token: string, name?: string): Promise<Job<Data, Result>> {
    // Undefined when there is no ticket: BullMQ's type leaves that out.
    let job!: Job<Data, Result>;
    if (this.#held && !this.#held.isKept(token) && !(await this.#acquire(this.#held, token))) {
      this.#ready?.fill(false);
      return job;
    }
    try {
      job = await super.moveToActive(token, name);
      return job;
    } finally {
      if (!job) this.#held?.release(token);
      if (!job) this.#ready?.fill();
    }
  }

  override async processJob(
    job: Job<Data, Result>,
    token: string,
    mayTakeNext: () => boolean = () => true,
  ): Promise<void | Job<Data, Result>> {
    this.#held?.noteJob(token, job);
    let next: void | Job<Data, Result> = undefined;
    const slot: ProcessingSlot<Job<Data, Result>> = { mayTakeNext };
    this.#slots.set(token, slot);
    let hasAsked = false;
    const mayFetch = (): boolean => {
      hasAsked = !this.#overtaken.delete(token) && !slot.continued && mayTakeNext() && !this.#asksFirst() && this.#mayKeep(token);
      return hasAsked;
    };
    try {
      next = await super.processJob(job, token, mayFetch);
      if (hasAsked) this.#isDry = !next;
      if (!next && this.#ready) next = await (slot.continued ?? this.#runReady(this.#ready, token, slot));
      return next;
    } finally {
      // It has the permit, also when BullMQ could not complete the ticket.
      await slot.continued?.catch(() => undefined);
      this.#slots.delete(token);
      if (!next) this.#release(token);
    }
  }

  #release(token: string): void {
    this.#held?.release(token);
    // Takers of other queues wait for BullMQ too, and its slot is theirs now.
    this.#ready?.fill();
  }

  protected override async callProcessJob(job: Job<Data, Result>, token: string, signal?: AbortSignal): Promise<Result> {
    try {
      const result = await super.callProcessJob(job, token, signal);
      this.#continue(job, token);
      return result;
    } catch (error) {
      if (error instanceof OvertakenError) this.#overtaken.add(token);
      throw error;
    }
  }

  /** Takes the slot's next ticket in the round trip that settles its last task, while BullMQ completes the ticket of that. */
  #continue(job: Job<Data, Result>, token: string): void {
    const slot = this.#slots.get(token);
    if (!slot || !this.#ready || !this.#asksFirst()) return;
    const ended = this.#ready.endedOf(job);
    slot.continued = this.#runReady(this.#ready, token, { mayTakeNext: slot.mayTakeNext, ended, isContinued: true });
    // Whoever waits for it gets its error; until then nobody does.
    slot.continued.catch(() => undefined);
  }

  async #runReady(
    ready: ReadySlots,
    token: string,
    { mayTakeNext, ended, isContinued = false }: ProcessingSlot<unknown> & { ended?: string | undefined; isContinued?: boolean },
  ): Promise<void | Job<Data, Result>> {
    const mayGoOn = (): boolean => mayTakeNext() && (ready.isPooled ? this.#mayHandOver(token) : this.#mayKeep(token));
    const fetch = async (): Promise<Job<Data, Result> | undefined> => {
      const next = (await super.moveToActive(token, '')) as Job<Data, Result> | undefined;
      // Not one that the end of this slot's task has just granted.
      if (next && isContinued) this.#isDry = false;
      return next;
    };
    return await ready.run({ token, mayGoOn, fetch, ended });
  }

  get #isOpen(): boolean {
    return !this.closing && !this.paused;
  }

  /** Whether the ledger chooses the next ticket, because several queues have some or BullMQ has none. */
  #asksFirst(): boolean {
    return this.#ready?.isPooled === true && (this.#isDry || this.#held?.isShared === true);
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
