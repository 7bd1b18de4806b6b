import { z } from 'zod';
import { route, type Route } from '#shared/http/route.ts';
import type { Parts } from '#shared/lifecycle/open-parts.ts';
import { assertFleetOwner } from '../assert-fleet-owner.ts';
import { findTenant, tenantPathSchema } from './find-tenant.ts';
import { tenantViewSchema, viewTenant } from './tenant-view.ts';

/** `GET /v1/tenants`, by id. */
export function getTenants({ tenants }: Parts): Route {
  return route({
    method: 'get',
    path: '/v1/tenants',
    summary: 'The tenants',
    description: 'For keys of the tenant `default`.',
    scope: 'admin',
    responses: { 200: z.strictObject({ items: z.array(tenantViewSchema), nextCursor: z.null() }) },
    handle: async (_input, call) => {
      assertFleetOwner(call);
      await tenants.refresh();
      return { status: 200, body: { items: tenants.list().map((tenant) => viewTenant(tenant)), nextCursor: null } };
    },
  });
}

/** `GET /v1/tenants/:id`. */
export function getTenant({ tenants }: Parts): Route {
  return route({
    method: 'get',
    path: '/v1/tenants/:id',
    summary: 'Read a tenant',
    description: 'For keys of the tenant `default`.',
    scope: 'admin',
    request: { params: tenantPathSchema },
    responses: { 200: tenantViewSchema },
    handle: async ({ params }, call) => {
      assertFleetOwner(call);
      return { status: 200, body: viewTenant(await findTenant(tenants, params.id)) };
    },
  });
}
