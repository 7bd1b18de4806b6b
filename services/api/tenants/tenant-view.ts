import { z } from 'zod';
import { lineSchema, tenantLimitsPatchSchema, tenantLimitsSchema } from '#shared/config/index.ts';
import { publicTenantId, type Tenant, tenantNameSchema } from '#shared/tenants/index.ts';
import { onePageOfRecords } from '../lists.ts';

const EXAMPLE = { id: 'acme', name: 'Acme Ltd', disabled: false, limits: null, createdAt: '2026-05-01T09:00:00.000Z' };

const nameSchema = lineSchema.min(1).max(200);
const disabledSchema = z.boolean().meta({ description: 'Whether its keys open nothing and its work waits.' });
const limitsSchema = tenantLimitsSchema.nullable().meta({ description: 'Null takes those of the configuration.' });

export const tenantViewSchema = z
  .strictObject({
    id: z.string().meta({ description: 'The name in addresses and headers.' }),
    name: z.string().meta({ description: 'For people.' }),
    disabled: disabledSchema,
    limits: limitsSchema,
    createdAt: z.iso.datetime().meta({ description: 'When it was made.' }),
  })
  .meta({ id: 'Tenant', examples: [EXAMPLE] });

/** A tenant with what it has stored, which takes reading each of its keys. */
export const tenantWithSizeSchema = tenantViewSchema
  .extend({
    storedBytes: z.int().meta({ description: "About how many bytes of Redis's memory it takes." }),
    effectiveLimits: tenantLimitsSchema
      .nullable()
      .meta({ description: "The limits that hold now, the configuration's included; null for none." }),
    maxStoredBytes: z.int().nullable().meta({ description: 'Its limit `storedBytes`; null for none.' }),
  })
  .meta({ id: 'TenantWithSize', examples: [{ ...EXAMPLE, effectiveLimits: null, storedBytes: 48_211, maxStoredBytes: null }] });

export const tenantListSchema = onePageOfRecords(tenantViewSchema, 'By id.').meta({ id: 'TenantList' });

export const newTenantSchema = z
  .strictObject({
    id: tenantNameSchema.meta({ description: 'The name in addresses and headers.' }),
    name: nameSchema.optional().meta({ description: 'For people; by default the id.' }),
    disabled: disabledSchema.default(false),
    limits: limitsSchema.default(null),
  })
  .meta({ id: 'NewTenant', examples: [{ id: 'acme', name: 'Acme Ltd' }] });

export const tenantPatchSchema = z
  .strictObject({
    name: nameSchema.optional().meta({ description: 'For people.' }),
    disabled: disabledSchema.optional(),
    limits: tenantLimitsPatchSchema
      .nullable()
      .optional()
      .meta({ description: 'Only named limits change; null restores those of the configuration.' }),
  })
  .meta({ id: 'TenantPatch', examples: [{ disabled: true }] });

/** A tenant as callers see it. */
export function viewTenant({ id, createdAt, ...rest }: Tenant): z.infer<typeof tenantViewSchema> {
  return { ...rest, id: publicTenantId(id), createdAt: new Date(createdAt).toISOString() };
}

export type TenantPatch = z.infer<typeof tenantPatchSchema>;
