import { z } from 'zod';

// Records that modules without a page read too; the calls are in the files of their areas.

export const BUDGET_SCOPES = ['tenant', 'agent', 'session', 'schedule', 'task', 'key'] as const;
export const BUDGET_WINDOWS = ['hour', 'day', 'month', 'total'] as const;
export const BUDGET_ACTIONS = ['deny', 'pause', 'downgrade'] as const;

const ruleFields = {
  scope: z.enum(BUDGET_SCOPES),
  of: z.string().nullable(),
  per: z.enum(BUDGET_WINDOWS),
  tz: z.string(),
  softMicroUsd: z.number().nullable(),
  hardMicroUsd: z.number().nullable(),
  atHard: z.enum(BUDGET_ACTIONS),
  downgradeTo: z.string().nullable(),
};
export type BudgetRule = z.infer<z.ZodObject<typeof ruleFields>>;

export const budgetSchema = z.object({
  id: z.string(),
  origin: z.enum(['config', 'api']),
  ...ruleFields,
  /** Null where each name has its own count, as the two below. */
  spentMicroUsd: z.number().nullable(),
  reservedMicroUsd: z.number().nullable(),
  held: z.number().nullable(),
  windowEndsAt: z.string().nullable(),
  /** Agents of which not one call fits into it, or none with all that it may answer. */
  warnings: z.array(z.string()).default([]),
});
export type Budget = z.infer<typeof budgetSchema>;

export const failureGroupSchema = z.object({
  /** Null in groups of something else, as the two below. */
  code: z.string().nullable(),
  agent: z.string().nullable(),
  release: z.string().nullish(),
  count: z.number(),
  firstAt: z.string(),
  lastAt: z.string(),
  example: z.object({ taskId: z.string(), message: z.string() }),
});
export type FailureGroup = z.infer<typeof failureGroupSchema>;

export const failureTimeSchema = z.object({ at: z.string(), code: z.string(), count: z.number() });
/** The failures of one code in five minutes. */
export type FailureTime = z.infer<typeof failureTimeSchema>;

/** Limits by name; a rate is one limit of three figures, null is none. */
export type LimitsPatch = Readonly<Record<string, unknown>>;
