import { wrapLanguageModel } from 'ai';
import type { AgentModel, AgentUsage } from '../config/index.ts';
import { HeldFailure, TaskFailure } from '../errors/index.ts';
import { priceUsage } from '../usage/index.ts';
import type { CallUsage } from './call-meter.ts';
import { mayFallBack } from './call-failure.ts';
import { failureOfProbe } from './call-circuit.ts';
import { type Downgrade, type AdmittedCall, admitCall, type Caller, type GatePorts, HeldByProvider, reportEnd } from './call-gate.ts';
import { estimateInputTokens } from './estimate-tokens.ts';
import { type CallEnd, GatedCall } from './gated-call.ts';
import { passStream } from './gateway-stream.ts';
import type { CallOptions, GenerateResult, ModelSource, StreamResult } from './language-model.ts';
import type { Latencies } from './latencies.ts';
import { boundOutput, candidatesFor } from './plan-call.ts';
import { type Substituted, Substitution, type SubstitutionOptions } from './substitution.ts';

export interface AttemptModelsOptions extends GatePorts, SubstitutionOptions {
  readonly caller: Caller;
  readonly latencies: Latencies;
  readonly now: () => number;
  /** Ends every call when the attempt is stopped. A function, because a signal is made only when it is read. */
  readonly signal: () => AbortSignal;
  /** Gets what each call used. */
  readonly onUsage: (usage: AgentUsage) => void;
}

interface Failed {
  kind: 'failed';
  error: unknown;
  /** Whether another model may answer instead. */
  mayFallBack: boolean;
  downgrade?: Downgrade | null;
}

type Run<T> = (model: AgentModel, call: GatedCall) => Promise<T>;

/**
 * AttemptModels is responsible for the model calls of one attempt: each waits for what it has to pass, is counted once, and is settled
 * before the attempt ends, also when the attempt is stopped.
 */
export class AttemptModels {
  readonly #options: AttemptModelsOptions;
  readonly #open = new Set<GatedCall>();
  readonly #substitution: Substitution;
  #hasCalled = false;
  #failure: TaskFailure | undefined;

  constructor(options: AttemptModelsOptions) {
    this.#options = options;
    this.#substitution = new Substitution(options);
  }

  /** A model for the AI SDK whose calls pass through here. It fails with a `TaskFailure`. */
  wrap(given: ModelSource): AgentModel {
    const own = given.modelFor(given.name);
    const source: ModelSource = { ...given, modelFor: (name) => (name === given.name ? own : given.modelFor(name)) };
    return wrapLanguageModel({
      model: own,
      middleware: {
        wrapGenerate: ({ params }) => this.#call(source, params, generate),
        wrapStream: ({ params }) => this.#call(source, params, (model, call) => this.#stream(source, model, call)),
      },
    });
  }

  /** Why the last call failed; undefined when it did not. The SDK sometimes hides it from its caller. */
  get failure(): TaskFailure | undefined {
    return this.#failure;
  }

  /** Which model answered instead of the requested one, and why. */
  get substituted(): Substituted {
    return this.#substitution.substituted;
  }

