import { z } from 'zod';
import { lineSchema, type Settings } from '#shared/config/index.ts';
import { MusterError } from '#shared/errors/index.ts';
import { route, type Call, type Route } from '#shared/http/index.ts';
import { type Keys, type RedisClient } from '#shared/redis/index.ts';
import {
  type ApiKey,
  createKey,
  listKeyRecords,
  listKeys,
  publicTenantId,
  revokeKey,
  SCOPES,
  type TenantDirectory,
} from '#shared/tenants/index.ts';
import { assertFleetOwner } from '../fleet/fleet-owner.ts';
import { answerList, onePageOfRecords } from '../lists.ts';
import { findTenant, tenantPathSchema } from './tenants.ts';

export interface TenantKeyPorts {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly tenants: TenantDirectory;
  readonly config: { readonly settings: Settings };
}

/** `/v1/tenants/:id/keys`: what opens the API for a tenant. */
export function tenantKeyRoutes(ports: TenantKeyPorts): Route[] {
  return [postTenantKey(ports), getTenantKeys(ports), deleteTenantKey(ports)];
}

/** Keys of visitors are made for a session. */
const GIVEN_SCOPES = z.enum(SCOPES).exclude(['visit']);

const OF_OWN_TENANT = 'An administrator of another tenant than `default` reaches the keys of that tenant.';

const EXAMPLE = {
  id: 'key_3f9c2a',
  tenant: 'acme',
  name: 'ci',
  scopes: ['submit' as const],
  createdAt: '2026-05-01T09:00:00.000Z',
};

const keyViewSchema = z
  .strictObject({
    id: z.string().meta({ description: 'Names the key; it opens nothing.' }),
    tenant: z.string().meta({ description: 'Whose key it is.' }),
    name: z.string().meta({ description: 'For people.' }),
    scopes: z
      .array(z.enum(SCOPES))
      .meta({ description: 'What it may; each scope includes those below it, but `submit` does not include `answer`.' }),
    createdAt: z.iso.datetime().meta({ description: 'When it was made.' }),
  })
  .meta({ id: 'Key', examples: [EXAMPLE] });

const newKeySchema = keyViewSchema
  .extend({ secret: z.string().meta({ description: 'What requests carry. It cannot be read again.' }) })
  .meta({ id: 'NewKey', examples: [{ ...EXAMPLE, secret: 'mk_...' }] });

const keyListSchema = onePageOfRecords(keyViewSchema, 'Oldest first.').meta({ id: 'KeyList' });

const postBodySchema = z
  .strictObject({
    name: lineSchema.min(1).max(200).meta({ description: 'For people.' }),
    scopes: z.array(GIVEN_SCOPES).min(1).max(SCOPES.length).meta({ description: 'What it may.' }),
  })
  .meta({ id: 'KeyRequest', examples: [{ name: 'ci', scopes: ['submit'] }] });

/** `POST /v1/tenants/:id/keys`. The answer is the only time that the secret is shown. */
function postTenantKey(ports: TenantKeyPorts): Route {
  return route({
    method: 'post',
    path: '/v1/tenants/:id/keys',
    operationId: 'createKey',
    summary: 'Make a key',
    description: `The secret is shown this once. ${OF_OWN_TENANT}`,
    scope: 'admin',
    errors: ['tenant.not-found'],
    request: { params: tenantPathSchema, body: postBodySchema },
    responses: { 201: newKeySchema },
    handle: async ({ params: { id }, body }, call) => {
      const tenant = await findOwnTenant(ports, call, id);
      const { secret, ...key } = await createKey(ports, { tenant, ...body });
      const { maxKeysPerTenant } = ports.config.settings.limits;
      // Counted afterwards, so that callers at the same time cannot all take the last place.
      if ((await listKeys(ports, tenant)).length > maxKeysPerTenant) {
        await revokeKey(ports, tenant, key.id);
        throw new MusterError('request.invalid', `A tenant has at most ${maxKeysPerTenant} keys`, { details: { maxKeysPerTenant } });
      }
      call.log.info({ event: 'key.created', of: id, made: key.id, scopes: key.scopes, by: call.key?.id }, 'A key was made');
      return { status: 201, body: { ...viewKey(key), secret } };
    },
  });
}

/** `GET /v1/tenants/:id/keys`, oldest first. */
function getTenantKeys(ports: TenantKeyPorts): Route {
  return route({
    method: 'get',
    path: '/v1/tenants/:id/keys',
    operationId: 'listKeys',
    summary: 'The keys of a tenant',
    description: OF_OWN_TENANT,
    scope: 'admin',
    errors: ['tenant.not-found'],
    request: { params: tenantPathSchema },
    responses: { 200: keyListSchema },
    handle: async ({ params: { id } }, call) => {
      const tenant = await findOwnTenant(ports, call, id);
      const { items, unreadable } = await listKeyRecords(ports, tenant);
      return answerList(
        items.map((key) => viewKey(key)),
        { unreadable },
      );
    },
  });
}

/** `DELETE /v1/tenants/:id/keys/:keyId`: ends at once. */
function deleteTenantKey(ports: TenantKeyPorts): Route {
  return route({
    method: 'delete',
    path: '/v1/tenants/:id/keys/:keyId',
    operationId: 'revokeKey',
    summary: 'Revoke a key',
    description: OF_OWN_TENANT,
    scope: 'admin',
    errors: ['tenant.not-found', 'key.not-found'],
    request: { params: tenantPathSchema.extend({ keyId: z.string().meta({ description: "The key's id." }) }) },
    responses: { 204: z.null() },
    handle: async ({ params: { id, keyId } }, call) => {
      const tenant = await findOwnTenant(ports, call, id);
      if (!(await revokeKey(ports, tenant, keyId)))
        throw new MusterError('key.not-found', 'There is no such key', { details: { key: keyId.slice(0, 100) } });
      call.log.info({ event: 'key.revoked', of: id, revoked: keyId.slice(0, 100), by: call.key?.id }, 'A key was revoked');
      return { status: 204 };
    },
  });
}

/** The id of the tenant with this name: the caller's own, or any for the fleet's owner. Errors: `auth.forbidden`, `tenant.not-found`. */
async function findOwnTenant({ tenants }: Pick<TenantKeyPorts, 'tenants'>, call: Call, name: string): Promise<string> {
  if (publicTenantId(call.tenant) === name) return call.tenant;
  assertFleetOwner(call);
  return (await findTenant(tenants, name)).id;
}

/** A key as callers see it; only the hash of its secret is kept. */
function viewKey({ id, tenant, name, scopes, createdAt }: ApiKey): z.infer<typeof keyViewSchema> {
  return { id, tenant: publicTenantId(tenant), name, scopes, createdAt: new Date(createdAt).toISOString() };
}
