import { z } from 'zod';
import { route, type Route } from '#shared/http/index.ts';
import { measureTenant } from '#shared/ledger/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { unreadableOf, unreadableSchema } from '#shared/redis/index.ts';
import { publicTenantId } from '#shared/tenants/index.ts';
import { assertFleetOwner } from '../assert-fleet-owner.ts';
import { findTenant, tenantPathSchema } from './find-tenant.ts';
import { tenantViewSchema, tenantWithSizeSchema, viewTenant } from './tenant-view.ts';

/** `GET /v1/tenants`, by id. */
export function getTenants({ tenants }: Parts): Route {
  return route({
    method: 'get',
    path: '/v1/tenants',
    summary: 'The tenants',
    description: 'For keys of the tenant `default`.',
    scope: 'admin',
    responses: { 200: z.strictObject({ items: z.array(tenantViewSchema), nextCursor: z.null(), unreadable: unreadableSchema }) },
    handle: async (_input, call) => {
      assertFleetOwner(call);
      await tenants.refresh();
      const { unreadable } = tenants;
      const readable = tenants.list().filter(({ id }) => !unreadable.some((record) => record.id === publicTenantId(id)));
      return { status: 200, body: { items: readable.map((tenant) => viewTenant(tenant)), nextCursor: null, ...unreadableOf(unreadable) } };
    },
  });
}

/** `GET /v1/tenants/:id`. */
export function getTenant({ tenants, redis, keys, ledger }: Parts): Route {
  return route({
    method: 'get',
    path: '/v1/tenants/:id',
    summary: 'Read a tenant',
    description: 'For keys of the tenant `default`.',
    scope: 'admin',
    request: { params: tenantPathSchema },
    responses: { 200: tenantWithSizeSchema },
    handle: async ({ params }, call) => {
      assertFleetOwner(call);
      const tenant = await findTenant(tenants, params.id);
      const storedBytes = await measureTenant({ redis, keys }, tenant.id);
      return { status: 200, body: { ...viewTenant(tenant), storedBytes, maxStoredBytes: ledger.limitsOf(tenant.id)?.storedBytes ?? null } };
    },
  });
}
