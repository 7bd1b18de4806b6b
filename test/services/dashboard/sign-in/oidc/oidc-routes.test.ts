import { iterateAudit, type StoredAuditEntry } from '#shared/audit/index.ts';
import { OAuth2Server } from 'oauth2-mock-server';
import { personId } from '#shared/tenants/person-store.ts';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { createApiService } from '../../../../../services/api/create-api-service.ts';
import { OWN_PAGE, type RunningDashboard, startDashboard } from '../../running-dashboard.ts';
import { useDashboard } from '../../use-dashboard.ts';
import { oidcSettings, signInPerson, startProvider, visitProvider } from './provider.ts';

const provider = await startProvider();
afterAll(() => provider.stop());
const dashboard = await useDashboard(
  { limits: { signInPerMinute: 100 }, signIn: oidcSettings(provider.issuer) },
  { more: (parts) => [createApiService(parts)] },
);
const { parts } = dashboard;
const call: RunningDashboard['call'] = (...request) => dashboard.call(...request);
const ACME = { id: 'acme', name: 'Acme', disabled: false, limits: null, createdAt: 0 };
const ANN = { sub: 'ann', name: 'Ann Example', groups: ['staff', 'ops'], realm_access: { roles: ['acme-ops'] } };
const BOB = { sub: 'bob', preferred_username: 'bob', realm_access: { roles: ['acme-ops'] } };

beforeEach(async () => {
  await parts.redis.flushall();
  await parts.tenants.refresh();
  await parts.tenants.save(ACME);
  provider.claims = ANN;
});

const JSON_CALL = { ...OWN_PAGE, accept: 'application/json' };
const personOf = async (cookie: string): Promise<unknown> => await (await call('GET', '/console/person', { cookie })).json();
const codeOf = async (answer: Response): Promise<unknown> => ((await answer.json()) as { code: string }).code;

