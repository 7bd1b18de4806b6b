import { estimateTokens } from './estimate-tokens.ts';
import type { GenerateResult, ModelUsage, StreamPart } from './language-model.ts';

/** The tokens of one call. */
export interface CallUsage {
  inputTokens: number;
  outputTokens: number;
  cachedInputTokens: number;
  reasoningTokens: number;
  /** Whether the provider reported nothing, or not all. */
  isEstimated: boolean;
}

const UNREPORTED: ModelUsage = {
  inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: undefined, text: undefined, reasoning: undefined },
};
const NO_USAGE: CallUsage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0, isEstimated: false };

/** CallMeter is responsible for knowing at any time what a call has used: as its provider reports, or estimated by its text. */
export class CallMeter {
  readonly #estimatedInput: number;
  #outputBytes = 0;
  #reported: ModelUsage | undefined;
  /** Whether any of the answer has come. */
  hasContent = false;

  constructor(estimatedInput: number) {
    this.#estimatedInput = estimatedInput;
  }

  /** Reads a part of a streamed answer. */
  read(part: StreamPart): void {
    if (part.type === 'text-delta' || part.type === 'reasoning-delta' || part.type === 'tool-input-delta') this.#add(part.delta);
    else if (part.type === 'finish') this.#reported = part.usage;
  }

  /** Reads an answer that came at once. */
  readAll({ content, usage }: GenerateResult): void {
    this.#reported = usage;
    for (const part of content) this.#add('text' in part ? part.text : JSON.stringify(part));
  }

  /** What was used so far. Of an answer without its provider's count it is an estimate. */
  get usage(): CallUsage {
    const { inputTokens, outputTokens } = this.#reported ?? UNREPORTED;
    return {
      inputTokens: inputTokens.total ?? this.#estimatedInput,
      outputTokens: outputTokens.total ?? estimateTokens(this.#outputBytes),
      cachedInputTokens: inputTokens.cacheRead ?? 0,
      reasoningTokens: outputTokens.reasoning ?? 0,
      isEstimated: inputTokens.total === undefined || outputTokens.total === undefined,
    };
  }

  /** What a call used that failed with this: a refused one nothing, a stopped or broken one what came before its end. */
  usageAtFailure(isAborted: boolean): CallUsage {
    return this.hasContent || isAborted ? this.usage : NO_USAGE;
  }

  #add(text: string): void {
    this.hasContent = true;
    this.#outputBytes += Buffer.byteLength(text);
  }
}
