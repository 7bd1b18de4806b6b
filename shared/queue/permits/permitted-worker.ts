import { type Job, Worker } from 'bullmq';
import type { Permit, PermitPool } from './permit-pool.ts';

/** What a worker of tickets needs to know of the fleet's cap. */
export interface TakerPermits {
  pool: PermitPool;
  /** The rank of the queue's next ticket; null when it has none. */
  head: () => Promise<string | null>;
}

/**
 * PermittedWorker is responsible for taking a ticket from BullMQ only under a permit, so that tickets that cannot run stay in their
 * queue, in order. BullMQ's own loop does the rest.
 */
export class PermittedWorker<Data, Result> extends Worker<Data, Result> {
  #taker: TakerPermits | undefined;
  /** Ends a wait for a permit. */
  #end = new AbortController();
  /** By the token that BullMQ takes a ticket under. */
  readonly #permits = new Map<string, Permit>();
  /** Tokens whose permit is kept for the next ticket. */
  readonly #kept = new Set<string>();
  #isHeldBack = false;

  /** Sets what holds it back. Call it before `run`. */
  takeUnder(taker: TakerPermits): void {
    this.#taker = taker;
  }

  /** Whether it waits for a permit, with a ticket in its queue. */
  get isHeldBack(): boolean {
    return this.#isHeldBack;
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
    if (this.#taker && !this.#kept.has(token) && !(await this.#enter(this.#taker, token))) return job;
    try {
      job = await super.moveToActive(token, name);
      return job;
    } finally {
      if (!job) this.#leave(token);
    }
  }

  override async processJob(
    job: Job<Data, Result>,
    token: string,
    mayTakeNext: () => boolean = () => true,
  ): Promise<void | Job<Data, Result>> {
    this.#kept.delete(token);
    let next: void | Job<Data, Result> = undefined;
    try {
      next = await super.processJob(job, token, () => mayTakeNext() && this.#mayKeep(token));
      return next;
    } finally {
      if (!next) this.#leave(token);
    }
  }

  async #enter({ pool, head }: TakerPermits, token: string): Promise<boolean> {
    const permit = pool.tryEnter();
    const entry = permit ?? (await this.#wait(pool, head));
    if (typeof entry === 'string') return false;
    this.#permits.set(token, entry);
    return true;
  }

  /**
   * Waits as for an empty queue: by `waiting` BullMQ's loop knows to go on with the tickets that it has, by `drained` to wait until there
   * is a ticket, by `limitUntil` that no limit of its own holds it back.
   */
  async #wait(pool: PermitPool, head: TakerPermits['head']): Promise<Permit | 'empty' | 'closed'> {
    const entering = pool.enter({ head, signal: this.#end.signal });
    Reflect.set(this, 'waiting', entering);
    this.#isHeldBack = true;
    try {
      const entry = await entering;
      if (entry === 'empty') Object.assign(this, { drained: true, limitUntil: 0 });
      return entry;
    } finally {
      this.#isHeldBack = false;
      Reflect.set(this, 'waiting', null);
    }
  }

  #endWait(): void {
    this.#end.abort();
    this.#end = new AbortController();
  }

  #mayKeep(token: string): boolean {
    const permit = this.#permits.get(token);
    if (!this.#taker) return true;
    if (!permit || !this.#taker.pool.mayKeep(permit)) return false;
    this.#kept.add(token);
    return true;
  }

  #leave(token: string): void {
    const permit = this.#permits.get(token);
    this.#kept.delete(token);
    this.#permits.delete(token);
    if (permit) this.#taker?.pool.leave(permit);
  }
}