describe('signing in at a provider', () => {
  it('sends the browser there with PKCE, state and nonce, and back to the page that the person wanted', async () => {
    const { asked, callback, cookie } = await visitProvider(dashboard, '/tasks/x?tenant=a');
    expect(asked.origin).toBe(provider.issuer);
    expect(Object.fromEntries(asked.searchParams)).toMatchObject({
      client_id: 'muster',
      response_type: 'code',
      scope: 'openid profile email',
      code_challenge_method: 'S256',
      redirect_uri: `${dashboard.url}/sign-in/oidc/callback`,
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
    });
    const answer = await call('GET', callback, { cookie });
    expect(answer.status).toBe(303);
    expect(answer.headers.get('location')).toBe('/tasks/x?tenant=a');
  });

  it('gives the roles that claims stand for, in each tenant its own, to pages and to the API', async () => {
    const { cookie } = await signInPerson(dashboard);
    expect(await personOf(cookie)).toEqual({
      kind: 'person',
      tenant: 'default',
      tenants: ['default', 'acme'],
      name: 'Ann Example',
      email: null,
      scopes: ['admin'],
      provider: 'Example SSO',
    });
    const make = (headers: Record<string, string>): Promise<Response> =>
      call('POST', '/v1/tasks', { cookie, json: { agent: 'echo', input: 'hi' }, headers: { ...JSON_CALL, ...headers } });
    expect((await make({})).status).toBe(202);
    expect((await make({ 'muster-tenant': 'acme' })).status).toBe(202);
    const drained = await call('GET', '/v1/tenants/acme/keys', { cookie, headers: { ...JSON_CALL, 'muster-tenant': 'acme' } });
    expect(drained.status).toBe(403);
    expect(await codeOf(drained)).toBe('auth.forbidden');
  });

  it('shows the name that the provider gives without characters that turn the text around it round', async () => {
    provider.claims = { ...ANN, name: '\u202EAnn\u200B\n Example', email: 'ann\u2066@example.com' };
    const { cookie } = await signInPerson(dashboard);
    expect(await personOf(cookie)).toMatchObject({ name: 'Ann Example', email: 'ann@example.com' });
    provider.claims = { ...ANN, name: '\u202E', preferred_username: 'ann' };
    expect(await personOf((await signInPerson(dashboard)).cookie)).toMatchObject({ name: 'ann' });
  });

  it('lets a person choose the tenant to act in, of those with a role', async () => {
    const { cookie } = await signInPerson(dashboard);
    const choose = (tenant: string): Promise<Response> => call('POST', '/console/tenant', { cookie, form: { tenant }, headers: OWN_PAGE });
    expect((await choose('acme')).status).toBe(303);
    expect(await personOf(cookie)).toMatchObject({ tenant: 'acme', scopes: ['operate'] });
    expect((await choose('nowhere')).status).toBe(403);
    expect(await personOf(cookie)).toMatchObject({ tenant: 'acme' });
  });

  it('shows a person whose tenant is disabled the way to another one, and goes there only when told', async () => {
    const { cookie } = await signInPerson(dashboard);
    const choose = (tenant: string): Promise<Response> => call('POST', '/console/tenant', { cookie, form: { tenant }, headers: OWN_PAGE });
    expect((await choose('acme')).status).toBe(303);
    await parts.tenants.save({ ...ACME, disabled: true });
    const refused = await call('GET', '/', { cookie });
    expect(refused.status).toBe(403);
    const page = await refused.text();
    expect(page).toContain('action="/console/tenant"');
    expect(page).toContain('name="tenant" value="default"');
    expect(page).not.toContain('value="acme"');
    const read = await call('GET', '/console/person', { cookie, headers: JSON_CALL });
    expect([read.status, await codeOf(read)]).toEqual([403, 'tenant.disabled']);
    expect((await choose('default')).status).toBe(303);
    expect(await personOf(cookie)).toMatchObject({ tenant: 'default' });
    expect((await choose('acme')).status).toBe(403);
    expect(await personOf(cookie)).toMatchObject({ tenant: 'default' });
  });

  it('shows the form for keys beside it', async () => {
    const page = await (await call('GET', '/sign-in?next=/board')).text();
    expect(page).toContain('Sign in with Example SSO');
    expect(page).toContain('href="/sign-in/oidc?next=%2Fboard"');
    expect(page).toContain('name="key"');
  });

  it('stores no token of the provider that can be read without the cookie', async () => {
    const { cookie } = await signInPerson(dashboard);
    const [name = ''] = await parts.redis.keys('*:signed-in:*');
    const stored = `${name} ${await parts.redis.get(name)}`;
    expect(stored).toContain('sealedIdToken');
    expect(stored).not.toContain('eyJ');
    expect(stored).not.toContain(cookie.split('=')[1]);
    expect(await parts.redis.pttl(name)).toBeGreaterThan(0);
  });
});

describe('a provider that changes', () => {
  it('its key is known at once, whichever of its keys signs', async () => {
    expect((await signInPerson(dashboard)).answer.status).toBe(303);
    await provider.server.issuer.keys.generate('RS256');
    for (let count = 0; count < 3; count += 1) expect((await signInPerson(dashboard)).answer.status).toBe(303);
  });

  it('says in its user info what it leaves out of the ID token', async () => {
    provider.claims = { sub: 'ann', name: 'Ann Example' };
    provider.server.service.once('beforeUserinfo', (answer: { body: unknown }) => {
      answer.body = { sub: 'ann', groups: ['ops'] };
    });
    expect((await signInPerson(dashboard)).answer.status).toBe(303);
  });

  it('leaves out the claims that give roles: page and audit log name them', async () => {
    provider.claims = { sub: 'ann', name: 'Ann Example' };
    const refused = await refusalOf((await signInPerson(dashboard)).answer);
    expect(refused).toMatchObject({
      status: 403,
      text: expect.stringContaining('sent no groups, realm_access.roles, email of Ann Example'),
    });
    const entries: StoredAuditEntry[] = [];
    for await (const page of iterateAudit(parts, 'default', { action: 'signInByProvider', outcome: 'refused' }))
      entries.push(...page.entries);
    expect(entries[0]).toMatchObject({ code: 'auth.claim-missing', fields: ['groups', 'realm_access.roles', 'email'] });
  });
});

