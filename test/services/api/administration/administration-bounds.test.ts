import { expect, it } from 'vitest';
import { useApi } from '../support/use-api.ts';

// The API has a key already, of tenant `default`.
const api = await useApi({ limits: { maxTenants: 2, maxKeysPerTenant: 2, maxAgentsPerTenant: 2 } });

async function make(method: string, path: string, body: unknown): Promise<[number, unknown]> {
  const reply = await api.call(method, path, { body });
  return [reply.status, reply.body.detail];
}

it('a fleet has at most so many tenants', async () => {
  for (const id of ['one', 'two']) expect((await make('POST', '/v1/tenants', { id }))[0]).toBe(201);
  expect(await make('POST', '/v1/tenants', { id: 'three' })).toEqual([422, 'A fleet has at most 2 tenants']);
  expect((await api.call('GET', '/v1/tenants/three')).status).toBe(404);
});

it('a tenant has at most so many keys', async () => {
  const body = { name: 'k', scopes: ['read'] };
  expect((await make('POST', '/v1/tenants/default/keys', body))[0]).toBe(201);
  expect(await make('POST', '/v1/tenants/default/keys', body)).toEqual([422, 'A tenant has at most 2 keys']);
  expect((await api.call('GET', '/v1/tenants/default/keys')).body.items).toHaveLength(2);
});

it('a tenant has at most so many agents of its own, which can still be replaced', async () => {
  for (const id of ['a', 'b']) expect((await make('PUT', `/v1/agents/${id}`, { kind: 'echo' }))[0]).toBe(201);
  expect(await make('PUT', '/v1/agents/c', { kind: 'echo' })).toEqual([422, 'A tenant has at most 2 agents of its own']);
  expect((await make('PUT', '/v1/agents/b', { kind: 'echo', description: 'new' }))[0]).toBe(200);
  expect((await api.call('GET', '/v1/agents/c')).status).toBe(404);
});
