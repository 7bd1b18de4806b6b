import { type Source, SOURCES } from '../config/index.ts';

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
  /** The known part of a cost that is null, where there is one and no `byModel` has it. */
  knownCostMicroUsd?: number;
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
  // A map, because agents name models, and an object has names of its own.
  const byModel = new Map(Object.entries(partsOf(one)));
  for (const [model, used] of Object.entries(partsOf(other))) byModel.set(model, addUsage(byModel.get(model), used));
  // The parts have it.
  const { knownCostMicroUsd: _known, ...figures } = sum;
  return { ...figures, byModel: Object.fromEntries(byModel) };
}

/** The same, known to be no more than an estimate. */
export function estimatedUsage(usage: TaskUsage): TaskUsage {
  const estimated: TaskUsage = { ...usage, isEstimated: true };
  if (!usage.byModel) return estimated;
  const byModel = Object.entries(usage.byModel).map(([model, used]): [string, ModelUsage] => [model, { ...used, isEstimated: true }]);
  return { ...estimated, byModel: Object.fromEntries(byModel) };
}

/** By model; what was used of an unknown one has an empty name. */
function partsOf(usage: TaskUsage): Record<string, ModelUsage> {
  return usage.byModel ?? { '': usage };
}

/** Parts of the other tokens, which are left out where there are none. */
const PARTS = ['cachedInputTokens', 'reasoningTokens'] as const;

function addUsage(one: ModelUsage | undefined, other: ModelUsage): ModelUsage {
  if (!one) return other;
  const sum: ModelUsage = {
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    ...sumOfCosts(one, other),
  };
  for (const each of [one, other]) {
    for (const part of PARTS) if (each[part]) sum[part] = (sum[part] ?? 0) + each[part];
    if (each.isEstimated) sum.isEstimated = true;
  }
  return sum;
}

function sumOfCosts(one: ModelUsage, other: ModelUsage): Pick<ModelUsage, 'costMicroUsd' | 'knownCostMicroUsd'> {
  const known = knownPart(one) + knownPart(other);
  if (one.costMicroUsd !== null && other.costMicroUsd !== null) return { costMicroUsd: known };
  return known > 0 ? { costMicroUsd: null, knownCostMicroUsd: known } : { costMicroUsd: null };
}

function knownPart({ costMicroUsd, knownCostMicroUsd = 0 }: ModelUsage): number {
  return costMicroUsd ?? knownCostMicroUsd;
}

/** The parts of a cost that are known, in millionths of a US dollar. */
export function knownCost(usage: TaskUsage | null | undefined): number {
  if (!usage) return 0;
  const parts = Object.values(partsOf(usage)).reduce((sum, part) => sum + knownPart(part), 0);
  return usage.costMicroUsd ?? parts;
}

/** Usage as the API shows it. */
export function usageRecord(usage: TaskUsage | undefined): Record<string, unknown> | null {
  if (!usage) return null;
  const byModel = Object.entries(usage.byModel ?? {}).map(([model, used]) => usedRecord(used, { model: model === '' ? null : model }));
  return { ...usedRecord(usage, { byModel }), knownCostMicroUsd: knownCost(usage) };
}

function usedRecord(used: ModelUsage, more: Record<string, unknown>): Record<string, unknown> {
  const { inputTokens, outputTokens, cachedInputTokens = 0, reasoningTokens = 0, costMicroUsd, isEstimated = false } = used;
  const knownCostMicroUsd = knownPart(used);
  return { ...more, inputTokens, outputTokens, cachedInputTokens, reasoningTokens, costMicroUsd, knownCostMicroUsd, isEstimated };
}

const DAY_MS = 86_400_000;

/** The day that usage counts for: days since 1970, in UTC. */
export function usageDay(ms: number): number {
  return Math.floor(ms / DAY_MS);
}

/** What a day's row is about. The model comes last, because its name may have any character; empty is an unknown one. */
interface RowName {
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
  /** Model calls through the gateway, by model. */
  calls?: Readonly<Record<string, number>> | undefined;
  /** Attempts to add, under the first model. */
  attempts?: number;
}

/** The rows of a tenant's day that a use adds to, for `count-usage.lua`. */
export function usageRows({ agent, source, usage, calls = {}, attempts = 0 }: CountedUse): UsageRow[] {
  return Object.entries(partsOf(usage)).map(([model, used], at) => {
    const called = Object.hasOwn(calls, model) ? calls[model] : undefined;
    const counted = { ...figuresOf(used), calls: called ?? 0, attempts: at === 0 ? attempts : 0 };
    return [rowName({ agent, source, model }), USAGE_FIGURES.map((figure) => counted[figure])];
  });
}

export function figuresOf(used: ModelUsage): UsageFigures {
  const { isEstimated = false, costMicroUsd, knownCostMicroUsd: _known, ...tokens } = used;
  const money = { costMicroUsd: knownPart(used), unknown: costMicroUsd === null ? 1 : 0 };
  return { ...noFigures(), ...tokens, ...money, estimated: isEstimated ? 1 : 0 };
}

/** Nothing used. */
export function noFigures(): UsageFigures {
  const tokens = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 };
  return { ...tokens, costMicroUsd: 0, unknown: 0, estimated: 0, calls: 0, attempts: 0 };
}

function rowName({ agent, source, model }: RowName): string {
  return `${agent}|${source}|${model}`;
}

/** Stands for what came when a day had its last row. No agent and no model is called so in a row's name. */
const OTHER = '*';

/** Reads a row of a day; null for what is none. `isOther`: it came when the day had its last row. */
export function parseUsageRow(name: string, text: string): { name: RowName; figures: UsageFigures; isOther: boolean } | null {
  const [agent = '', source = ''] = name.split('|', 2);
  const stored = text.split(' ').map(Number);
  if (!(SOURCES as readonly string[]).includes(source) || !stored.every((figure) => Number.isFinite(figure))) return null;
  const figures = noFigures();
  for (const [at, figure] of USAGE_FIGURES.entries()) figures[figure] = stored[at] ?? 0;
  const model = name.slice(agent.length + source.length + 2);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return { name: { agent, source: source as Source, model }, figures, isOther: agent === OTHER };
}
