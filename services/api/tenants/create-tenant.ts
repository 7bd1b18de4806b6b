import { z } from 'zod';
import { tenantLimitsSchema } from '#shared/config/index.ts';
import { MusterError } from '#shared/errors/index.ts';
import { route, type Route } from '#shared/http/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { tenantNameSchema } from '#shared/tenants/index.ts';
import { assertFleetOwner } from '../assert-fleet-owner.ts';
import { tenantViewSchema, viewTenant } from './tenant-view.ts';

const bodySchema = z.strictObject({
  id: tenantNameSchema,
  name: z.string().min(1).max(200).optional(),
  disabled: z.boolean().default(false),
  limits: tenantLimitsSchema.nullable().default(null),
});

/** `POST /v1/tenants`. */
export function createTenant({ tenants, config }: Parts): Route {
  return route({
    method: 'post',
    path: '/v1/tenants',
    summary: 'Make a tenant',
    description: 'For keys of the tenant `default`.',
    scope: 'admin',
    request: { body: bodySchema },
    responses: { 201: tenantViewSchema },
    handle: async ({ body }, call) => {
      assertFleetOwner(call);
      const { id, ...draft } = body;
      const tenant = await tenants.create(id, { ...draft, name: body.name ?? id, createdAt: Date.now() });
      if (tenant === null) throw new MusterError('tenant.exists', `There is a tenant "${id}" already`, { details: { tenant: id } });
      if (tenant === 'full') {
        const { maxTenants } = config.settings.limits;
        throw new MusterError('request.invalid', `A fleet has at most ${maxTenants} tenants`, { details: { maxTenants } });
      }
      call.log.info({ event: 'tenant.created', made: tenant.id, by: call.key?.id }, `The tenant ${tenant.id} was made`);
      return { status: 201, body: viewTenant(tenant) };
    },
  });
}