  /** Settles the calls that the agent left open when it ended. */
  async close(): Promise<void> {
    await Promise.all([...this.#open].map((call) => call.fail(undefined, null)));
  }

  /** Calls the model, or the next of its fallbacks while one takes no calls or fails before it answers. */
  async #call<T>(source: ModelSource, given: CallOptions, run: Run<T>): Promise<T> {
    const params = { ...given, abortSignal: this.#signalOf(given) };
    const candidates = candidatesFor(this.#options, source);
    const failures: Failed[] = [];
    const beyond: string[] = [];
    for (const [at, model] of candidates.entries()) {
      const asked = candidates[at - 1] ?? source.name;
      this.#substitution.called(asked, model, () => describeFailure(failures.at(-1)));
      const bounded = boundOutput(this.#options.settings, { source, model }, params);
      const answer = await this.#try(source, { model, params: bounded, beyond }, run);
      if (answer.kind === 'answered') {
        this.#substitution.answered(source.name, model);
        await this.#leavePlaces(failures, undefined);
        return answer.value;
      }
      failures.push(answer);
      const { downgrade } = answer;
      if (downgrade && !beyond.includes(downgrade.budget)) {
        beyond.push(downgrade.budget);
        candidates.splice(at + 1, Infinity, downgrade.model);
      } else if (!answer.mayFallBack) break;
    }
    // An attempt waits for its requested model, unless another was called and failed.
    const { error } = failures.findLast((failure) => !(failure.error instanceof HeldFailure)) ?? failures[0] ?? {};
    if (error instanceof TaskFailure) this.#failure = error;
    await this.#leavePlaces(failures, error);
    throw error;
  }

  /** The task waits for no other provider than the one that holds it. */
  async #leavePlaces(failures: readonly Failed[], thrown: unknown): Promise<void> {
    const { throttle } = this.#options;
    const left = failures.flatMap(({ error }) => (error instanceof HeldByProvider && error !== thrown ? [error.place] : []));
    await Promise.all(left.map((place) => throttle.leave(place)));
  }

  async #try<T>(
    source: ModelSource,
    { model, params, beyond }: { model: string; params: CallOptions & { abortSignal: AbortSignal }; beyond: readonly string[] },
    run: Run<T>,
  ): Promise<{ kind: 'answered'; value: T } | Failed> {
    const { caller, now, settings } = this.#options;
    const inputTokens = estimateInputTokens(params);
    const tokens = inputTokens + (params.maxOutputTokens ?? 0);
    const isFirst = !this.#hasCalled;
    const max = { inputTokens, outputTokens: params.maxOutputTokens ?? settings.modelCalls.maxOutputTokens };
    const maxMicroUsd = this.#costOf(source, model, max) ?? 0;
    const request = { account: source.account, model, tokens, maxMicroUsd, beyond, isFirst, signal: params.abortSignal };
    const gate = await admitCall(this.#options, caller, request);
    if (gate.kind === 'refused') return { kind: 'failed', error: gate.failure, mayFallBack: false, downgrade: gate.downgrade };
    if (gate.kind === 'held') return { kind: 'failed', error: gate.failure, mayFallBack: gate.isWalled };
    this.#hasCalled = true;
    const settle = (end: CallEnd): Promise<HeldFailure | null> => this.#settle(source, call, gate.call, end);
    const call = new GatedCall({ model, params, inputTokens, now, settle });
    this.#open.add(call);
    try {
      return { kind: 'answered', value: await run(source.modelFor(model), call) };
    } catch (error) {
      const failure = await this.#fail(source, call, error);
      if (failure === null) return { kind: 'failed', error, mayFallBack: false };
      const shown = call.hasBegun ? failure : failureOfProbe(this.#options, gate.call, failure);
      return { kind: 'failed', error: shown, mayFallBack: mayFallBack(failure) };
    }
  }

  #signalOf({ abortSignal }: CallOptions): AbortSignal {
    const signal = this.#options.signal();
    return abortSignal === undefined ? signal : AbortSignal.any([abortSignal, signal]);
  }

  async #stream(source: ModelSource, model: AgentModel, call: GatedCall): Promise<StreamResult> {
    const result = await model.doStream(call.params);
    return await passStream(result, {
      onBegin: () => call.begin(result.response?.headers),
      onPart: (part) => call.read(part),
      onEnd: () => call.succeed(),
      onFailure: async (error) => (await this.#fail(source, call, error)) ?? error,
    });
  }

  /** Settles a call that failed. Returns its failure, a hold where the provider takes no calls for a while; null for a stopped call. */
  async #fail(source: ModelSource, call: GatedCall, error: unknown): Promise<TaskFailure | null> {
    const isAborted = call.params.abortSignal?.aborted === true;
    const failure = isAborted ? null : source.failureOf(error);
    const shown = (await call.fail(error, failure)) ?? failure;
    this.#failure = shown ?? undefined;
    return shown;
  }

  async #settle(source: ModelSource, call: GatedCall, admitted: AdmittedCall, end: CallEnd): Promise<HeldFailure | null> {
    const { latencies, caller, onUsage } = this.#options;
    this.#open.delete(call);
    this.#failure = undefined;
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
    return await reportEnd(this.#options, caller, admitted, { ...end, costMicroUsd });
  }

  #costOf(source: ModelSource, model: string, tokens: Pick<CallUsage, 'inputTokens' | 'outputTokens'>): number | null {
    const own = model === source.name ? source.ownCostOf(tokens) : undefined;
    return own ?? priceUsage(this.#options.settings.models, model, tokens);
  }
}

async function generate(model: AgentModel, call: GatedCall): Promise<GenerateResult> {
  const result = await model.doGenerate(call.params);
  call.begin(result.response?.headers);
  call.meter.readAll(result);
  await call.succeed();
  return result;
}

/** Without a failure, the model was not called because others answer sooner. */
function describeFailure(failed: Failed | undefined): string {
  if (failed === undefined) return 'its answers begin too late';
  return failed.error instanceof Error ? failed.error.message : 'it failed';
}
