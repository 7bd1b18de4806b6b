import { z } from 'zod';
import { tenantLimitsSchema, type TenantLimits, type TenantLimitsPatch } from '../config/index.ts';
import { mergeFigures } from './fleet-limits/fleet-limits-directory.ts';

/** What people call a tenant. */
export const tenantNameSchema = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, 'expected lower-case letters, digits, "_" or "-", at most 63');

/**
 * What everything of a tenant is kept under: its name, and after `~` the generation of a name that was used before. A name used again is
 * another tenant, so that nothing of the earlier one is ever its own.
 */
export const tenantIdSchema = z.string().regex(/^[a-z0-9][a-z0-9_-]{0,62}(~\d{1,9})?$/, 'expected the id of a tenant');

/** The id of a tenant as callers see it: its name, whichever generation it is. */
export function publicTenantId(id: string): string {
  return id.split('~', 1)[0] ?? id;
}

/** How many tenants of its name there were up to this one. */
export function generationOf(id: string): number {
  return Number(id.split('~')[1] ?? 1);
}

/** The owner of everything; nothing crosses tenants. */
export const tenantSchema = z.object({
  id: tenantIdSchema,
  name: z.string().min(1).max(200),
  /** A disabled tenant's keys and schedules do nothing until it is enabled again. */
  disabled: z.boolean(),
  /** Its own limits; null takes the configuration's. */
  limits: tenantLimitsSchema.nullable(),
  createdAt: z.number().int(),
});
export type Tenant = z.infer<typeof tenantSchema>;

/** The tenant of a one-team installation, which is there from the start. */
export const DEFAULT_TENANT = 'default';

const UNLIMITED: TenantLimits = {
  storedBytes: null,
  maxTimeoutMs: null,
  retentionMs: null,
  running: null,
  waiting: null,
  runningByClass: {},
  runningLow: null,
  weight: 1,
  runningByAgent: {},
  rates: {},
};

/** Limits with a change of some of them; null has none so far. */
export function patchLimits(
  limits: TenantLimits | null,
  { runningByClass, runningByAgent, rates, ...figures }: TenantLimitsPatch,
): TenantLimits {
  const before = limits ?? UNLIMITED;
  const named = Object.fromEntries(Object.entries(figures).filter(([, figure]) => figure !== undefined));
  return {
    ...before,
    ...named,
    runningByClass: mergeFigures(before.runningByClass, runningByClass),
    runningByAgent: mergeFigures(before.runningByAgent, runningByAgent),
    rates: mergeFigures(before.rates, rates),
  };
}
