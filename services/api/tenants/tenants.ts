import { z } from 'zod';
import type { Settings } from '#shared/config/index.ts';
import { publishDaemonChange } from '#shared/daemons/index.ts';
import { MusterError } from '#shared/errors/index.ts';
import type { Route } from '#shared/http/index.ts';
import { type Ledger, measureTenant } from '#shared/ledger/index.ts';
import type { Log } from '#shared/log/index.ts';
import { type Keys, type RedisClient } from '#shared/redis/index.ts';
import { DEFAULT_TENANT, endTenant, patchLimits, publicTenantId, type Tenant, type TenantDirectory } from '#shared/tenants/index.ts';
import { fleetRoute } from '../fleet/fleet-owner.ts';
import { applyInBackground } from '../limits/apply-in-background.ts';
import {
  newTenantSchema,
  tenantListSchema,
  type TenantPatch,
  tenantPatchSchema,
  tenantViewSchema,
  tenantWithSizeSchema,
  viewTenant,
} from './tenant-view.ts';
import { answerList } from '../lists.ts';

export interface TenantPorts {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly tenants: TenantDirectory;
  readonly ledger: Ledger;
  readonly config: { readonly settings: Settings };
  readonly log: Log;
}

/** `/v1/tenants`: the tenants of the fleet, for its owner. */
export function tenantRoutes(ports: TenantPorts): Route[] {
  return [postTenant(ports), getTenants(ports), getTenant(ports), patchTenant(ports), deleteTenant(ports)];
}

export const tenantPathSchema = z.object({ id: z.string().meta({ description: "The tenant's id." }) });

/** `POST /v1/tenants`. */
function postTenant({ tenants, config }: Pick<TenantPorts, 'tenants' | 'config'>): Route {
  return fleetRoute({
    method: 'post',
    path: '/v1/tenants',
    operationId: 'createTenant',
    summary: 'Make a tenant',
    scope: 'admin',
    errors: ['tenant.exists'],
    request: { body: newTenantSchema },
    responses: { 201: tenantViewSchema },
    handle: async ({ body }, call) => {
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

/** `GET /v1/tenants`, by id. */
function getTenants({ tenants }: Pick<TenantPorts, 'tenants'>): Route {
  return fleetRoute({
    method: 'get',
    path: '/v1/tenants',
    operationId: 'listTenants',
    summary: 'The tenants',
    scope: 'admin',
    responses: { 200: tenantListSchema },
    handle: async () => {
      await tenants.refresh();
      const { unreadable } = tenants;
      const readable = tenants.list().filter(({ id }) => !unreadable.some((record) => record.id === publicTenantId(id)));
      return answerList(
        readable.map((tenant) => viewTenant(tenant)),
        { unreadable },
      );
    },
  });
}

/** `GET /v1/tenants/:id`. */
function getTenant({ tenants, ledger }: TenantPorts): Route {
  return fleetRoute({
    method: 'get',
    path: '/v1/tenants/:id',
    operationId: 'getTenant',
    summary: 'Read a tenant',
    scope: 'admin',
    errors: ['tenant.not-found'],
    request: { params: tenantPathSchema },
    responses: { 200: tenantWithSizeSchema },
    handle: async ({ params }) => {
      const tenant = await findTenant(tenants, params.id);
      const storedBytes = await measureTenant(ledger, tenant.id);
      const effectiveLimits = ledger.limitsOf(tenant.id);
      const maxStoredBytes = effectiveLimits?.storedBytes ?? null;
      return { status: 200, body: { ...viewTenant(tenant), effectiveLimits, storedBytes, maxStoredBytes } };
    },
  });
}

/** `PATCH /v1/tenants/:id`. Other processes follow within two seconds. */
function patchTenant(ports: TenantPorts): Route {
  const { tenants, ledger } = ports;
  return fleetRoute({
    method: 'patch',
    path: '/v1/tenants/:id',
    operationId: 'changeTenant',
    summary: 'Change, disable or enable a tenant',
    description: 'Holds everywhere within two seconds. What waits is granted at once where limits have room for it now.',
    scope: 'admin',
    errors: ['tenant.not-found', 'tenant.busy'],
    request: { params: tenantPathSchema, body: tenantPatchSchema },
    responses: { 200: tenantViewSchema },
    handle: async ({ params, body }, call) => {
      const known = await findTenant(tenants, params.id);
      if (params.id === DEFAULT_TENANT && body.disabled) {
        throw new MusterError('request.invalid', `The tenant "${DEFAULT_TENANT}" cannot be disabled: no key could enable it again`);
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
      if (body.disabled !== undefined) await publishDaemonChange(ports, changed.id, null);
      if (body.limits !== undefined) applyInBackground(ledger, changed.id, call.log);
      return { status: 200, body: viewTenant(changed) };
    },
  });
}

/** Null in a change takes a tenant's own limits away. */
function withoutLimits({ limits }: Tenant, body: TenantPatch): Tenant['limits'] {
  return body.limits === null ? null : limits;
}

/** `DELETE /v1/tenants/:id`. */
function deleteTenant(ports: Pick<TenantPorts, 'redis' | 'keys' | 'tenants' | 'log'>): Route {
  return fleetRoute({
    method: 'delete',
    path: '/v1/tenants/:id',
    operationId: 'deleteTenant',
    summary: 'Delete a tenant with everything it owns',
    description:
      'Its keys end, its running tasks are aborted, and its data can no longer be read. Its name is free at once; a new tenant of that name shares nothing with it.',
    scope: 'admin',
    errors: ['tenant.not-found'],
    request: { params: tenantPathSchema },
    responses: { 204: z.null() },
    handle: async ({ params }, call) => {
      if (params.id === DEFAULT_TENANT) throw new MusterError('request.invalid', `The tenant "${DEFAULT_TENANT}" cannot be deleted`);
      const tenant = await findTenant(ports.tenants, params.id);
      if (!(await endTenant(ports, tenant))) {
        throw new MusterError('tenant.not-found', 'There is no such tenant', { details: { tenant: params.id } });
      }
      await publishDaemonChange(ports, tenant.id, null);
      call.log.info({ event: 'tenant.deleted', deleted: tenant.id, by: call.key?.id }, `The tenant ${tenant.id} was deleted`);
      return { status: 204 };
    },
  });
}

/** The tenant that has this name in Redis now, not as this process read it last. Errors: `tenant.not-found`. */
export async function findTenant(tenants: TenantDirectory, name: string): Promise<Tenant> {
  await tenants.refresh();
  const tenant = tenants.find(name);
  if (!tenant) throw new MusterError('tenant.not-found', 'There is no such tenant', { details: { tenant: name.slice(0, 100) } });
  return tenant;
}
