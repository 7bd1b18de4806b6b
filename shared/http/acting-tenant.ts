import type { Request } from 'express';
import { MusterError } from '../errors/index.ts';
import { type ApiKey, DEFAULT_TENANT, hasScope, publicTenantId } from '../tenants/index.ts';
import type { HttpParts } from './http-parts.ts';

/** Names the tenant that an operator of the whole installation acts for. */
const TENANT_HEADER = 'muster-tenant';

/**
 * The key as it counts for a request: of its own tenant or, with the header, of the one named there. Only an admin of tenant `default` may
 * name another one, who could make a key for it too. Errors: `auth.forbidden`, `tenant.not-found`.
 */
export function actingKey({ tenants }: Pick<HttpParts, 'tenants'>, request: Request, key: ApiKey): ApiKey {
  const named = request.get(TENANT_HEADER);
  if (named === undefined || named === key.tenant || named === publicTenantId(key.tenant)) return key;
  if (key.tenant !== DEFAULT_TENANT || !hasScope(key.scopes, 'admin')) {
    throw new MusterError('auth.forbidden', `Only an admin of tenant ${DEFAULT_TENANT} may act for another tenant (${TENANT_HEADER})`);
  }
  const tenant = tenants.find(named) ?? tenants.get(named);
  if (!tenant) throw new MusterError('tenant.not-found', 'There is no such tenant', { details: { id: named.slice(0, 100) } });
  return { ...key, tenant: tenant.id };
}
