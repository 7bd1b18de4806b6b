import { z } from 'zod';
import { nameSchema, zoneSchema } from '../fields.ts';

/** What a budget is for: all that a tenant spends, or what one agent, session, schedule, task with its descendants, or API key does. */
const BUDGET_SCOPES = ['tenant', 'agent', 'session', 'schedule', 'task', 'key'] as const;
/** How long a window of a budget lasts; `total` has one without an end. */
const BUDGET_WINDOWS = ['hour', 'day', 'month', 'total'] as const;
/** What happens at the hard line. */
const BUDGET_ACTIONS = ['deny', 'pause', 'downgrade'] as const;

const MAX_MICRO_USD = 1e15;
const lineSchema = z.int().min(0).max(MAX_MICRO_USD).nullable().default(null);

/** The fields of a budget. */
export const budgetFields = {
  scope: z.enum(BUDGET_SCOPES).meta({ description: 'What it counts.' }),
  of: z.string().min(1).max(200).nullable().default(null).meta({
    description: 'Which agent, session, schedule, first task or key (its id); null gives each its own count. Null for a tenant.',
  }),
  per: z.enum(BUDGET_WINDOWS).meta({ description: 'The length of a window, after which the count starts again at 0; `total` has no end.' }),
  tz: zoneSchema.default('UTC').meta({ description: 'Zone in which its days and months begin.' }),
  softMicroUsd: lineSchema.meta({ description: 'Spending this much, in millionths of a US dollar, notifies once a window.' }),
  hardMicroUsd: lineSchema.meta({ description: 'No more than this is spent in a window, in millionths of a US dollar.' }),
  atHard: z.enum(BUDGET_ACTIONS).default('deny').meta({
    description: '`deny` fails the task, `pause` holds it until the next window or a raise, `downgrade` takes the model `downgradeTo`.',
  }),
  downgradeTo: z.string().min(1).max(200).nullable().default(null).meta({ description: 'The model of a downgrade.' }),
};

interface Lines {
  scope: (typeof BUDGET_SCOPES)[number];
  of: string | null;
  softMicroUsd: number | null;
  hardMicroUsd: number | null;
  atHard: (typeof BUDGET_ACTIONS)[number];
  downgradeTo: string | null;
}

/** What is wrong with a budget as a whole. */
function problemOf({ scope, of, softMicroUsd, hardMicroUsd, atHard, downgradeTo }: Lines): string | null {
  if (softMicroUsd === null && hardMicroUsd === null) return 'expected `softMicroUsd`, `hardMicroUsd` or both';
  if (softMicroUsd !== null && hardMicroUsd !== null && softMicroUsd > hardMicroUsd) return 'expected `softMicroUsd` below `hardMicroUsd`';
  if ((atHard === 'downgrade') !== (downgradeTo !== null)) return '`downgradeTo` goes with `atHard: downgrade`, and that with it';
  return scope === 'tenant' && of !== null ? '`of` goes with another scope than `tenant`' : null;
}

function check(lines: Lines, context: z.RefinementCtx): void {
  const problem = problemOf(lines);
  if (problem !== null) context.addIssue({ code: 'custom', message: problem });
}

/** A budget without its id. */
export const budgetSchema = z.strictObject(budgetFields).superRefine(check);
export type BudgetRule = z.infer<typeof budgetSchema>;

/** Budgets of the configuration, each for one tenant. */
export const configuredBudgetsSchema = z
  .array(z.strictObject({ id: nameSchema, tenant: nameSchema.default('default'), ...budgetFields }).superRefine(check))
  .refine((budgets) => new Set(budgets.map(({ id, tenant }) => `${tenant}/${id}`)).size === budgets.length, 'each id once')
  .default([]);
