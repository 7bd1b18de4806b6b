import { AsyncLocalStorage } from 'node:async_hooks';
import type { TaskFailure } from '../../errors/index.ts';
import { leaseMember, type AttemptRef, type RunWait } from '../../ledger/index.ts';
import type { FirstState } from '../../tasks/index.ts';
import type { Clock } from '../../time/index.ts';

/** Why an attempt was stopped from outside its agent. */
export type StopReason =
  | { kind: 'cancel'; reason: string }
  /** A critical task gets its place. */
  | { kind: 'preempt'; by: string }
  /** It may not go on, as when a budget is used up. */
  | { kind: 'failed'; failure: TaskFailure }
  /** Another hub goes on with it; nothing is settled here. */
  | { kind: 'detached'; isAdopted: boolean }
  /** Its run waits without a slot. */
  | { kind: 'suspended'; reason: string; wait: RunWait }
  /** Its worker ends. `before`: the step before which its run is handed over. */
  | { kind: 'drain'; before?: string }
  | { kind: 'timeout' | 'deadline' | 'lease-lost' };

/** The reason of an attempt's abort signal. */
class AttemptStopped extends Error {
  readonly stop: StopReason;

  constructor(stop: StopReason) {
    super(messageOf(stop));
    // As the reason of `AbortSignal.timeout` is named.
    this.name = stop.kind === 'timeout' || stop.kind === 'deadline' ? 'TimeoutError' : 'AttemptStopped';
    this.stop = stop;
  }
}

function messageOf(stop: StopReason): string {
  if (stop.kind === 'failed') return stop.failure.message;
  return stop.kind === 'cancel' ? stop.reason : stop.kind;
}

export interface RunningAttemptOptions {
  ref: AttemptRef;
  stored: string;
  /** What its task began with, which a stored state may leave out. */
  first: FirstState;
  /** Whether messages may go into its run. */
  takesInput: boolean;
  /** The same moment by both clocks. */
  claimedAt: { redis: number; monotonic: number };
  heldUntil: number;
  /** Whether its agent begins only once a daemon has accepted it. */
  isAssigned?: boolean;
  clock: Pick<Clock, 'monotonic'>;
}

/** The getter that the signal of an attempt replaces. */
// oxlint-disable-next-line typescript/unbound-method -- it is called with the signal as `this`
const readAborted = Object.getOwnPropertyDescriptor(AbortSignal.prototype, 'aborted')?.get;

/**
 * RunningAttempt is responsible for knowing whether this process may still act for an attempt: every step with an effect outside asks it
 * first. Times are monotonic milliseconds.
 */
export class RunningAttempt {
  readonly ref: AttemptRef;
  readonly member: string;
  readonly first: FirstState;
  readonly takesInput: boolean;
  readonly #claimedAt: RunningAttemptOptions['claimedAt'];
  /** Made when an agent reads the signal: many never do, and a signal costs more than the claim. */
  #controller: AbortController | undefined;
  /** Runs work as the first reader of the signal, so that the error of an agent's listener is known as the agent's. */
  #runAsAgent: (<T>(work: () => T) => T) | undefined;
  #stopped: AttemptStopped | undefined;
  readonly #onStop: ((reason: StopReason) => void)[] = [];
  #heldUntil: number;
  #stored: string;
  #isAssigned: boolean;
  #isHandingOver = false;
  readonly #onBegin: (() => void)[] = [];
  #hasInputNotice = false;
  #input: PromiseWithResolvers<void> | undefined;
  readonly #clock: RunningAttemptOptions['clock'];

  constructor({ ref, stored, first, takesInput, claimedAt, heldUntil, isAssigned = false, clock }: RunningAttemptOptions) {
    this.#clock = clock;
    this.ref = ref;
    this.#stored = stored;
    this.first = first;
    this.takesInput = takesInput;
    this.member = leaseMember(ref);
    this.#claimedAt = claimedAt;
    this.#heldUntil = heldUntil;
    this.#isAssigned = isAssigned;
  }

  /** When its claim was answered, monotonic ms. */
  get since(): number {
    return this.#claimedAt.monotonic;
  }

