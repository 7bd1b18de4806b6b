import { z } from 'zod';
import { tenantLimitsSchema } from '#shared/config/index.ts';
import { type ApiKey, publicTenantId, SCOPES, type Tenant } from '#shared/tenants/index.ts';

export const tenantViewSchema = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    disabled: z.boolean(),
    limits: tenantLimitsSchema.nullable().meta({ description: 'Null takes those of the configuration.' }),
    createdAt: z.iso.datetime(),
  })
  .meta({ id: 'Tenant' });

/** A tenant with what it has stored, which takes a look at each of its keys. */
export const tenantWithSizeSchema = tenantViewSchema
  .extend({
    storedBytes: z.int().meta({ description: "About how many bytes of Redis's memory it takes." }),
    maxStoredBytes: z.int().nullable().meta({ description: 'Its limit `storedBytes`; null for none.' }),
  })
  .meta({ id: 'TenantWithSize' });

export function viewTenant({ id, createdAt, ...rest }: Tenant): z.infer<typeof tenantViewSchema> {
  return { ...rest, id: publicTenantId(id), createdAt: new Date(createdAt).toISOString() };
}

export const keyViewSchema = z
  .strictObject({ id: z.string(), tenant: z.string(), name: z.string(), scopes: z.array(z.enum(SCOPES)), createdAt: z.iso.datetime() })
  .meta({ id: 'Key' });

/** A key as callers see it; its secret is known to nobody. */
export function viewKey({ id, tenant, name, scopes, createdAt }: ApiKey): z.infer<typeof keyViewSchema> {
  return { id, tenant: publicTenantId(tenant), name, scopes, createdAt: new Date(createdAt).toISOString() };
}
