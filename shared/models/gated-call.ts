import type { HeldFailure, TaskFailure } from '../errors/index.ts';
import type { Span, Traces } from '../log/index.ts';
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
  /** Ends with the call; undefined where its trace is not recorded. */
  readonly span?: Span | undefined;
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
  readonly #span: Span | undefined;
  #settling: Promise<HeldFailure | null> | undefined;

  constructor({ model, params, inputTokens, span, now, settle }: GatedCallOptions) {
    this.model = model;
    // The provider may go on with the trace.
    this.params = span === undefined ? params : { ...params, headers: { ...params.headers, traceparent: span.traceparent } };
    this.#span = span;
    this.meter = new CallMeter(inputTokens);
    this.#options = { now, settle };
    this.#startedAt = now();
    this.#lastAt = this.#startedAt;
  }

  get hasBegun(): boolean {
    return this.#beganAfterMs !== null;
  }

  /** Does the work of the call as its span. */
  run<T>(work: () => T): T {
    return this.#span === undefined ? work() : this.#span.run(work);
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
    if (this.#settling) return this.#settling;
    if (this.#span) endCallSpan(this.#span, end);
    return (this.#settling = this.#options.settle({
      ...end,
      isTimedOut: end.isAborted && isTimeout(this.params.abortSignal?.reason),
      silentMs: this.#options.now() - this.#lastAt,
      startedAt: this.#startedAt,
      beganAfterMs: this.#beganAfterMs,
    }));
  }
}

/** Starts the span of a call, as OpenTelemetry's conventions for generative AI have it: without messages and answers. */
export function startCallSpan(
  traces: Traces | undefined,
  { account, model, params }: { account: string; model: string; params: CallOptions },
): Span | undefined {
  return traces?.start(`chat ${model}`, {
    kind: 'client',
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': account,
      'gen_ai.request.model': model,
      'gen_ai.request.max_tokens': params.maxOutputTokens,
      'gen_ai.request.temperature': params.temperature,
    },
  });
}

function endCallSpan(span: Span, { usage, failure, isAborted }: Pick<CallEnd, 'usage' | 'failure' | 'isAborted'>): void {
  span.set({
    'gen_ai.usage.input_tokens': usage.inputTokens,
    'gen_ai.usage.output_tokens': usage.outputTokens,
    'gen_ai.usage.cache_read.input_tokens': usage.cachedInputTokens,
  });
  if (failure) span.fail(failure.code);
  else if (isAborted) span.fail('CANCELLED');
  span.end();
}

/** Signals of timeouts have reasons of this name: those of the platform, and of attempts. */
export function isTimeout(reason: unknown): boolean {
  return reason instanceof Error && reason.name === 'TimeoutError';
}