  /** Redis's wall time at this monotonic time, by the claim's answer; never ahead of the real one. */
  redisNow(monotonic: number): number {
    return Math.floor(this.#claimedAt.redis + monotonic - this.#claimedAt.monotonic);
  }

  /** Redis's wall time now. */
  now(): number {
    return this.redisNow(this.#clock.monotonic());
  }

  /** Milliseconds until a time of Redis's clock; negative once it has passed. */
  msUntil(redisTime: number): number {
    return redisTime - this.now();
  }

  /** The task's state as this attempt left it in the ledger, by its claim or since. */
  get stored(): string {
    return this.#stored;
  }

  /** A step of this attempt changed the task's state in the ledger to this. */
  changed(stored: string): void {
    this.#stored = stored;
  }

  /** Its daemon has accepted it. */
  begin(): void {
    this.#isAssigned = false;
    for (const listener of this.#onBegin.splice(0)) listener();
  }

  /** Calls the listener when its agent begins: at once, but for an attempt that a daemon has to accept. */
  onBegin(listener: () => void): void {
    if (this.#isAssigned) this.#onBegin.push(listener);
    else listener();
  }

  /** Its worker takes nothing more: a run with steps ends before its next one, and goes on from there elsewhere. */
  handOver(): void {
    this.#isHandingOver = true;
  }

  get isHandingOver(): boolean {
    return this.#isHandingOver;
  }

  /** Messages may wait for its run. */
  notifyInput(): void {
    this.#hasInputNotice = true;
    this.#input?.resolve();
  }

  /** Whether it was notified of input since the last call. */
  takeInputNotice(): boolean {
    if (!this.#hasInputNotice) return false;
    this.#hasInputNotice = false;
    this.#input = undefined;
    return true;
  }

  /** Resolves once there is a notice of input that was not taken. */
  get inputArrived(): Promise<void> {
    this.#input ??= Promise.withResolvers();
    if (this.#hasInputNotice) this.#input.resolve();
    return this.#input.promise;
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      this.#checkWhenRead(this.#controller.signal);
      this.#runAsAgent = AsyncLocalStorage.snapshot();
      if (this.#stopped) this.#controller.abort(this.#stopped);
    }
    return this.#controller.signal;
  }

  /**
   * Makes the signal check the lease whenever it is read. After a process was frozen, an agent's timers may run before the timer that
   * checks leases: an agent that reads its signal still learns that it has to stop.
   */
  #checkWhenRead(signal: AbortSignal): void {
    const aborted = (): boolean => {
      if (!this.isHeld(this.#clock.monotonic())) this.stop({ kind: 'lease-lost' });
      return readAborted?.call(signal) === true;
    };
    Object.defineProperty(signal, 'aborted', { get: aborted });
  }

  /** Why it was stopped, or null. */
  get stopped(): StopReason | null {
    return this.#stopped?.stop ?? null;
  }

  /** Throws the signal's reason, once it was stopped or its lease has run out: this process may have been frozen since it last knew. */
  throwIfStopped(): void {
    if (!this.isHeld(this.#clock.monotonic())) this.stop({ kind: 'lease-lost' });
    if (this.#stopped) throw this.#stopped;
  }

  /** Calls the listener when the attempt is stopped, at once when it already was. */
  onStop(listener: (reason: StopReason) => void): void {
    if (this.#stopped) listener(this.#stopped.stop);
    else this.#onStop.push(listener);
  }

  /** Settles like the work, or rejects with the signal's reason as soon as the attempt is stopped; the work then continues unwatched. */
  untilStopped<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      work.then(resolve, reject);
      this.onStop(() => reject(this.#stopped));
    });
  }

  get heldUntil(): number {
    return this.#heldUntil;
  }

  /** Whether the lease, as far as this process knows, still stands. */
  isHeld(now: number): boolean {
    return now < this.#heldUntil && this.#stopped?.stop.kind !== 'lease-lost';
  }

  extend(heldUntil: number): void {
    this.#heldUntil = heldUntil;
  }

  /** Aborts the agent. The first reason stays. */
  stop(reason: StopReason): void {
    if (this.#stopped) return;
    this.#stopped = new AttemptStopped(reason);
    this.#runAsAgent?.(() => this.#controller?.abort(this.#stopped));
    for (const listener of this.#onStop.splice(0)) listener(reason);
  }
}
