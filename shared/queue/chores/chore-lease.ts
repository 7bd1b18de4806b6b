import type { Keys, RedisClient } from '../../redis/index.ts';
import { ChoreLoop } from './chore-loop.ts';

interface ChoreLeaseOptions {
  readonly redis: RedisClient;
  readonly keys: Keys;
  /** Whose chores it is about: each service has its own. */
  readonly service: string;
  /** The name of this process, in the lease. */
  readonly process: string;
  /** How long the lease lasts without a renewal. */
  readonly leaseMs: number;
  /** Called when this process has become the one. */
  readonly onTaken: () => void;
}

/** Renewals while it lasts. Another process asks when most of it is over. */
const RENEWALS = 2;
const OTHERS_SHARE = 2 / 3;

/**
 * ChoreLease is responsible for one process of the fleet doing the chores that one process does: the one that holds the lease. All of them go to
 * another with it, so that a process that does none of them asks once in a while, and not for each.
 */
export class ChoreLease {
  readonly #options: ChoreLeaseOptions;
  readonly #loop: ChoreLoop;
  /** Monotonic ms. */
  #heldUntil = 0;

  constructor(options: ChoreLeaseOptions) {
    this.#options = options;
    const everyMs = options.leaseMs / RENEWALS;
    this.#loop = new ChoreLoop({ everyMs, round: async () => await this.#renew().catch(() => undefined) });
  }

  start(): void {
    this.#loop.start();
  }

  /** Whether this process does the chores now. It stops by itself when it cannot renew, before another begins. */
  get isHeld(): boolean {
    return performance.now() < this.#heldUntil;
  }

  /** Another process takes over at once, and not when the lease has run out. Rejects while Redis is away. */
  async stop(): Promise<void> {
    await this.#loop.stop();
    const wasHeld = this.isHeld;
    this.#heldUntil = 0;
    const { redis, process } = this.#options;
    if (wasHeld && (await redis.get(this.#key)) === process) await redis.del(this.#key);
  }

  get #key(): string {
    return this.#options.keys.fleet.choreLease(this.#options.service);
  }

  /** Returns when to ask again, ms: later where another process has it, and still about when that would run out. */
  async #renew(): Promise<number | undefined> {
    const { redis, process, leaseMs } = this.#options;
    const heldUntil = performance.now() + leaseMs;
    // Where another has it by now, this extends that one's once: from then on this process is none that holds it.
    const isMine = this.#heldUntil > 0 && (await redis.getex(this.#key, 'PX', leaseMs)) === process;
    const isTaken = isMine || (await redis.set(this.#key, process, 'PX', leaseMs, 'NX')) === 'OK';
    const isNew = isTaken && !isMine;
    this.#heldUntil = isTaken ? heldUntil : 0;
    if (isNew) this.#options.onTaken();
    return isTaken ? undefined : OTHERS_SHARE * leaseMs;
  }
}
