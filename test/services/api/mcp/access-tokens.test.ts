import type { OAuth2Server } from 'oauth2-mock-server';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { disablePerson, EVERYWHERE, personId } from '#shared/tenants/person-store.ts';
import type { SettingsInput } from '#shared/config/settings/settings.ts';
import { closeAfterTests } from '../../../support/close-after-tests.ts';
import { useRedis } from '../../../support/redis/use-redis.ts';
import { callMcp } from '../../../support/agents/mcp/call-mcp.ts';
import { type Api, startApi } from '../support/start-api.ts';
import { oidcSettings, startProvider } from '../../dashboard/sign-in/oidc/provider.ts';

const PUBLIC_URL = 'https://muster.example';
const RESOURCE = `${PUBLIC_URL}/mcp`;
const METADATA = `${PUBLIC_URL}/.well-known/oauth-protected-resource/mcp`;
const provider = await startProvider();
const foreign = await startProvider();
afterAll(() => Promise.all([provider.stop(), foreign.stop()]));
const settings = { signIn: { ...oidcSettings(provider.issuer), maxPeople: 100 } };
const redis = await useRedis();
const start = async (own: SettingsInput, env: Record<string, string>): Promise<Api> => closeAfterTests(await startApi(redis.url, own, env));
const api = await start(settings, { MUSTER_PUBLIC_URL: PUBLIC_URL });
const away = await startProvider();
const tokenOfAway = await tokenOf({ sub: 'ann', groups: ['ops'] }, away.server);
await away.stop();
const withoutAnswer = await start({ signIn: oidcSettings(away.issuer) }, { MUSTER_PUBLIC_URL: PUBLIC_URL });
const withoutProvider = await start({}, { MUSTER_PUBLIC_URL: PUBLIC_URL });
const withoutAddress = await start({ signIn: oidcSettings(provider.issuer) }, {});
const ACME = { id: 'acme', name: 'Acme', disabled: false, limits: null, createdAt: 0 };
await api.parts.tenants.save(ACME);

const ANN = { sub: 'ann', name: 'Ann Example', groups: ['ops'], realm_access: { roles: ['acme-ops'] } };
const BOB = { sub: 'bob', name: 'Bob', email: 'guest@example.com', email_verified: true };

type Claims = Record<string, unknown>;

async function tokenOf(claims: Claims, server: OAuth2Server = provider.server, expiresIn = 600): Promise<string> {
  return await server.issuer.buildToken({
    scopesOrTransform: (_header, payload) => void Object.assign(payload, { aud: RESOURCE }, claims),
    expiresIn,
  });
}

const list = async (key: string, headers: Record<string, string> = {}): Promise<{ status: number; names: string[]; code: unknown }> => {
  const { status, body } = await callMcp({ url: api.url, key }, 'tools/list', { headers });
  return { status, code: body.code, names: ((body.result?.tools ?? []) as { name: string }[]).map(({ name }) => name) };
};

beforeEach(async () => {
  await api.parts.tenants.save(ACME);
});

