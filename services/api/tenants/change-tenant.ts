import { z } from 'zod';
import { tenantLimitsPatchSchema } from '#shared/config/index.ts';
import { MusterError } from '#shared/errors/index.ts';
import { route, type Route } from '#shared/http/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { DEFAULT_TENANT, patchLimits, type Tenant } from '#shared/tenants/index.ts';
import { assertFleetOwner } from '../assert-fleet-owner.ts';
import { findTenant, tenantPathSchema } from './find-tenant.ts';
import { tenantViewSchema, viewTenant } from './tenant-view.ts';

const bodySchema = z.strictObject({
  name: z.string().min(1).max(200).optional(),
  disabled: z.boolean().optional(),
  limits: tenantLimitsPatchSchema
    .nullable()
    .optional()
    .meta({ description: 'What is named changes; null goes back to those of the configuration.' }),
});

/** Null in a change takes a tenant's own limits away. */
function withoutLimits({ limits }: Tenant, body: z.infer<typeof bodySchema>): Tenant['limits'] {
  return body.limits === null ? null : limits;
}

/** `PATCH /v1/tenants/:id`. Other processes follow within two seconds. */
export function changeTenant({ tenants }: Parts): Route {
  return route({
    method: 'patch',
    path: '/v1/tenants/:id',
    summary: 'Change, disable or enable a tenant',
    description: 'For keys of the tenant `default`. Holds everywhere within two seconds.',
    scope: 'admin',
    request: { params: tenantPathSchema, body: bodySchema },
    responses: { 200: tenantViewSchema },
    handle: async ({ params, body }, call) => {
      assertFleetOwner(call);
      const known = await findTenant(tenants, params.id);
      if (params.id === DEFAULT_TENANT && body.disabled) {
        throw new MusterError('request.invalid', `The tenant "${DEFAULT_TENANT}" cannot be disabled: nobody could enable it again`);
      }
      const changed = await tenants.change(known, (tenant) => ({
        ...tenant,
        name: body.name ?? tenant.name,
        disabled: body.disabled ?? tenant.disabled,
        limits: body.limits ? patchLimits(tenant.limits ?? tenants.limitsOf(tenant.id), body.limits) : withoutLimits(tenant, body),
      }));
      call.log.info(
        { event: 'tenant.changed', changed: changed.id, disabled: changed.disabled, by: call.key?.id },
        `The tenant ${changed.id} was changed`,
      );
      return { status: 200, body: viewTenant(changed) };
    },
  });
}
