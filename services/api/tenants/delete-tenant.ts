import { z } from 'zod';
import { MusterError } from '#shared/errors/index.ts';
import { route, type Route } from '#shared/http/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { DEFAULT_TENANT, deleteTenant as deleteWithAll } from '#shared/tenants/index.ts';
import { assertFleetOwner } from '../assert-fleet-owner.ts';
import { findTenant, tenantPathSchema } from './find-tenant.ts';

/** `DELETE /v1/tenants/:id`. */
export function deleteTenant(parts: Parts): Route {
  return route({
    method: 'delete',
    path: '/v1/tenants/:id',
    summary: 'Delete a tenant with everything it owns',
    description:
      'For keys of the tenant `default`. Its keys end, what runs is aborted, and nothing of it can be read any more. Its name is free at once; a tenant of the same name is another one.',
    scope: 'admin',
    request: { params: tenantPathSchema },
    responses: { 204: z.null() },
    handle: async ({ params }, call) => {
      assertFleetOwner(call);
      if (params.id === DEFAULT_TENANT) throw new MusterError('request.invalid', `The tenant "${DEFAULT_TENANT}" cannot be deleted`);
      const tenant = await findTenant(parts.tenants, params.id);
      if (!(await deleteWithAll(parts, tenant))) {
        throw new MusterError('tenant.not-found', 'There is no such tenant', { details: { tenant: params.id } });
      }
      call.log.info({ event: 'tenant.deleted', deleted: tenant.id, by: call.key?.id }, `The tenant ${tenant.id} was deleted`);
      return { status: 204 };
    },
  });
}
