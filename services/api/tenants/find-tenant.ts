import { z } from 'zod';
import { MusterError } from '#shared/errors/muster-error.ts';
import type { TenantDirectory } from '#shared/tenants/tenant-directory.ts';
import type { Tenant } from '#shared/tenants/tenant.ts';

export const tenantPathSchema = z.object({ id: z.string().meta({ description: "The tenant's id." }) });

/** The tenant that has this name in Redis now, not as this process last heard. Errors: `tenant.not-found`. */
export async function findTenant(tenants: TenantDirectory, name: string): Promise<Tenant> {
  await tenants.refresh();
  const tenant = tenants.find(name);
  if (!tenant) throw new MusterError('tenant.not-found', 'There is no such tenant', { details: { tenant: name.slice(0, 100) } });
  return tenant;
}
