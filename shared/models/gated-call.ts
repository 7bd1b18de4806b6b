import type { HeldFailure, TaskFailure } from '../errors/index.ts';
import { CallMeter, type CallUsage } from './call-meter.ts';
import type { ProviderAnswer } from '../providers/index.ts';
import { answerIn, goodAnswer } from './call-answer.ts';
import type { CallOptions, StreamPart } from './language-model.ts';

/** How a call ended. */
export interface CallEnd {
  readonly usage: CallUsage;
  readonly answer: ProviderAnswer;
  /** Why it failed; null for one that was answered, or stopped by its caller. */
  readonly failure: TaskFailure | null;
  readonly isAborted: boolean;
  /** Whether it was stopped because it, or its attempt, took too long. */
  readonly isTimedOut: boolean;
  /** Since anything came of its answer, or since its begin. */
  readonly silentMs: number;
  /** When it was sent, monotonic ms. */
  readonly startedAt: number;
  /** Until its answer began; null when none did. */
  readonly beganAfterMs: number | null;
}

export interface GatedCallOptions {
  /** The model that is called. */
  readonly model: string;
  readonly params: CallOptions;
  readonly inputTokens: number;
  readonly now: () => number;
  /** Counts the call; called once. Resolves with what holds its task when it was refused. */
  readonly settle: (end: CallEnd) => Promise<HeldFailure | null>;
}

/** GatedCall is responsible for one call of one model from its admission to its settlement, which happens once, however the call ends. */
export class GatedCall {
  readonly model: string;
  readonly params: CallOptions;
  readonly meter: CallMeter;
  readonly #options: Pick<GatedCallOptions, 'now' | 'settle'>;
  readonly #startedAt: number;
  #lastAt: number;
  #beganAfterMs: number | null = null;
  #headers: Readonly<Record<string, string | undefined>> | undefined;
  #settling: Promise<HeldFailure | null> | undefined;

  constructor({ model, params, inputTokens, now, settle }: GatedCallOptions) {
    this.model = model;
    this.params = params;
    this.meter = new CallMeter(inputTokens);
    this.#options = { now, settle };
    this.#startedAt = now();
    this.#lastAt = this.#startedAt;
  }

  get hasBegun(): boolean {
    return this.#beganAfterMs !== null;
  }

  /** The answer begins. */
  begin(headers: Readonly<Record<string, string | undefined>> | undefined): void {
    this.#headers = headers;
    this.#lastAt = this.#options.now();
    this.#beganAfterMs = this.#lastAt - this.#startedAt;
  }

  /** A part of the answer comes. */
  read(part: StreamPart): void {
    this.#lastAt = this.#options.now();
    this.meter.read(part);
  }

  /** The answer came to its end. Resolves once that is settled. */
  async succeed(): Promise<void> {
    await this.#settle({ usage: this.meter.usage, answer: goodAnswer(this.#headers), failure: null, isAborted: false });
  }

  /** It was refused, broke off or was left by its caller. Resolves with what holds its task when it was refused. */
  fail(error: unknown, failure: TaskFailure | null): Promise<HeldFailure | null> {
    const isAborted = failure === null;
    const answer = isAborted && this.#headers ? goodAnswer(this.#headers) : (answerIn(error) ?? {});
    return this.#settle({ usage: this.meter.usageAtFailure(isAborted), answer, failure, isAborted });
  }

  #settle(end: Omit<CallEnd, 'startedAt' | 'beganAfterMs' | 'isTimedOut' | 'silentMs'>): Promise<HeldFailure | null> {
    return (this.#settling ??= this.#options.settle({
      ...end,
      isTimedOut: end.isAborted && isTimeout(this.params.abortSignal?.reason),
      silentMs: this.#options.now() - this.#lastAt,
      startedAt: this.#startedAt,
      beganAfterMs: this.#beganAfterMs,
    }));
  }
}

/** Signals of timeouts have reasons of this name: those of the platform, and of attempts. */
export function isTimeout(reason: unknown): boolean {
  return reason instanceof Error && reason.name === 'TimeoutError';
}