/** The status and text of a refusal, which opens nothing and shows the form for keys. */
const refusalOf = async (answer: Response): Promise<{ status: number; text: string }> => {
  expect(answer.headers.getSetCookie().filter((each) => each.startsWith('muster_session='))).toEqual([]);
  const text = await answer.text();
  expect(text).toContain('name="key"');
  return { status: answer.status, text };
};

describe('a sign-in is refused', () => {
  it('in another browser than the one that began it', async () => {
    const { callback } = await visitProvider(dashboard);
    expect(await refusalOf(await call('GET', callback))).toMatchObject({
      status: 401,
      text: expect.stringContaining('begun in another browser'),
    });
    const other = await visitProvider(dashboard);
    expect(await refusalOf(await call('GET', callback, { cookie: other.cookie }))).toMatchObject({
      status: 401,
      text: expect.stringContaining('failed'),
    });
  });

  it('with a code that was used', async () => {
    const { callback, cookie } = await visitProvider(dashboard);
    expect((await call('GET', callback, { cookie })).status).toBe(303);
    expect(await refusalOf(await call('GET', callback, { cookie }))).toMatchObject({
      status: 401,
      text: expect.stringContaining('failed'),
    });
  });

  it.each([
    ['of another nonce', { nonce: 'another' }],
    ['of another issuer', { iss: 'https://elsewhere.example' }],
    ['for another client', { aud: 'another' }],
    ['older than the clocks may differ', { exp: Math.floor(Date.now() / 1000) - 3600 }],
  ])('with a token %s', async (_what, claims) => {
    provider.claims = { ...ANN, ...claims };
    expect(await refusalOf((await signInPerson(dashboard)).answer)).toMatchObject({ status: 401, text: expect.stringContaining('failed') });
  });

  it('with a token that a key of nobody known has signed', async () => {
    const forger = new OAuth2Server();
    await forger.issuer.keys.generate('RS256');
    forger.issuer.url = provider.issuer;
    const { callback, cookie, asked } = await visitProvider(dashboard);
    const forged = await forger.issuer.buildToken({
      scopesOrTransform: (_header, payload) => {
        Object.assign(payload, ANN, { aud: 'muster', nonce: asked.searchParams.get('nonce') });
      },
    });
    provider.server.service.once('beforeResponse', (answer: { body: unknown }) => {
      answer.body = { ...(answer.body as object), id_token: forged };
    });
    expect(await refusalOf(await call('GET', callback, { cookie }))).toMatchObject({
      status: 401,
      text: expect.stringContaining('failed'),
    });
  });

  it.each([
    ['without a role', { sub: 'eve', groups: ['staff'] }],
    ['whose only tenant does not exist', { sub: 'eve', groups: ['ghosts'] }],
    ['with an address that the provider has not verified', { sub: 'eve', email: 'guest@example.com' }],
  ])('to a person %s', async (_what, claims) => {
    provider.claims = claims;
    expect(await refusalOf((await signInPerson(dashboard)).answer)).toMatchObject({
      status: 403,
      text: expect.stringContaining('has no role here'),
    });
    expect(await parts.redis.hlen(parts.keys.fleet.people)).toBe(0);
  });

  it('while its tenant is disabled, also one that is open already', async () => {
    provider.claims = BOB;
    const { cookie } = await signInPerson(dashboard);
    await parts.tenants.save({ ...ACME, disabled: true });
    expect((await call('GET', '/', { cookie })).status).toBe(403);
    expect(await refusalOf((await signInPerson(dashboard)).answer)).toMatchObject({
      status: 403,
      text: expect.stringContaining('has no role here'),
    });
  });

  it('to a person who signed in as often in this minute as is allowed', async () => {
    const strict = await startDashboard({ limits: { signInsOfKeyPerMinute: 2 }, signIn: oidcSettings(provider.issuer) });
    try {
      for (let round = 0; round < 2; round += 1) expect((await signInPerson(strict)).answer.status).toBe(303);
      expect(await refusalOf((await signInPerson(strict)).answer)).toMatchObject({
        status: 429,
        text: expect.stringContaining('Too many'),
      });
      provider.claims = { sub: 'sam', groups: ['ops'] };
      expect((await signInPerson(strict)).answer.status).toBe(303);
    } finally {
      await strict.close();
    }
  });

  it('while the provider is down, and keys work all the same', async () => {
    const down = await startProvider();
    const fleet = await startDashboard({ signIn: oidcSettings(down.issuer) });
    await down.stop();
    try {
      expect(await refusalOf(await fleet.call('GET', '/sign-in/oidc?next=/board'))).toMatchObject({
        status: 503,
        text: expect.stringContaining('Example SSO does not answer'),
      });
      expect(await fleet.signIn(['read'])).toMatch(/^muster_session=/);
    } finally {
      await fleet.close();
    }
  });
});

