import type { AgentModel, AgentUsage } from '../config/index.ts';
import type { HeldFailure, TaskFailure } from '../errors/index.ts';
import type { Traces } from '../log/index.ts';
import { accountLabel } from '../providers/index.ts';
import { priceUsage } from '../usage/index.ts';
import { failureOfProbe } from './call-circuit.ts';
import { brokenOff, mayFallBack } from './call-failure.ts';
import { type AdmittedCall, admitCall, type Caller, type Downgrade, type GatePorts, reportEnd } from './call-gate.ts';
import type { CallUsage } from './call-meter.ts';
import type { CallUsages, CountedCall } from './call-usages.ts';
import { estimateInputTokens } from './estimate-tokens.ts';
import { type CallEnd, GatedCall, startCallSpan } from './gated-call.ts';
import { passStream } from './gateway-stream.ts';
import type { CallOptions, GenerateResult, ModelSource, StreamResult } from './language-model.ts';
import type { Latencies } from './latencies.ts';
import { amountsOf, outputFor, type PlannedTokens } from './plan-call.ts';

export interface AttemptCallsOptions extends GatePorts {
  readonly caller: Caller;
  readonly latencies: Latencies;
  readonly usages: CallUsages;
  readonly now: () => number;
  /** Without it calls are no spans. */
  readonly traces?: Traces | undefined;
  /** Gets what each call used. */
  readonly onUsage: (usage: AgentUsage) => void;
}

export interface FailedCall {
  kind: 'failed';
  error: unknown;
  /** Whether another model may answer instead. */
  mayFallBack: boolean;
  downgrade?: Downgrade | null;
}

export type Run<T> = (model: AgentModel, call: GatedCall, source: ModelSource) => Promise<T>;

/** AttemptCalls is responsible for the single calls of one attempt, each from its admission to its settlement. */
export class AttemptCalls {
  readonly #options: AttemptCallsOptions;
  readonly #open = new Set<GatedCall>();
  /** Answered calls whose end is on its way to Redis. */
  readonly #ending = new Set<Promise<void>>();
  /** Reports of answered calls that are to be sent. */
  readonly #unsent = new Set<() => void>();
  #hasCalled = false;
  /** Why the last call failed; undefined when it did not. */
  failure: TaskFailure | undefined;

  constructor(options: AttemptCallsOptions) {
    this.#options = options;
  }

