import type { DispatchLimit } from '../../ledger/index.ts';
import type { HeldPermits } from './held-permits.ts';
import type { ReadySource, ReadyTicket } from './ready-source.ts';

interface ReadySlotsOptions {
  ready: ReadySource;
  /** The queue whose tickets the slots get from BullMQ. */
  queue: string;
  /** Undefined while tickets need no permit. */
  held: () => HeldPermits | undefined;
  /** Whether more tickets are to be taken. */
  isOpen: () => boolean;
}

/** A slot that is free now, with its permit. */
interface Slot<Ticket> {
  /** The name under which its permit is held. */
  token: string;
  mayGoOn: () => boolean;
  /** Polls BullMQ, which has the ticket that goes first; without it the slot becomes free then. */
  fetch?: () => Promise<Ticket | undefined>;
  /** Called for each ready ticket that it runs. */
  onTaken?: () => void;
  /** The lease that its last attempt had, when the settlement of that may still be under way. */
  ended?: string | undefined;
}

/** Polls of BullMQ for a ticket that goes first and is not there: another slot has just taken it. */
const MAX_MISSES = 3;

/** ReadySlots is responsible for running what is ready in the ledger in the slots of one queue's taker, without BullMQ. */
export class ReadySlots {
  readonly #options: ReadySlotsOptions;
  /** What runs in slots that had nothing from BullMQ. */
  readonly #idle = new Set<Promise<void>>();
  #started = 0;
  #isStarting = false;

  constructor(options: ReadySlotsOptions) {
    this.#options = options;
  }

  get isPooled(): boolean {
    return this.#options.ready.isPooled;
  }

  endedOf(job: object): string | undefined {
    return this.#options.ready.endedOf(job);
  }

  /** Runs ready tickets in a slot, one after the other. Returns the next ticket from BullMQ, if the slot has one. */
  async run<Ticket>(slot: Slot<Ticket>): Promise<Ticket | undefined> {
    const { isOpen } = this.#options;
    let misses = 0;
    let { ended } = slot;
    while (misses < MAX_MISSES && isOpen() && slot.mayGoOn()) {
      const taken = await this.#take(slot, ended);
      if (taken === null) return undefined;
      if (taken === 'in BullMQ') {
        misses += 1;
        const ticket = await slot.fetch?.();
        if (ticket) return ticket;
      } else {
        misses = 0;
        ended = await taken.run();
      }
    }
    return undefined;
  }

  /** The slot's next ready ticket; null when it becomes free. */
  async #take({ token, fetch, onTaken }: Slot<unknown>, ended: string | undefined): Promise<ReadyTicket | 'in BullMQ' | null> {
    const { ready, queue, held } = this.#options;
    const taken = await ready.take(held()?.queueOf(token), ended);
    if (taken === null) return null;
    // One of another queue in BullMQ is for the taker of that queue.
    if (typeof taken === 'string') return taken === queue && fetch ? 'in BullMQ' : null;
    onTaken?.();
    held()?.noteTicket(token, taken.ticket);
    return taken;
  }

  /** Lets idle slots take what is ready: BullMQ has nothing for them. `hadPermit`: else it is not known whether the fleet has one. */
  fill(hadPermit = true): void {
    const held = this.#options.held();
    if (!this.isPooled || !held) {
      this.#options.ready.dispatch({ max: Math.max(1, held?.source.pool.free ?? 1) });
      return;
    }
    const idle = held.source.pool.idleFor(held.source.queue);
    if (!idle) return;
    if (hadPermit) void this.#startIdle(held, idle);
    else this.#options.ready.dispatch({ ...idle, max: 1 });
  }

  /** Resolves once nothing runs in slots that had nothing from BullMQ. */
  async hasEnded(): Promise<void> {
    while (this.#idle.size > 0) await Promise.all(this.#idle);
  }

  /** Never rejects. What no slot takes at once goes to BullMQ, so that it wakes some taker. */
  async #startIdle(held: HeldPermits, idle: DispatchLimit): Promise<void> {
    if (this.#isStarting || !this.#options.isOpen()) return;
    this.#isStarting = true;
    const count = await this.#options.ready.count();
    const tokens = this.#acquire(held, Math.min(count, idle.max ?? 1));
    const started = await Promise.all(tokens.map(async (token) => await this.#start(held, token)));
    this.#isStarting = false;
    if (count > 0 && !started.includes(true)) this.#options.ready.dispatch(tokens.length > 0 ? { ...idle, max: 1 } : idle);
  }

  /** The names of so many slots with permits, or fewer. What runs counts for the choice of each ticket, so all of them are free before that. */
  #acquire(held: HeldPermits, max: number): string[] {
    const tokens: string[] = [];
    while (tokens.length < max && this.#options.isOpen() && held.tryAcquire(`idle:${this.#started}`)) {
      tokens.push(`idle:${this.#started}`);
      this.#started += 1;
    }
    for (const token of tokens) held.mayHandOver(token);
    return tokens;
  }

  /** Resolves with whether the slot got a ticket, once that is known. */
  async #start(held: HeldPermits, token: string): Promise<boolean> {
    return await new Promise((resolve) => {
      const running = this.#runIdle(held, { token, mayGoOn: () => held.mayHandOver(token), onTaken: () => resolve(true) }).finally(() => {
        this.#idle.delete(running);
        resolve(false);
      });
      this.#idle.add(running);
    });
  }

  async #runIdle(held: HeldPermits, slot: Slot<never>): Promise<void> {
    await this.run(slot);
    held.release(slot.token);
  }
}
