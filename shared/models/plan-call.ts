import type { SpendAmounts } from '../budgets/index.ts';
import type { Settings } from '../config/index.ts';
import type { CallOptions, ModelSource } from './language-model.ts';
import type { Latencies } from './latencies.ts';

interface PlanPorts {
  readonly settings: Pick<Settings, 'models' | 'modelCalls'>;
  readonly latencies: Latencies;
}

/** Where a model is called. The agent's own stays at the agent's own endpoint. */
export function sourceOf(model: string, source: ModelSource): ModelSource {
  return (model === source.name ? null : source.elsewhere?.(model)) ?? source;
}

/** The models to call in turn: the requested one, then its fallbacks. Slow ones are left out while another is not slow. */
export function candidatesFor({ settings, latencies }: PlanPorts, source: ModelSource): [string, ...string[]] {
  const { name } = source;
  const all = [name, ...(settings.models[name]?.fallback ?? [])];
  const fast = all.filter((model) => {
    const { maxP95Ms } = settings.models[model] ?? {};
    const p95 = maxP95Ms === undefined ? null : latencies.p95(`${sourceOf(model, source).account.name} ${model}`);
    return p95 === null || maxP95Ms === undefined || p95 <= maxP95Ms;
  });
  const [first, ...others] = fast;
  return first === undefined ? [name] : [first, ...others];
}

/** The call with a bound of its output, where its model has a bound or a price: money is reserved for all that it may answer. */
export function boundOutput<Options extends CallOptions>(
  { models, modelCalls }: PlanPorts['settings'],
  { source, model }: { source: Pick<ModelSource, 'name' | 'ownCostOf'>; model: string },
  params: Options,
): Options {
  if (params.maxOutputTokens !== undefined) return params;
  const known = Object.hasOwn(models, model) ? models[model] : undefined;
  const hasOwnPrice = model === source.name && source.ownCostOf({ inputTokens: 0, outputTokens: 0 }) !== undefined;
  const isPriced = hasOwnPrice || known?.outputUsdPerMTok !== undefined;
  const bound = known?.maxOutputTokens ?? (isPriced ? modelCalls.maxOutputTokens : undefined);
  return bound === undefined ? params : { ...params, maxOutputTokens: bound };
}

/** Tokens of a call: what it may use. */
export interface PlannedTokens {
  readonly input: number;
  /** At most, and at least where its budgets have no more left. */
  readonly output: number;
  readonly minOutput: number;
  /** What such calls usually answer; null while nobody knows. */
  readonly usualOutput: number | null;
}

/** What a call may cost, by the cost of tokens. */
export function amountsOf(
  costOf: (outputTokens: number) => number,
  { output, minOutput, usualOutput }: Omit<PlannedTokens, 'input'>,
): Required<SpendAmounts> {
  const usual = Math.max(usualOutput ?? output, Math.min(minOutput, output));
  return { max: costOf(Math.max(output, usual)), usual: costOf(usual), least: costOf(Math.min(minOutput, output)) };
}

/** The output tokens that an amount pays for. */
export function outputFor(costOf: (outputTokens: number) => number, output: number, amountMicroUsd: number): number {
  if (amountMicroUsd >= costOf(output)) return output;
  const input = costOf(0);
  return Math.max(1, Math.floor(((amountMicroUsd - input) / (costOf(output) - input)) * output));
}
