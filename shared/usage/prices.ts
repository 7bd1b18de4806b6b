import type { AgentUsage, ModelSettings } from '../config/index.ts';
import type { ModelUsage, TaskUsage } from '../tasks/index.ts';

/** Tokens of one model. */
type Tokens = Pick<ModelUsage, 'inputTokens' | 'outputTokens' | 'cachedInputTokens'>;

/**
 * What tokens of a model cost, in millionths of a US dollar, an integer; null for an unknown model, or one without both prices. A dollar for
 * a million tokens is a millionth for one.
 */
export function priceUsage(models: ModelSettings, model: string, { inputTokens, outputTokens, cachedInputTokens }: Tokens): number | null {
  const prices = Object.hasOwn(models, model) ? models[model] : undefined;
  if (prices?.inputUsdPerMTok === undefined || prices.outputUsdPerMTok === undefined) return null;
  const cached = Math.min(cachedInputTokens ?? 0, inputTokens);
  const input = (inputTokens - cached) * prices.inputUsdPerMTok + cached * (prices.cachedUsdPerMTok ?? prices.inputUsdPerMTok);
  return Math.round(input + outputTokens * prices.outputUsdPerMTok);
}

/** What an agent reports as a task's usage, with its cost: the agent's own figure, else by the model's price. */
export function pricedUsage(models: ModelSettings, reported: AgentUsage): TaskUsage {
  const { inputTokens, outputTokens, cachedInputTokens, reasoningTokens, costMicroUsd, model, isEstimated } = reported;
  const used: ModelUsage = {
    inputTokens,
    outputTokens,
    ...(cachedInputTokens ? { cachedInputTokens } : {}),
    ...(reasoningTokens ? { reasoningTokens } : {}),
    costMicroUsd: costMicroUsd ?? (model === undefined ? null : priceUsage(models, model, reported)),
    ...(isEstimated ? { isEstimated: true } : {}),
  };
  return model === undefined ? used : { ...used, byModel: { [model]: used } };
}