  /** Makes one call of one model, unless it is refused. */
  async make<T>(
    source: ModelSource,
    { model, params, beyond }: { model: string; params: CallOptions & { abortSignal: AbortSignal }; beyond: readonly string[] },
    run: Run<T>,
  ): Promise<{ kind: 'answered'; value: T } | FailedCall> {
    const { caller, now } = this.#options;
    // What earlier calls did not use is free for this one.
    this.#sendReports();
    const { tokens, estimatedInput, costOf } = this.#plan(source, model, params);
    const request = {
      account: source.account,
      model,
      tokens: tokens.input + (params.maxOutputTokens ?? 0),
      amounts: amountsOf(costOf, tokens),
      beyond,
      isFirst: !this.#hasCalled,
      signal: params.abortSignal,
    };
    const gate = await admitCall(this.#options, caller, request);
    if (gate.kind === 'refused') return { kind: 'failed', error: gate.failure, mayFallBack: false, downgrade: gate.downgrade };
    if (gate.kind === 'held') return { kind: 'failed', error: gate.failure, mayFallBack: gate.isWalled };
    this.#hasCalled = true;
    const settle = (end: CallEnd): Promise<HeldFailure | null> => {
      this.#learn(source, model, estimatedInput, end);
      return this.#settle(source, call, gate.call, end);
    };
    const bound = outputFor(costOf, tokens.output, gate.call.amountMicroUsd);
    const bounded = bound < tokens.output ? { ...params, maxOutputTokens: bound } : params;
    const span = startCallSpan(this.#options.traces, { account: accountLabel(source.account), model, params: bounded });
    const call = new GatedCall({ model, params: bounded, inputTokens: tokens.input, span, now, settle });
    this.#open.add(call);
    try {
      return { kind: 'answered', value: await call.run(() => run(source.modelFor(model), call, source)) };
    } catch (error) {
      const failure = await this.#fail(source, call, error);
      if (failure === null) return { kind: 'failed', error, mayFallBack: false };
      const shown = call.hasBegun
        ? failure
        : failureOfProbe(this.#options, { endpoint: source.account.endpoint, circuit: gate.call.circuit }, failure);
      return { kind: 'failed', error: shown, mayFallBack: mayFallBack(failure) };
    }
  }

  /** The most that a call costs, millionths of a US dollar; 0 where its price is not known. */
  maxCostOf(source: ModelSource, model: string, params: CallOptions): number {
    const { tokens, costOf } = this.#plan(source, model, params);
    return amountsOf(costOf, tokens).max;
  }

  /** What a call may use and cost, by what is known of the calls before it. */
  #plan(
    source: ModelSource,
    model: string,
    params: CallOptions,
  ): { tokens: PlannedTokens; estimatedInput: number; costOf: (outputTokens: number) => number } {
    const { settings, usages } = this.#options;
    const of = this.#usageOf(source, model);
    const estimatedInput = estimateInputTokens(params);
    const input = usages.inputTokens(of.model, estimatedInput);
    const output = params.maxOutputTokens ?? settings.modelCalls.maxOutputTokens;
    const tokens = { input, output, minOutput: settings.modelCalls.minOutputTokens, usualOutput: usages.outputTokens(of, output) };
    const costOf = (outputTokens: number): number => this.#costOf(source, model, { inputTokens: input, outputTokens }) ?? 0;
    return { tokens, estimatedInput, costOf };
  }

  /** Names a model of an account, and who calls it, among what is known of calls. */
  #usageOf({ account }: ModelSource, model: string): Pick<CountedCall, 'model' | 'caller'> {
    const { ref, agent } = this.#options.caller;
    return { model: `${account.name} ${model}`, caller: `${ref.tenant}/${agent}` };
  }

  async generate(model: AgentModel, call: GatedCall): Promise<GenerateResult> {
    const result = await model.doGenerate(call.params);
    call.begin(result.response?.headers);
    call.meter.readAll(result);
    const broken = brokenOff(result.finishReason.raw);
    if (broken !== null) throw broken;
    this.#end(call);
    return result;
  }

  async stream(source: ModelSource, model: AgentModel, call: GatedCall): Promise<StreamResult> {
    const result = await model.doStream(call.params);
    return await passStream(result, {
      onBegin: () => call.begin(result.response?.headers),
      onPart: (part) => call.read(part),
      onEnd: () => this.#end(call),
      onFailure: async (error) => (await this.#fail(source, call, error)) ?? error,
    });
  }

  /** Settles the calls that are still open, and waits for those that ended. */
  async close(): Promise<void> {
    this.#sendReports();
    if (this.#open.size === 0 && this.#ending.size === 0) return;
    await Promise.all([...this.#open].map((call) => call.fail(undefined, null)));
    await Promise.all(this.#ending);
  }

  /**
   * Settles an answered call. Its caller does not wait for Redis: until then its reservation counts in full, and the next call's
   * admission follows on the same connection, after it.
   */
  #end(call: GatedCall): void {
    const ending = call.succeed();
    this.#ending.add(ending);
    ending.then(
      () => this.#ending.delete(ending),
      // Left to `close`.
      () => undefined,
    );
  }

  /** Settles a call that failed. Returns its failure, a hold where the provider takes no calls for a while; null for a stopped call. */
  async #fail(source: ModelSource, call: GatedCall, error: unknown): Promise<TaskFailure | null> {
    const isAborted = call.params.abortSignal?.aborted === true;
    const failure = isAborted ? null : source.failureOf(error);
    const shown = (await call.fail(error, failure)) ?? failure;
    this.failure = shown ?? undefined;
    return shown;
  }

  /** Remembers what the provider counted of an answered call. */
  #learn(source: ModelSource, model: string, estimatedInput: number, { failure, isAborted, usage }: CallEnd): void {
    if (failure !== null || isAborted || usage.isEstimated) return;
    const { inputTokens, outputTokens } = usage;
    this.#options.usages.add({ ...this.#usageOf(source, model), estimatedInput, inputTokens, outputTokens });
  }

  async #settle(source: ModelSource, call: GatedCall, admitted: AdmittedCall, end: CallEnd): Promise<HeldFailure | null> {
    const { latencies, caller, onUsage } = this.#options;
    this.#open.delete(call);
    this.failure = undefined;
    if (end.beganAfterMs !== null) latencies.add(`${source.account.name} ${call.model}`, end.beganAfterMs);
    const { isEstimated, ...tokens } = end.usage;
    const cost = call.model === source.name ? source.ownCostOf(end.usage) : undefined;
    const isUsed = tokens.inputTokens + tokens.outputTokens > 0;
    if (isUsed)
      onUsage({
        ...tokens,
        model: call.model,
        ...(isEstimated ? { isEstimated } : {}),
        ...(cost === undefined ? {} : { costMicroUsd: cost }),
      });
    const costMicroUsd = this.#costOf(source, call.model, end.usage);
    const report = (): Promise<HeldFailure | null> => reportEnd(this.#options, caller, admitted, { ...end, costMicroUsd });
    return await (end.failure === null && !end.isAborted ? this.#sendLater(report) : report());
  }

  /** Lets the caller of an answered call go on first: to make a report takes as long as a quarter of the gateway's part in a call. */
  async #sendLater(report: () => Promise<HeldFailure | null>): Promise<HeldFailure | null> {
    return await new Promise((resolve) => {
      const send = (): void => {
        if (this.#unsent.delete(send)) resolve(report());
      };
      this.#unsent.add(send);
      setImmediate(send);
    });
  }

  #sendReports(): void {
    for (const send of this.#unsent) send();
  }

  #costOf(source: ModelSource, model: string, tokens: Pick<CallUsage, 'inputTokens' | 'outputTokens'>): number | null {
    const own = model === source.name ? source.ownCostOf(tokens) : undefined;
    return own ?? priceUsage(this.#options.settings.models, model, tokens);
  }
}