it('an address that the provider has verified counts', async () => {
  provider.claims = { sub: 'guest', email: 'guest@example.com', email_verified: true };
  const { cookie } = await signInPerson(dashboard);
  expect(await personOf(cookie)).toMatchObject({ name: 'guest@example.com', email: 'guest@example.com', scopes: ['read'] });
});

it('signing out ends the sign-in here and shows the way to end it at the provider', async () => {
  const { cookie } = await signInPerson(dashboard);
  const answer = await call('POST', '/sign-out', { cookie, headers: OWN_PAGE });
  const page = await answer.text();
  const address = /href="([^"]*endsession[^"]*)"/.exec(page)?.[1]?.replaceAll('&amp;', '&') ?? '';
  const end = new URL(address);
  expect(end.searchParams.get('id_token_hint')).toMatch(/^eyJ/);
  expect(end.searchParams.get('post_logout_redirect_uri')).toBe(`${dashboard.url}/sign-in`);
  expect((await call('GET', '/console/person', { cookie })).status).toBe(303);
  expect(await parts.redis.keys('*:signed-in:*')).toEqual([]);
});

const bearer = async (tenant: string): Promise<Record<string, string>> => ({
  authorization: `Bearer ${await dashboard.newSecret(['admin'], tenant)}`,
});
describe('people', () => {
  interface Listed {
    items: { id: string; name: string; roles: unknown; disabled: boolean }[];
    nextCursor: string | null;
  }
  const list = async (headers: Record<string, string>, query = ''): Promise<Listed> =>
    (await (await call('GET', `/v1/people${query}`, { headers })).json()) as Listed;

  it('are listed newest first, to other tenants only with a role of theirs', async () => {
    await signInPerson(dashboard);
    provider.claims = { sub: 'sam', name: 'Sam', groups: 'sre' };
    await signInPerson(dashboard);
    const [fleet, acme] = [await bearer('default'), await bearer('acme')];
    const { items } = await list(fleet);
    expect(items.map(({ name }) => name).toSorted()).toEqual(['Ann Example', 'Sam']);
    expect((await list(acme)).items).toMatchObject([{ name: 'Ann Example', roles: [{ tenant: 'acme', scopes: ['operate'] }] }]);
    const first = await list(fleet, '?limit=1');
    const second = await list(fleet, `?limit=1&cursor=${first.nextCursor}`);
    expect([...first.items, ...second.items]).toEqual(items);
    expect(second.nextCursor).toBeNull();
  });

  it('who are disabled in a tenant act there no more, at once, and are enabled again', async () => {
    const { cookie } = await signInPerson(dashboard);
    const [fleet, acme] = [await bearer('default'), await bearer('acme')];
    const [{ id } = { id: '' }] = (await list(fleet)).items;
    const change = (headers: Record<string, string>, disabled: boolean): Promise<Response> =>
      call('PATCH', `/v1/people/${id}`, { headers, json: { disabled } });
    expect(await (await change(acme, true)).json()).toMatchObject({ disabled: true });
    expect(await personOf(cookie)).toMatchObject({ tenants: ['default'] });
    expect((await list(fleet)).items).toMatchObject([{ disabled: false }]);
    await change(fleet, true);
    expect((await call('GET', '/v1/tasks', { cookie, headers: JSON_CALL })).status).toBe(401);
    expect((await signInPerson(dashboard)).answer.status).toBe(403);
    await change(fleet, false);
    expect(await personOf(cookie)).toMatchObject({ tenants: ['default'] });
    await change(acme, false);
    expect(await personOf(cookie)).toMatchObject({ tenants: ['default', 'acme'] });
  });

  it('are signed out of all browsers by administrators of the installation, and sign in again', async () => {
    const [one, other] = [await signInPerson(dashboard), await signInPerson(dashboard)];
    const [fleet, acme] = [await bearer('default'), await bearer('acme')];
    const [{ id } = { id: '' }] = (await list(fleet)).items;
    const end = (headers: Record<string, string>, person = id): Promise<Response> =>
      call('DELETE', `/v1/people/${person}/sign-ins`, { headers });
    expect(await codeOf(await end(acme))).toBe('auth.forbidden');
    expect(await codeOf(await end(fleet, 'person_0000000000000000'))).toBe('person.not-found');
    expect(await personOf(other.cookie)).toMatchObject({ name: 'Ann Example' });
    expect((await end(fleet)).status).toBe(204);
    for (const { cookie } of [one, other]) expect((await call('GET', '/v1/tasks', { cookie, headers: JSON_CALL })).status).toBe(401);
    const again = await signInPerson(dashboard);
    expect(await personOf(again.cookie)).toMatchObject({ tenants: ['default', 'acme'] });
  });

  it('who come back after they were forgotten do not get their earlier sign-ins back', async () => {
    const { cookie } = await signInPerson(dashboard);
    const { people, peopleSeen, peopleMarks } = parts.keys.fleet;
    const [{ id } = { id: '' }] = (await list(await bearer('default'))).items;
    // As `savePerson` forgets the person with one more than the bound.
    await parts.redis.multi().hdel(people, id).zrem(peopleSeen, id).hdel(peopleMarks, id).exec();
    expect((await signInPerson(dashboard)).answer.status).toBe(303);
    expect((await call('GET', '/v1/tasks', { cookie, headers: JSON_CALL })).status).toBe(401);
  });

  it('of other tenants cannot be seen or disabled, and nobody disables themselves', async () => {
    provider.claims = { sub: 'sam', name: 'Sam', groups: 'sre' };
    const { cookie } = await signInPerson(dashboard);
    const [{ id } = { id: '' }] = (await list(await bearer('default'))).items;
    const foreign = await call('PATCH', `/v1/people/${id}`, { headers: await bearer('acme'), json: { disabled: true } });
    expect(await codeOf(foreign)).toBe('person.not-found');
    const self = await call('PATCH', `/v1/people/${id}`, { cookie, headers: JSON_CALL, json: { disabled: true } });
    expect(self.status).toBe(422);
  });

  it('beyond the bound are forgotten, those who signed in longest ago first, with their sign-ins', async () => {
    const cookies: string[] = [];
    for (const sub of ['one', 'two', 'three', 'four']) {
      provider.claims = { sub, groups: ['ops'] };
      cookies.push((await signInPerson(dashboard)).cookie);
      const first = personId({ issuer: provider.issuer, subject: 'one' });
      await parts.redis.zadd(parts.keys.fleet.peopleSeen, 'XX', '1', first);
    }
    expect(await parts.redis.hlen(parts.keys.fleet.people)).toBe(3);
    const answers = await Promise.all(cookies.map((cookie) => call('GET', '/', { cookie })));
    expect(answers.map(({ status }) => status)).toEqual([303, 200, 200, 200]);
  });

  it('lose their sign-ins with their tenant', async () => {
    provider.claims = BOB;
    const { cookie } = await signInPerson(dashboard);
    expect(await personOf(cookie)).toMatchObject({ tenant: 'acme' });
    const acme = parts.tenants.find('acme');
    if (acme === null) throw new Error('There is no tenant acme');
    await parts.tenants.end(acme, Date.now());
    expect((await call('GET', '/v1/tasks', { cookie, headers: JSON_CALL })).status).toBe(401);
  });
});
