import type { HeldFailure, TaskFailure } from '../errors/index.ts';
import { CallMeter, type CallUsage } from './call-meter.ts';
import { type CallAnswer, failedAnswer, goodAnswer } from './call-answer.ts';
import type { CallOptions } from './language-model.ts';

/** How a call ended. */
export interface CallEnd {
  readonly usage: CallUsage;
  readonly answer: CallAnswer;
  /** Why it failed; null for one that was answered, or stopped by its caller. */
  readonly failure: TaskFailure | null;
  readonly isAborted: boolean;
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
  #beganAfterMs: number | null = null;
  #headers: Readonly<Record<string, string | undefined>> | undefined;
  #settling: Promise<HeldFailure | null> | undefined;

  constructor({ model, params, inputTokens, now, settle }: GatedCallOptions) {
    this.model = model;
    this.params = params;
    this.meter = new CallMeter(inputTokens);
    this.#options = { now, settle };
    this.#startedAt = now();
  }

  get hasBegun(): boolean {
    return this.#beganAfterMs !== null;
  }

  /** The answer begins. */
  begin(headers: Readonly<Record<string, string | undefined>> | undefined): void {
    this.#headers = headers;
    this.#beganAfterMs = this.#options.now() - this.#startedAt;
  }

  /** The answer came to its end. */
  async succeed(): Promise<void> {
    await this.#settle({ usage: this.meter.usage, answer: goodAnswer(this.#headers), failure: null, isAborted: false });
  }

  /** It was refused, broke off or was left by its caller. Resolves with what holds its task when it was refused. */
  fail(error: unknown, failure: TaskFailure | null): Promise<HeldFailure | null> {
    const isAborted = failure === null;
    const answer = isAborted && this.#headers ? goodAnswer(this.#headers) : failedAnswer(error);
    return this.#settle({ usage: this.meter.usageAtFailure(isAborted), answer, failure, isAborted });
  }

  #settle(end: Omit<CallEnd, 'beganAfterMs'>): Promise<HeldFailure | null> {
    return (this.#settling ??= this.#options.settle({ ...end, beganAfterMs: this.#beganAfterMs }));
  }
}
