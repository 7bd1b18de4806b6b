import { Recent } from '../time/index.ts';

/** Calls that are remembered of a model, the newest. */
const MAX_CALLS = 20;
/** Models, and models of agents, of which calls are remembered. */
const MAX_MODELS = 1000;
/** A short prompt tells little of tokens by character, because what a provider adds to each is the larger part. */
const SHORT_TOKENS = 200;
/** What a ratio and its product lose in the last digits. */
const ROUNDING = 1e-6;
/** An answer may be longer than those before it. */
const MARGIN = 1.5;

/** One call: what was estimated of it, and what its provider counted. */
export interface CountedCall {
  /** The account and model. */
  readonly model: string;
  /** Whose call it was: tenant and agent. */
  readonly caller: string;
  readonly estimatedInput: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** CallUsages is responsible for what the newest calls of this process used, so that money is reserved by what the next one will. */
export class CallUsages {
  /** Tokens that the provider counted for each that was estimated, by model. */
  readonly #inputs = new Recent<string, readonly number[]>({ maxEntries: MAX_MODELS });
  /** Output tokens, by caller and model. */
  readonly #outputs = new Recent<string, readonly number[]>({ maxEntries: MAX_MODELS });

  add({ model, caller, estimatedInput, inputTokens, outputTokens }: CountedCall): void {
    push(this.#inputs, model, inputTokens / Math.max(SHORT_TOKENS, estimatedInput));
    push(this.#outputs, `${caller} ${model}`, outputTokens);
  }

  /** Input tokens of a call, rather too many than too few: never fewer than were estimated. */
  inputTokens(model: string, estimated: number): number {
    const ratio = Math.max(0, ...(this.#inputs.get(model) ?? []));
    return Math.max(estimated, Math.ceil(ratio * Math.max(SHORT_TOKENS, estimated) - ROUNDING));
  }

  /** Output tokens that a call within this bound usually needs; null while nothing is known. More than the bound where a provider ignores it. */
  outputTokens({ model, caller }: Pick<CountedCall, 'model' | 'caller'>, bound: number): number | null {
    const known = this.#outputs.get(`${caller} ${model}`);
    if (known === undefined) return null;
    const highest = Math.max(...known);
    return highest > bound ? highest : Math.min(bound, Math.ceil(highest * MARGIN));
  }
}

function push(values: Recent<string, readonly number[]>, name: string, value: number): void {
  values.set(name, [...(values.get(name) ?? []), value].slice(-MAX_CALLS));
}
