import { describe, expect, it } from 'vitest';
import { pricedUsage } from '#shared/usage/prices.ts';

const MODELS = {
  large: { inputUsdPerMTok: 3, outputUsdPerMTok: 15, cachedUsdPerMTok: 0.3 },
  plain: { inputUsdPerMTok: 0.25, outputUsdPerMTok: 2 },
  half: { inputUsdPerMTok: 1 },
};
const costOf = (
  model: string | undefined,
  tokens: { inputTokens: number; outputTokens: number; cachedInputTokens?: number },
): number | null => pricedUsage(MODELS, model === undefined ? tokens : { ...tokens, model }).costMicroUsd;

describe('the price of usage', () => {
  it('is that of its model in whole micro-dollars, with a price of its own for cached input', () => {
    expect(costOf('large', { inputTokens: 1000, outputTokens: 100, cachedInputTokens: 900 })).toBe(300 + 270 + 1500);
    expect(costOf('plain', { inputTokens: 1000, outputTokens: 3, cachedInputTokens: 900 })).toBe(256);
    expect(costOf('plain', { inputTokens: 1, outputTokens: 0 })).toBe(0);
    expect(costOf('large', { inputTokens: 1000, outputTokens: 0, cachedInputTokens: 5000 })).toBe(300);
  });

  it.each([['unheard-of'], ['half'], ['constructor'], [undefined]])('is unknown, and not zero, for the model %s', (model) => {
    expect(costOf(model, { inputTokens: 1000, outputTokens: 100 })).toBeNull();
  });

  it('is what the agent says, where it says it', () => {
    expect(pricedUsage(MODELS, { inputTokens: 1, outputTokens: 1, model: 'large', costMicroUsd: 0 })).toMatchObject({
      costMicroUsd: 0,
      byModel: { large: { costMicroUsd: 0 } },
    });
  });
});
