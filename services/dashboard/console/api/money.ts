import { z } from 'zod';
import { callApi, ONLY_NEW } from './call-api.ts';
import { budgetSchema, type Budget, type BudgetRule } from './administration-records.ts';
import { listOf } from './records.ts';

export const USAGE_GROUPS = ['agent', 'model', 'source', 'task', 'session', 'person', 'key', 'schedule', 'tenant', 'day'] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

const figures = {
  inputTokens: z.number(),
  outputTokens: z.number(),
  cachedInputTokens: z.number(),
  reasoningTokens: z.number(),
  /** Null when the cost of all uses is unknown. */
  costMicroUsd: z.number().nullable(),
  unknown: z.number(),
  estimated: z.number(),
  calls: z.number(),
  attempts: z.number(),
};
const totalSchema = z.object(figures);
export type UsageFigures = z.infer<typeof totalSchema>;
const itemSchema = z.object({ group: z.string().nullable(), ...figures });
export type UsageItem = z.infer<typeof itemSchema>;
const usageSchema = listOf(itemSchema).extend({ total: totalSchema });
export type Usage = z.infer<typeof usageSchema>;

/** `days`: the query `since` and `until`, empty for the last 30 days. */
export async function readUsage(groupBy: UsageGroup, days: string, signal: AbortSignal): Promise<Usage> {
  return await callApi(usageSchema, `/v1/usage?groupBy=${groupBy}${days === '' ? '' : `&${days}`}`, { signal });
}

export async function readBudgets(signal: AbortSignal): Promise<Budget[]> {
  return (await callApi(listOf(budgetSchema), '/v1/budgets', { signal })).items;
}

const budgetPath = (id: string): string => `/v1/budgets/${encodeURIComponent(id)}`;

/** Throws `budget.exists` rather than replace one. */
export async function createBudget(id: string, rule: BudgetRule): Promise<void> {
  await callApi(z.unknown(), budgetPath(id), { method: 'PUT', body: rule, headers: ONLY_NEW });
}

export async function replaceBudget(id: string, rule: BudgetRule): Promise<void> {
  await callApi(z.unknown(), budgetPath(id), { method: 'PUT', body: rule });
}

export async function removeBudget(id: string): Promise<void> {
  await callApi(z.unknown(), budgetPath(id), { method: 'DELETE' });
}

const previewSchema = z.object({
  tasks: z.number(),
  spentMicroUsd: z.number(),
  refused: z.number(),
  savedMicroUsd: z.number(),
  warnings: z.number(),
  since: z.string().nullable(),
  agentWarnings: z.array(z.string()).default([]),
});
export type BudgetPreview = z.infer<typeof previewSchema>;

export async function previewBudget(rule: BudgetRule): Promise<BudgetPreview> {
  return await callApi(previewSchema, '/v1/budgets/preview', { method: 'POST', body: rule });
}

const providerSchema = z.object({
  id: z.string(),
  account: z.string(),
  model: z.string(),
  endpoint: z.string(),
  requestsPerMinute: z.number().nullable(),
  tokensPerMinute: z.number().nullable(),
  concurrent: z.number().nullable(),
  learned: z.boolean(),
  requests: z.number(),
  tokens: z.number(),
  running: z.number(),
  waitingTenants: z.number(),
  block: z
    .object({ kind: z.enum(['cooldown', 'wall']), scope: z.string(), reason: z.string(), since: z.string(), until: z.string() })
    .nullable(),
  lastCallAt: z.string(),
});
export type Provider = z.infer<typeof providerSchema>;

export async function readProviders(signal: AbortSignal): Promise<Provider[]> {
  return (await callApi(listOf(providerSchema), '/v1/providers', { signal })).items;
}
