import { z } from 'zod';
import { MusterError } from '#shared/errors/index.ts';
import type { Tenant, TenantDirectory } from '#shared/tenants/index.ts';

export const tenantPathSchema = z.object({ id: z.string().meta({ description: "The tenant's id." }) });

/** The tenant that has this name in Redis now, not as this process last heard. Errors: `tenant.not-found`. */
export async function findTenant(tenants: TenantDirectory, name: string): Promise<Tenant> {
  await tenants.refresh();
  const tenant = tenants.find(name);
  if (!tenant) throw new MusterError('tenant.not-found', 'There is no such tenant', { details: { tenant: name.slice(0, 100) } });
  return tenant;
}
