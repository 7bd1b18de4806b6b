import { wrapLanguageModel } from 'ai';
import type { AgentModel } from '../config/index.ts';
import { HeldFailure, TaskFailure } from '../errors/index.ts';
import { AttemptCalls, type AttemptCallsOptions, type FailedCall, type Run } from './attempt-calls.ts';
import { HeldByProvider } from './call-gate.ts';
import type { CallOptions, ModelSource } from './language-model.ts';
import { wellFormed } from '../text/index.ts';
import { boundOutput, candidatesFor, sourceOf } from './plan-call.ts';
import { type Substituted, Substitution, type SubstitutionOptions } from './substitution.ts';

export interface AttemptModelsOptions extends AttemptCallsOptions, SubstitutionOptions {
  /** Ends every call when the attempt is stopped. A function, because a signal is made only when it is read. */
  readonly signal: () => AbortSignal;
}

/**
 * AttemptModels is responsible for the model calls of one attempt: each waits for what it has to pass, is counted once, and is settled
 * before the attempt ends, also when the attempt is stopped.
 */
export class AttemptModels {
  readonly #options: AttemptModelsOptions;
  readonly #calls: AttemptCalls;
  readonly #substitution: Substitution;

  constructor(options: AttemptModelsOptions) {
    this.#options = options;
    this.#calls = new AttemptCalls(options);
    this.#substitution = new Substitution(options);
  }

  /** A model for the AI SDK whose calls pass through here. It fails with a `TaskFailure`. */
  wrap(given: ModelSource): AgentModel {
    const own = given.modelFor(given.name);
    const source: ModelSource = { ...given, modelFor: (name) => (name === given.name ? own : given.modelFor(name)) };
    return wrapLanguageModel({
      model: own,
      middleware: {
        wrapGenerate: ({ params }) => this.#call(source, params, (model, call) => this.#calls.generate(model, call)),
        wrapStream: ({ params }) => this.#call(source, params, (model, call, at) => this.#calls.stream(at, model, call)),
      },
    });
  }

  /** A call as it would be made of the requested model, and the most that it costs, millionths of a US dollar. Nothing of it is made or counted. */
  plan(source: ModelSource, given: CallOptions): { params: CallOptions; maxMicroUsd: number } {
    const params = boundOutput(this.#options.settings, { source, model: source.name }, wellFormed(given));
    return { params, maxMicroUsd: this.#calls.maxCostOf(source, source.name, params) };
  }

  /** Why the last call failed; undefined when it did not. The SDK sometimes hides it from its caller. */
  get failure(): TaskFailure | undefined {
    return this.#calls.failure;
  }

  /** Which model answered instead of the requested one, and why. */
  get substituted(): Substituted {
    return this.#substitution.substituted;
  }

  /** Settles the calls that the agent left open when it ended, and waits for those that end. */
  async close(): Promise<void> {
    await this.#calls.close();
  }

  /** Calls the model, or the next of its fallbacks while one takes no calls or fails before it answers. */
  async #call<T>(source: ModelSource, given: CallOptions, run: Run<T>): Promise<T> {
    // The one place that all goes through: instructions, messages, history, tools and what they answered, names of files.
    const params = { ...wellFormed(given), abortSignal: this.#signalOf(given) };
    const candidates = candidatesFor(this.#options, source);
    const failures: FailedCall[] = [];
    const beyond: string[] = [];
    // Of the failures, those before a downgrade say no more why there is no answer.
    let downgraded = 0;
    for (const [position, model] of candidates.entries()) {
      const asked = candidates[position - 1] ?? source.name;
      this.#substitution.called(asked, model, () => describeFailure(failures.at(-1)));
      const at = sourceOf(model, source);
      const bounded = boundOutput(this.#options.settings, { source: at, model }, params);
      const answer = await this.#calls.make(at, { model, params: bounded, beyond }, run);
      if (answer.kind === 'answered') {
        this.#substitution.answered(source.name, model);
        await this.#leavePlaces(failures, undefined);
        return answer.value;
      }
      failures.push(answer);
      const { downgrade } = answer;
      if (downgrade && !beyond.includes(downgrade.budget)) {
        beyond.push(downgrade.budget);
        downgraded = failures.length;
        candidates.splice(position + 1, Infinity, downgrade.model);
      } else if (!answer.mayFallBack) break;
    }
    // An attempt waits for its requested model, unless another was called and failed.
    const tried = failures.slice(downgraded);
    const { error } = tried.findLast((failure) => !(failure.error instanceof HeldFailure)) ?? tried[0] ?? {};
    if (error instanceof TaskFailure) this.#calls.failure = error;
    await this.#leavePlaces(failures, error);
    throw error;
  }

  /** The task waits for no other provider than the one that holds it. */
  async #leavePlaces(failures: readonly FailedCall[], thrown: unknown): Promise<void> {
    const { throttle } = this.#options;
    const left = failures.flatMap(({ error }) => (error instanceof HeldByProvider && error !== thrown ? [error.place] : []));
    await Promise.all(left.map((place) => throttle.leave(place)));
  }

  #signalOf({ abortSignal }: CallOptions): AbortSignal {
    const signal = this.#options.signal();
    return abortSignal === undefined ? signal : AbortSignal.any([abortSignal, signal]);
  }
}

/** Without a failure, the model was not called because others answer sooner. */
function describeFailure(failed: FailedCall | undefined): string {
  if (failed === undefined) return 'its answers begin too late';
  return failed.error instanceof Error ? failed.error.message : 'it failed';
}
