import { leaseMember, type AttemptRef } from '#shared/ledger/attempt-ref.ts';

/** Why an attempt was stopped from outside its agent. */
export type StopReason = { kind: 'cancel'; reason: string } | { kind: 'drain' } | { kind: 'timeout' } | { kind: 'lease-lost' };

/** What the abort signal of an attempt carries. */
class AttemptStopped extends Error {
  readonly stop: StopReason;

  constructor(stop: StopReason) {
    super(stop.kind === 'cancel' ? stop.reason : stop.kind);
    this.name = 'AttemptStopped';
    this.stop = stop;
  }
}

export interface RunningAttemptOptions {
  ref: AttemptRef;
  stored: string;
  /** The same moment by both clocks. */
  claimedAt: { redis: number; monotonic: number };
  heldUntil: number;
}

/**
 * RunningAttempt is responsible for knowing whether this process may still act for an attempt, so that everything that
 * would show outside asks here first. Times are monotonic milliseconds.
 */
export class RunningAttempt {
  readonly ref: AttemptRef;
  readonly member: string;
  /** The task's state as the claim left it in the ledger. */
  readonly stored: string;
  readonly #claimedAt: RunningAttemptOptions['claimedAt'];
  readonly #controller = new AbortController();
  #heldUntil: number;

  constructor({ ref, stored, claimedAt, heldUntil }: RunningAttemptOptions) {
    this.ref = ref;
    this.stored = stored;
    this.member = leaseMember(ref);
    this.#claimedAt = claimedAt;
    this.#heldUntil = heldUntil;
  }

  /** Redis's wall time at this monotonic time, as far as the claim's answer tells: never ahead of it. */
  redisNow(monotonic: number): number {
    return Math.floor(this.#claimedAt.redis + monotonic - this.#claimedAt.monotonic);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Why it was stopped, or null. */
  get stopped(): StopReason | null {
    const reason: unknown = this.signal.aborted ? this.signal.reason : null;
    return reason instanceof AttemptStopped ? reason.stop : null;
  }

  get heldUntil(): number {
    return this.#heldUntil;
  }

  /** Whether the lease, as far as this process knows, still stands. */
  isHeld(now: number): boolean {
    return now < this.#heldUntil && this.stopped?.kind !== 'lease-lost';
  }

  extend(heldUntil: number): void {
    this.#heldUntil = heldUntil;
  }

  /** Aborts the agent. The first reason stays. */
  stop(reason: StopReason): void {
    if (!this.signal.aborted) this.#controller.abort(new AttemptStopped(reason));
  }
}
