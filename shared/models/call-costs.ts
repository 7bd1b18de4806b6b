import { type Budget, dollars, type SpendAmounts } from '../budgets/index.ts';
import type { AgentDefinition, Settings } from '../config/index.ts';
import { priceUsage } from '../usage/index.ts';
import { estimateTokens } from './estimate-tokens.ts';
import { amountsOf, outputFor } from './plan-call.ts';

type CostSettings = Pick<Settings, 'models' | 'modelCalls'>;

/** One call of an agent: what it may cost, and how long an answer an amount pays for. */
export interface CallCost extends Required<SpendAmounts> {
  readonly outputTokens: number;
  readonly outputFor: (amountMicroUsd: number) => number;
}

/** Of the question, which nobody knows before it is asked. */
const INPUT_TOKENS = 50;

/** What the first call of an `openai` agent may cost, before anything is known of its calls; null where its price is not known. */
export function callCostOf({ models, modelCalls }: CostSettings, definition: AgentDefinition): CallCost | null {
  if (definition.kind !== 'openai') return null;
  const { model, system = '', priceMicroUsdPerMillion: own } = definition;
  const known = Object.hasOwn(models, model) ? models[model] : undefined;
  const inputTokens = INPUT_TOKENS + estimateTokens(Buffer.byteLength(system));
  const priceOf = (outputTokens: number): number | null =>
    own
      ? Math.round((inputTokens * own.input + outputTokens * own.output) / 1e6)
      : priceUsage(models, model, { inputTokens, outputTokens });
  if (priceOf(0) === null) return null;
  const costOf = (outputTokens: number): number => priceOf(outputTokens) ?? 0;
  const output = definition.maxOutputTokens ?? known?.maxOutputTokens ?? modelCalls.maxOutputTokens;
  const amounts = amountsOf(costOf, { output, minOutput: modelCalls.minOutputTokens, usualOutput: null });
  return { ...amounts, outputTokens: output, outputFor: (amount) => outputFor(costOf, output, amount) };
}

/** What follows where a call does not fit, by `atHard`. */
const CONSEQUENCES = {
  deny: 'its tasks are refused',
  pause: 'its tasks wait until the budget is raised',
  downgrade: 'its calls take the other model',
} as const satisfies Record<Budget['atHard'], string>;
const MAX_WARNINGS = 20;

/** Agents of which not one call fits into a budget, or none with all that it may answer: a sentence for each, at most 20. */
export function warnOfBudget(
  settings: CostSettings,
  { scope, of, hardMicroUsd, atHard }: Pick<Budget, 'scope' | 'of' | 'hardMicroUsd' | 'atHard'>,
  agents: readonly { id: string; definition: AgentDefinition }[],
): string[] {
  if (hardMicroUsd === null) return [];
  const counted = scope === 'agent' && of !== null ? agents.filter(({ id }) => id === of) : agents;
  return counted
    .flatMap(({ id, definition }) => {
      const cost = callCostOf(settings, definition);
      if (cost === null || cost.max <= hardMicroUsd) return [];
      if (cost.least > hardMicroUsd)
        return [
          `Not one call of the agent ${id} fits into ${dollars(hardMicroUsd)}: it needs ${dollars(cost.least)}; ${CONSEQUENCES[atHard]}`,
        ];
      const bound = `${cost.outputFor(hardMicroUsd)} of ${cost.outputTokens} output tokens`;
      return [
        `A call of the agent ${id} may cost ${dollars(cost.max)}, more than ${dollars(hardMicroUsd)}: its answers have at most ${bound}`,
      ];
    })
    .slice(0, MAX_WARNINGS);
}
