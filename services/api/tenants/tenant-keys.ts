import { z } from 'zod';
import { MusterError } from '#shared/errors/muster-error.ts';
import { route, type Call, type Route } from '#shared/http/route.ts';
import type { Parts } from '#shared/lifecycle/open-parts.ts';
import { createKey, listKeys, revokeKey } from '#shared/tenants/key-store.ts';
import { SCOPES } from '#shared/tenants/scopes.ts';
import { assertFleetOwner } from '../assert-fleet-owner.ts';
import { findTenant, tenantPathSchema } from './find-tenant.ts';
import { keyViewSchema, viewKey } from './tenant-view.ts';

/** Keys of visitors are made for a session. */
const GIVEN = z.enum(SCOPES).exclude(['visit']);

const OF_OWN_TENANT = 'An administrator of another tenant than `default` reaches the keys of its own.';

/** `POST /v1/tenants/:id/keys`. The answer is the only time that the secret is shown. */
export function createTenantKey(parts: Parts): Route {
  return route({
    method: 'post',
    path: '/v1/tenants/:id/keys',
    summary: 'Make a key',
    description: `The secret is shown this once. ${OF_OWN_TENANT}`,
    scope: 'admin',
    request: {
      params: tenantPathSchema,
      body: z.strictObject({ name: z.string().min(1).max(200), scopes: z.array(GIVEN).min(1).max(SCOPES.length) }),
    },
    responses: { 201: keyViewSchema.extend({ secret: z.string() }).meta({ id: 'NewKey' }) },
    handle: async ({ params: { id }, body }, call) => {
      assertOwnTenant(call, id);
      await findTenant(parts.tenants, id);
      const { secret, ...key } = await createKey(parts, { tenant: id, ...body });
      const { maxKeysPerTenant } = parts.config.settings.limits;
      // Counted afterwards, so that callers at the same time cannot all take the last place.
      if ((await listKeys(parts, id)).length > maxKeysPerTenant) {
        await revokeKey(parts, id, key.id);
        throw new MusterError('request.invalid', `A tenant has at most ${maxKeysPerTenant} keys`, { details: { maxKeysPerTenant } });
      }
      call.log.info({ event: 'key.created', of: id, made: key.id, scopes: key.scopes, by: call.key?.id }, 'A key was made');
      return { status: 201, body: { ...viewKey(key), secret } };
    },
  });
}

/** `GET /v1/tenants/:id/keys`, oldest first. */
export function getTenantKeys(parts: Parts): Route {
  return route({
    method: 'get',
    path: '/v1/tenants/:id/keys',
    summary: 'The keys of a tenant',
    description: OF_OWN_TENANT,
    scope: 'admin',
    request: { params: tenantPathSchema },
    responses: { 200: z.strictObject({ items: z.array(keyViewSchema), nextCursor: z.null() }) },
    handle: async ({ params: { id } }, call) => {
      assertOwnTenant(call, id);
      await findTenant(parts.tenants, id);
      return { status: 200, body: { items: (await listKeys(parts, id)).map((key) => viewKey(key)), nextCursor: null } };
    },
  });
}

/** `DELETE /v1/tenants/:id/keys/:keyId`: ends at once. */
export function deleteTenantKey(parts: Parts): Route {
  return route({
    method: 'delete',
    path: '/v1/tenants/:id/keys/:keyId',
    summary: 'Revoke a key',
    description: OF_OWN_TENANT,
    scope: 'admin',
    request: { params: tenantPathSchema.extend({ keyId: z.string() }) },
    responses: { 204: z.null() },
    handle: async ({ params: { id, keyId } }, call) => {
      assertOwnTenant(call, id);
      if (!(await revokeKey(parts, id, keyId)))
        throw new MusterError('key.not-found', 'There is no such key', { details: { key: keyId.slice(0, 100) } });
      call.log.info({ event: 'key.revoked', of: id, revoked: keyId.slice(0, 100), by: call.key?.id }, 'A key was revoked');
      return { status: 204 };
    },
  });
}

function assertOwnTenant(call: Call, id: string): void {
  if (call.tenant !== id) assertFleetOwner(call);
}
