import type { Source } from '../config/index.ts';

/** What was used of one model, or of several. Tokens are integers, money is millionths of a US dollar. */
export interface ModelUsage {
  /** All input tokens, cached ones included. */
  inputTokens: number;
  /** All output tokens, reasoning included. */
  outputTokens: number;
  cachedInputTokens?: number;
  reasoningTokens?: number;
  /** Null when a part of it is unknown. */
  costMicroUsd: number | null;
  /** Whether a part of it is estimated. */
  isEstimated?: true;
}

/** What an attempt used, or a task by all its attempts. */
export interface TaskUsage extends ModelUsage {
  /** By the model's name, where one is known; an empty name has what is of unknown ones. */
  byModel?: Record<string, ModelUsage>;
}

/** The sum of two usages, either of which may be absent. */
export function sumUsage(one: TaskUsage | null | undefined, other: TaskUsage): TaskUsage;
export function sumUsage(one: TaskUsage | null | undefined, other: TaskUsage | null): TaskUsage | null;
export function sumUsage(one: TaskUsage | null | undefined, other: TaskUsage | null): TaskUsage | null {
  if (!one || !other) return one ?? other;
  const sum: TaskUsage = addUsage(one, other);
  if (!one.byModel && !other.byModel) return sum;
  const byModel = { ...partsOf(one) };
  for (const [model, used] of Object.entries(partsOf(other))) byModel[model] = addUsage(byModel[model], used);
  return { ...sum, byModel };
}

/** The same, known to be no more than an estimate. */
export function estimatedUsage(usage: TaskUsage): TaskUsage {
  const { byModel } = usage;
  if (!byModel) return { ...usage, isEstimated: true };
  const models = Object.entries(byModel).map(([model, used]) => [model, { ...used, isEstimated: true }] as const);
  return { ...usage, isEstimated: true, byModel: Object.fromEntries(models) };
}

/** By model; what was used of an unknown one has an empty name. */
function partsOf(usage: TaskUsage): Record<string, ModelUsage> {
  return usage.byModel ?? { '': usage };
}

function addUsage(one: ModelUsage | undefined, other: ModelUsage): ModelUsage {
  if (!one) return other;
  const { costMicroUsd: cost } = one;
  const cached = (one.cachedInputTokens ?? 0) + (other.cachedInputTokens ?? 0);
  const reasoning = (one.reasoningTokens ?? 0) + (other.reasoningTokens ?? 0);
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    ...(cached > 0 ? { cachedInputTokens: cached } : {}),
    ...(reasoning > 0 ? { reasoningTokens: reasoning } : {}),
    costMicroUsd: cost === null || other.costMicroUsd === null ? null : cost + other.costMicroUsd,
    ...(one.isEstimated || other.isEstimated ? { isEstimated: true as const } : {}),
  };
}

/** Usage as the API shows it. */
export function usageRecord(usage: TaskUsage | undefined): Record<string, unknown> | null {
  if (!usage) return null;
  const byModel = Object.entries(usage.byModel ?? {}).map(([model, used]) => ({ model: model === '' ? null : model, ...usedRecord(used) }));
  return { ...usedRecord(usage), byModel };
}

function usedRecord(used: ModelUsage): Record<string, unknown> {
  const { inputTokens, outputTokens, cachedInputTokens = 0, reasoningTokens = 0, costMicroUsd, isEstimated = false } = used;
  return { inputTokens, outputTokens, cachedInputTokens, reasoningTokens, costMicroUsd, isEstimated };
}

const DAY_MS = 86_400_000;

/** The day that usage counts for: days since 1970, in UTC. */
export function usageDay(ms: number): number {
  return Math.floor(ms / DAY_MS);
}

/** What a day's row is about. The model comes last, because its name may have any character; empty is an unknown one. */
export interface RowName {
  agent: string;
  source: Source;
  model: string;
}

/** The figures of a row, in the order in which they are stored. */
export const USAGE_FIGURES = [
  'inputTokens',
  'outputTokens',
  'cachedInputTokens',
  'reasoningTokens',
  'costMicroUsd',
  /** Uses whose cost is unknown; `costMicroUsd` has the others'. */
  'unknown',
  /** Uses whose figures are estimated. */
  'estimated',
  /** Model calls that were made through the gateway. */
  'calls',
  'attempts',
] as const;
export type UsageFigures = Record<(typeof USAGE_FIGURES)[number], number>;

/** What `count-usage.lua` adds to a row: its name and its figures. */
export type UsageRow = [name: string, figures: number[]];

interface CountedUse {
  agent: string;
  source: Source;
  /** All that was used. */
  usage: TaskUsage;
  /** What of it is not in the rows yet; null for nothing. By default all. */
  uncounted?: TaskUsage | null;
  /** Model calls to add, under the first model. */
  calls?: number;
  /** Attempts to add, under the first model. */
  attempts?: number;
}

/** The rows of a tenant's day that a use adds to, for `count-usage.lua`. */
export function usageRows({ agent, source, usage, uncounted = usage, calls = 0, attempts = 0 }: CountedUse): UsageRow[] {
  const first = Object.keys(partsOf(usage))[0] ?? '';
  const parts: Record<string, ModelUsage | null> = uncounted === null ? { [first]: null } : { ...partsOf(uncounted) };
  if (!Object.hasOwn(parts, first)) parts[first] = null;
  return Object.entries(parts).map(([model, used]) => {
    const counted = model === first ? { ...figuresOf(used), calls, attempts } : figuresOf(used);
    return [rowName({ agent, source, model }), USAGE_FIGURES.map((figure) => counted[figure])];
  });
}

function figuresOf(used: ModelUsage | null): UsageFigures {
  return {
    inputTokens: used?.inputTokens ?? 0,
    outputTokens: used?.outputTokens ?? 0,
    cachedInputTokens: used?.cachedInputTokens ?? 0,
    reasoningTokens: used?.reasoningTokens ?? 0,
    costMicroUsd: used?.costMicroUsd ?? 0,
    unknown: used?.costMicroUsd === null ? 1 : 0,
    estimated: used?.isEstimated ? 1 : 0,
    calls: 0,
    attempts: 0,
  };
}

function rowName({ agent, source, model }: RowName): string {
  return `${agent}|${source}|${model}`;
}

/** Stands for what came when a day had its last row. No agent and no model is called so in a row's name. */
export const OTHER = '*';

/** Reads a row's name. */
export function parseRowName(name: string): RowName {
  const [agent = '', source = ''] = name.split('|', 2);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by `rowName`
  return { agent, source: source as Source, model: name.slice(agent.length + source.length + 2) };
}
