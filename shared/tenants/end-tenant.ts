import type { Log } from '../log/index.ts';
import type { Keys, RedisClient } from '../redis/index.ts';
import { cleanTenant } from './clean-tenant.ts';
import type { TenantDirectory } from './tenant-directory.ts';
import type { Tenant } from './tenant.ts';

export interface EndTenantPorts {
  redis: RedisClient;
  keys: Keys;
  tenants: TenantDirectory;
  log: Log;
}

/**
 * Ends a tenant and removes everything it owns: keys, tokens, hooks, tasks, sessions, schedules, deliveries, agents. What runs loses its
 * lease and is aborted; its tickets find nothing. The end comes first and is final; what cannot be removed now is removed by the chore
 * `clean-tenants`. Returns false when somebody else ended it.
 */
export async function endTenant(parts: EndTenantPorts, tenant: Tenant, now = Date.now()): Promise<boolean> {
  if (!(await parts.tenants.end(tenant, now))) return false;
  try {
    await cleanTenant(parts, tenant.id);
  } catch (error) {
    parts.log.warn({ err: error, tenant: tenant.id }, 'what a deleted tenant owned could not all be removed now');
  }
  return true;
}
