import { z } from 'zod';
import { tenantLimitsSchema } from '#shared/config/settings.ts';
import { MusterError } from '#shared/errors/muster-error.ts';
import { route, type Route } from '#shared/http/route.ts';
import type { Parts } from '#shared/lifecycle/open-parts.ts';
import { DEFAULT_TENANT, tenantIdSchema, type Tenant } from '#shared/tenants/tenant.ts';
import { assertFleetOwner } from '../assert-fleet-owner.ts';
import { tenantViewSchema, viewTenant } from './tenant-view.ts';

const bodySchema = z.strictObject({
  id: tenantIdSchema,
  name: z.string().min(1).max(200).optional(),
  disabled: z.boolean().default(false),
  limits: tenantLimitsSchema.nullable().default(null),
});

/** `POST /v1/tenants`. */
export function createTenant({ tenants, redis, keys, config }: Parts): Route {
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
      const tenant: Tenant = { ...body, name: body.name ?? body.id, createdAt: Date.now() };
      // One step, so that of two makers one is told.
      const isNew = body.id !== DEFAULT_TENANT && (await redis.hsetnx(keys.fleet.tenants, tenant.id, JSON.stringify(tenant))) === 1;
      if (!isNew) throw new MusterError('tenant.exists', `There is a tenant "${tenant.id}" already`, { details: { tenant: tenant.id } });
      const { maxTenants } = config.settings.limits;
      // Counted afterwards, so that callers at the same time cannot all take the last place.
      if ((await redis.hlen(keys.fleet.tenants)) > maxTenants) {
        await tenants.remove(tenant.id);
        throw new MusterError('request.invalid', `A fleet has at most ${maxTenants} tenants`, { details: { maxTenants } });
      }
      await tenants.refresh();
      call.log.info({ event: 'tenant.created', made: tenant.id, by: call.key?.id }, `The tenant ${tenant.id} was made`);
      return { status: 201, body: viewTenant(tenant) };
    },
  });
}
