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
  /** Whether messages may go into its run. */
  takesInput: boolean;
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
  readonly takesInput: boolean;
  readonly #claimedAt: RunningAttemptOptions['claimedAt'];
  readonly #controller = new AbortController();
  #heldUntil: number;
  #stored: string;
  #isToldOfInput = false;
  #input = Promise.withResolvers<void>();

  constructor({ ref, stored, takesInput, claimedAt, heldUntil }: RunningAttemptOptions) {
    this.ref = ref;
    this.#stored = stored;
    this.takesInput = takesInput;
    this.member = leaseMember(ref);
    this.#claimedAt = claimedAt;
    this.#heldUntil = heldUntil;
  }

  /** Redis's wall time at this monotonic time, as far as the claim's answer tells: never ahead of it. */
  redisNow(monotonic: number): number {
    return Math.floor(this.#claimedAt.redis + monotonic - this.#claimedAt.monotonic);
  }

  /** The task's state as this attempt left it in the ledger, by its claim or since. */
  get stored(): string {
    return this.#stored;
  }

  /** The ledger keeps the task's state like this from now on, by a step of this attempt. */
  changed(stored: string): void {
    this.#stored = stored;
  }

  /** Messages may wait for its run. */
  tellOfInput(): void {
    this.#isToldOfInput = true;
    this.#input.resolve();
  }

  /** Whether it was told of input since the last call. */
  answerToInput(): boolean {
    if (!this.#isToldOfInput) return false;
    this.#isToldOfInput = false;
    this.#input = Promise.withResolvers();
    return true;
  }

  /** Resolves once it is told of input that nobody asked for yet. */
  get inputArrived(): Promise<void> {
    return this.#input.promise;
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
