import { z } from 'zod';

/** Tokens, as every answer about usage has them. */
export const usageFigures = {
  inputTokens: z.number().meta({ description: 'Tokens that were sent, cached ones included.' }),
  outputTokens: z.number().meta({ description: 'Tokens that were answered, reasoning included.' }),
  cachedInputTokens: z.number().meta({ description: 'Tokens that were sent and that the provider had cached.' }),
  reasoningTokens: z.number().meta({ description: "Tokens of the model's reasoning." }),
};

const usedFigures = {
  ...usageFigures,
  costMicroUsd: z.number().nullable().meta({ description: 'Cost in millionths of a dollar; null when a part of it is unknown.' }),
  knownCostMicroUsd: z.number().meta({ description: 'The part of the cost that is known, which budgets count.' }),
  isEstimated: z.boolean().meta({ description: 'Whether a part of the figures is estimated.' }),
};

const modelUsageSchema = z.strictObject({
  model: z.string().nullable().meta({ description: 'The model; null when unknown.' }),
  ...usedFigures,
});

/** What an attempt used, or a task by all its attempts. */
export const usageViewSchema = z
  .strictObject({ ...usedFigures, byModel: z.array(modelUsageSchema).meta({ description: 'The same by model, where one is known.' }) })
  .meta({ id: 'Usage' });
