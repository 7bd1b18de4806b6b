import { z } from 'zod';
import { MusterError } from '#shared/errors/index.ts';
import { route, type Call, type Route } from '#shared/http/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { unreadableOf, unreadableSchema } from '#shared/redis/index.ts';
import { createKey, listKeyRecords, listKeys, publicTenantId, revokeKey, SCOPES } from '#shared/tenants/index.ts';
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
      const tenant = await findOwnTenant(parts, call, id);
      const { secret, ...key } = await createKey(parts, { tenant, ...body });
      const { maxKeysPerTenant } = parts.config.settings.limits;
      // Counted afterwards, so that callers at the same time cannot all take the last place.
      if ((await listKeys(parts, tenant)).length > maxKeysPerTenant) {
        await revokeKey(parts, tenant, key.id);
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
    responses: { 200: z.strictObject({ items: z.array(keyViewSchema), nextCursor: z.null(), unreadable: unreadableSchema }) },
    handle: async ({ params: { id } }, call) => {
      const tenant = await findOwnTenant(parts, call, id);
      const { items, unreadable } = await listKeyRecords(parts, tenant);
      return { status: 200, body: { items: items.map((key) => viewKey(key)), nextCursor: null, ...unreadableOf(unreadable) } };
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
      const tenant = await findOwnTenant(parts, call, id);
      if (!(await revokeKey(parts, tenant, keyId)))
        throw new MusterError('key.not-found', 'There is no such key', { details: { key: keyId.slice(0, 100) } });
      call.log.info({ event: 'key.revoked', of: id, revoked: keyId.slice(0, 100), by: call.key?.id }, 'A key was revoked');
      return { status: 204 };
    },
  });
}

/** The id of the tenant with this name: the caller's own, or any for the fleet's owner. Errors: `auth.forbidden`, `tenant.not-found`. */
async function findOwnTenant({ tenants }: Parts, call: Call, name: string): Promise<string> {
  if (publicTenantId(call.tenant) === name) return call.tenant;
  assertFleetOwner(call);
  return (await findTenant(tenants, name)).id;
}