describe('where sign-in is set up', () => {
  it('a client without a key is led to the provider', async () => {
    const challenge = async (headers: Record<string, string>): Promise<unknown> => {
      const answer = await fetch(`${api.url}/mcp`, { method: 'POST', headers, body: '{}' });
      return [answer.status, answer.headers.get('www-authenticate')];
    };
    expect(await challenge({})).toEqual([401, `Bearer resource_metadata="${METADATA}"`]);
    expect(await challenge({ authorization: 'Bearer mk_unknown' })).toEqual([
      401,
      `Bearer error="invalid_token", resource_metadata="${METADATA}"`,
    ]);
    expect((await api.call('GET', '/.well-known/oauth-protected-resource/mcp', { key: null })).body).toEqual({
      resource: RESOURCE,
      authorization_servers: [provider.issuer],
      scopes_supported: ['openid', 'profile', 'email'],
      bearer_methods_supported: ['header'],
      resource_name: 'Muster',
    });
  });

  it('an access token of the provider opens what the roles of its person allow, and a key does as before', async () => {
    const ann = await list(await tokenOf(ANN));
    expect(ann).toMatchObject({ status: 200, names: expect.arrayContaining(['send_task', 'answer_question', 'echo']) });
    expect((await list(await tokenOf(BOB))).names).toEqual(['get_task', 'why', 'list_tasks']);
    expect((await list(api.key)).status).toBe(200);
  });

  it('what is done with one is done by its person, in the tenant that is named', async () => {
    const token = await tokenOf(ANN);
    const params = { name: 'send_task', arguments: { agent: 'echo', input: 'x', scheduledFor: '2099-01-01T00:00:00Z' } };
    const headers = { 'muster-tenant': 'acme' };
    const sent = await callMcp({ url: api.url, key: token }, 'tools/call', { params, headers });
    const { id } = sent.body.result.structuredContent;
    expect((await api.call('GET', `/v1/tasks/${id}`, { headers })).body).toMatchObject({ tenant: 'acme' });
    await callMcp({ url: api.url, key: token }, 'tools/call', { params: { name: 'cancel_task', arguments: { id } }, headers });
    const { items } = (await api.call('GET', '/v1/audit', { headers })).body as { items: unknown[] };
    expect(items).toMatchObject([{ action: 'cancelTask', actor: { kind: 'person', name: 'Ann Example' } }]);
    const people = (await api.call('GET', '/v1/people')).body.items as { name: string }[];
    expect(people.map(({ name }) => name)).toContain('Ann Example');
  });

  it.each([
    ['for another server', () => tokenOf({ ...ANN, aud: 'https://other.example/mcp' })],
    ['for the client, as an ID token is', () => tokenOf({ ...ANN, aud: 'muster' })],
    ['with a nonce', () => tokenOf({ ...ANN, nonce: 'n' })],
    ['that ends a session', () => tokenOf({ ...ANN, events: { 'http://schemas.openid.net/event/backchannel-logout': {} } })],
    ['of another provider', () => tokenOf(ANN, foreign.server)],
    ['of another provider that calls itself so', () => tokenOf({ ...ANN, iss: provider.issuer }, foreign.server)],
    ['that has expired', () => tokenOf(ANN, provider.server, -3600)],
    ['of nobody', () => tokenOf({ ...ANN, sub: '' })],
    ['without a signature', async () => `${(await tokenOf(ANN)).split('.').slice(0, 2).join('.')}.AAAA`],
    [
      'with another payload',
      async () =>
        (await tokenOf(ANN)).replace(/\..+\./, `.${Buffer.from(JSON.stringify({ ...ANN, aud: RESOURCE })).toString('base64url')}.`),
    ],
    ['of no algorithm', async () => `${Buffer.from('{"alg":"none"}').toString('base64url')}.${(await tokenOf(ANN)).split('.')[1]}.AAAA`],
  ])('a token %s opens nothing', async (_what, make) => {
    expect(await list(await make())).toMatchObject({ status: 401, code: 'auth.invalid' });
  });

  it('a person without a role is refused with the reason', async () => {
    expect(await list(await tokenOf({ sub: 'eve', groups: ['staff'] }))).toMatchObject({ status: 403, code: 'auth.no-role' });
    expect(await list(await tokenOf({ sub: 'eve' }))).toMatchObject({ status: 403, code: 'auth.claim-missing' });
    // An address that the provider has not verified is anybody's.
    expect(await list(await tokenOf({ ...BOB, sub: 'mal', email_verified: false }))).toMatchObject({ status: 403 });
  });

  it('a person who is disabled is out at once, in one tenant or everywhere', async () => {
    const token = await tokenOf({ ...ANN, sub: 'dan' });
    expect((await list(token)).status).toBe(200);
    const id = personId({ issuer: provider.issuer, subject: 'dan' });
    await disablePerson(api.parts, id, { tenant: 'acme', isDisabled: true });
    expect((await list(token, { 'muster-tenant': 'acme' })).names).toEqual(expect.arrayContaining(['echo']));
    await disablePerson(api.parts, id, { tenant: 'default', isDisabled: true });
    expect(await list(token)).toMatchObject({ status: 403, code: 'auth.no-role' });
    await disablePerson(api.parts, id, { tenant: 'default', isDisabled: false });
    expect((await list(token)).status).toBe(200);
    await disablePerson(api.parts, id, { tenant: EVERYWHERE, isDisabled: true });
    expect(await list(token)).toMatchObject({ status: 403 });
  });

  it('a disabled tenant is refused, and no other one is acted in instead', async () => {
    const token = await tokenOf({ sub: 'flo', realm_access: { roles: ['acme-ops'] }, email: 'guest@example.com', email_verified: true });
    await api.parts.tenants.save({ ...ACME, disabled: true });
    expect(await list(token)).toMatchObject({ status: 403, code: 'tenant.disabled' });
    expect((await list(token, { 'muster-tenant': 'default' })).names).toEqual(['get_task', 'why', 'list_tasks']);
  });

  it('a token opens nothing but /mcp', async () => {
    expect((await api.call('GET', '/v1/tasks', { key: await tokenOf(ANN) })).status).toBe(401);
  });
});

it('while the provider is away, who comes with a token is told so, and keys go on', async () => {
  const answer = await callMcp({ url: withoutAnswer.url, key: tokenOfAway }, 'tools/list');
  expect([answer.status, answer.body.code]).toEqual([503, 'unavailable.provider']);
  expect((await callMcp(withoutAnswer, 'tools/list')).status).toBe(200);
});

it.each([
  ['without a provider', withoutProvider],
  ['without the public address', withoutAddress],
])('%s there is no description, and no token opens anything', async (_what, other) => {
  expect((await other.call('GET', '/.well-known/oauth-protected-resource/mcp', { key: null })).status).toBe(404);
  const answer = await fetch(`${other.url}/mcp`, {
    method: 'POST',
    headers: { authorization: `Bearer ${await tokenOf(ANN)}` },
    body: '{}',
  });
  expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="muster"']);
});
