import { OAuth2Server } from 'oauth2-mock-server';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { iterateAudit, type StoredAuditEntry } from '#shared/audit/index.ts';
import { createApiService } from '../../../../../services/api/create-api-service.ts';
import { waitFor } from '../../../../support/wait-for.ts';
import { OWN_PAGE, startDashboard } from '../../running-dashboard.ts';
import { useDashboard } from '../../use-dashboard.ts';
import { type Claims, oidcSettings, signInPerson, startProvider } from './provider.ts';

const provider = await startProvider();
afterAll(() => provider.stop());
const TRIES = 5;
const dashboard = await useDashboard(
  { limits: { signInPerMinute: TRIES }, http: { streamCheckMs: 100 }, signIn: oidcSettings(provider.issuer) },
  { more: (parts) => [createApiService(parts)] },
);
const { parts } = dashboard;
const ANN = { sub: 'ann', name: 'Ann Example', groups: ['ops'] };
const PATH = '/sign-in/oidc/backchannel-logout';
const EVENTS = { 'http://schemas.openid.net/event/backchannel-logout': {} };
const JSON_CALL = { ...OWN_PAGE, accept: 'application/json' };

let tokens = 0;

/** A logout token as the provider sends it; a claim that is undefined is left out. */
async function logoutToken(claims: Claims, { server = provider.server, typ = 'logout+jwt' } = {}): Promise<string> {
  // The tokens of sign-ins say what the provider knows of the person; this one does not.
  const before = provider.claims;
  provider.claims = {};
  tokens += 1;
  const jti = `logout-${tokens}`;
  const token = await server.issuer.buildToken({
    scopesOrTransform: (header, payload) => {
      Object.assign(header, { typ });
      Object.assign(payload, { aud: 'muster', jti, events: EVENTS }, claims);
    },
  });
  provider.claims = before;
  return token;
}

const send = (token: string, url = dashboard.url): Promise<Response> =>
  fetch(`${url}${PATH}`, { method: 'POST', body: new URLSearchParams({ logout_token: token }) });
const endBy = async (claims: Claims): Promise<string> => {
  const answer = await send(await logoutToken(claims));
  return `${answer.status} ${await answer.text()}`;
};

/** Signs a browser in. Returns its cookie. */
async function signInWith(claims: Claims): Promise<string> {
  provider.claims = claims;
  return (await signInPerson(dashboard)).cookie;
}
const statusOf = async (cookie: string): Promise<number> =>
  (await dashboard.call('GET', '/v1/tasks', { cookie, headers: JSON_CALL })).status;
const areIn = async (cookies: string[]): Promise<boolean[]> => (await Promise.all(cookies.map(statusOf))).map((status) => status === 200);

/** The entries of a tenant's audit log about sign-outs by the provider. */
async function entriesOf(tenant: string): Promise<StoredAuditEntry[]> {
  const found: StoredAuditEntry[] = [];
  for await (const { entries } of iterateAudit(parts, tenant, { action: 'signOutByProvider' })) found.push(...entries);
  return found;
}

beforeEach(async () => {
  await parts.redis.flushall();
  await parts.tenants.refresh();
});

describe('a provider that says that a session has ended', () => {
  it('signs out the browsers of that session, and no others of the person', async () => {
    const cookies = [
      await signInWith({ ...ANN, sid: 's-1' }),
      await signInWith({ ...ANN, sid: 's-1' }),
      await signInWith({ ...ANN, sid: 's-2' }),
      await signInWith({ sub: 'sam', groups: ['ops'], sid: 's-3' }),
    ];
    const answer = await send(await logoutToken({ sub: 'ann', sid: 's-1' }));
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(await areIn(cookies)).toEqual([false, false, true, true]);
    expect(await endBy({ sub: undefined, sid: 's-2' })).toBe('200 ');
    expect(await areIn(cookies)).toEqual([false, false, false, true]);
  });

  it('without naming one signs the person out everywhere, who may sign in again', async () => {
    const cookies = [await signInWith({ ...ANN, sid: 's-1' }), await signInWith(ANN), await signInWith({ sub: 'sam', groups: ['ops'] })];
    expect(await endBy({ sub: 'ann' })).toBe('200 ');
    expect(await areIn(cookies)).toEqual([false, false, true]);
    expect(await areIn([await signInWith(ANN)])).toEqual([true]);
  });

  it('signs out the browsers of the person whose sign-in named no session, as any may be of that one', async () => {
    const cookies = [await signInWith(ANN), await signInWith({ ...ANN, sid: 's-2' })];
    expect(await endBy({ sub: 'ann', sid: 's-1' })).toBe('200 ');
    expect(await areIn(cookies)).toEqual([false, true]);
  });

  it('ends the streams of these browsers', async () => {
    const cookie = await signInWith({ ...ANN, sid: 's-1' });
    const stream = await dashboard.call('GET', '/v1/notifications/stream', { cookie, headers: JSON_CALL });
    expect(stream.status).toBe(200);
    let isEnded = false;
    const reading = (async () => {
      for await (const _ of stream.body ?? []) expect(isEnded).toBe(false);
      isEnded = true;
    })();
    expect(await endBy({ sub: 'ann', sid: 's-1' })).toBe('200 ');
    await waitFor(() => isEnded, { deadlineMs: 20_000, what: 'the end of the stream' });
    await reading;
  });

  it('leaves an entry in the audit log of each tenant that the person acted in', async () => {
    await parts.tenants.save({ id: 'acme', name: 'Acme', disabled: false, limits: null, createdAt: 0 });
    const roles = { realm_access: { roles: ['acme-ops'] } };
    const cookies = [await signInWith({ ...ANN, ...roles, sid: 's-1' }), await signInWith({ ...ANN, ...roles, sid: 's-1' })];
    const form = { form: { tenant: 'acme' }, headers: OWN_PAGE };
    expect((await dashboard.call('POST', '/console/tenant', { cookie: cookies[1] ?? '', ...form })).status).toBe(303);
    await endBy({ sub: 'ann', sid: 's-1' });
    for (const tenant of ['default', 'acme']) {
      expect(await entriesOf(tenant)).toMatchObject([{ actor: { kind: 'person', name: 'Ann Example' }, via: 'sign-in', outcome: 'done' }]);
    }
    await endBy({ sub: 'ann' });
    expect(await entriesOf('default')).toHaveLength(2);
  });

  it('twice by the same token ends only what was there the first time', async () => {
    const token = await logoutToken({ sub: 'ann' });
    const before = await signInWith(ANN);
    expect((await send(token)).status).toBe(200);
    const since = await signInWith(ANN);
    expect((await send(token)).status).toBe(200);
    expect(await areIn([before, since])).toEqual([false, true]);
  });

  it('of somebody who is not known here leaves nothing but the name of its token', async () => {
    const before = await parts.redis.keys('*');
    expect(await endBy({ sub: 'eve' })).toBe('200 ');
    expect(await endBy({ sub: 'eve', sid: 's-9' })).toBe('200 ');
    const added = (await parts.redis.keys('*')).filter((name) => !before.includes(name));
    expect(added.map((name) => /:logout-token:/.test(name))).toEqual([true, true]);
    for (const name of added) expect(await parts.redis.pttl(name)).toBeGreaterThan(0);
  });
});

const LATER = Math.floor(Date.now() / 1000) + 3600;

describe('a logout token does not count', () => {
  it.each<[string, Claims, RegExp]>([
    ['of another issuer', { iss: 'https://elsewhere.example' }, /"iss"/],
    ['for another client', { aud: 'another' }, /"aud"/],
    ['that has ended', { exp: LATER - 7200 }, /"exp"/],
    ['that was made long ago', { iat: LATER - 7200, exp: LATER }, /"iat"/],
    ['of an unknown time', { iat: undefined }, /"iat"/],
    ['without an event', { events: undefined }, /events/],
    ['of another event', { events: { 'http://schemas.openid.net/event/other': {} } }, /events/],
    ['with a nonce, as an ID token', { nonce: 'n' }, /nonce/],
    ['without a name of its own', { jti: undefined }, /jti/],
    ['of nobody and no session', { sub: undefined }, /neither a person nor a session/],
  ])('%s', async (_what, claims, reason) => {
    const cookie = await signInWith(ANN);
    const answer = await send(await logoutToken({ sub: 'ann', ...claims }));
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: 'invalid_request', error_description: expect.stringMatching(reason) });
    expect(await areIn([cookie])).toEqual([true]);
  });

  it('of another type, by another key, or that is no token', async () => {
    const cookie = await signInWith(ANN);
    const forger = new OAuth2Server();
    await forger.issuer.keys.generate('RS256');
    forger.issuer.url = provider.issuer;
    const unsigned = (await logoutToken({ sub: 'ann' })).split('.').slice(0, 2);
    const wrong = [
      ['type', await logoutToken({ sub: 'ann' }, { typ: 'at+jwt' })],
      ['key', await logoutToken({ sub: 'ann' }, { server: forger })],
      ['alg', `${Buffer.from('{"alg":"none"}').toString('base64url')}.${unsigned[1]}.`],
    ] as const;
    for (const [reason, token] of wrong) {
      const answer = await send(token);
      expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining(reason)]);
    }
    expect((await fetch(`${dashboard.url}${PATH}`, { method: 'POST' })).status).toBe(400);
    expect(await areIn([cookie])).toEqual([true]);
  });

  it('and uses up the tries of its address', async () => {
    const good = await logoutToken({ sub: 'ann' });
    const statuses: number[] = [];
    for (let sent = 0; sent < TRIES; sent += 1) statuses.push((await send('x')).status);
    expect(statuses).toEqual(statuses.map(() => 400));
    const refused = await send(good);
    expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true]);
  });

  it('is no answer of a provider that is down', async () => {
    const down = await startProvider();
    const fleet = await startDashboard({ signIn: oidcSettings(down.issuer) });
    const token = await logoutToken({ sub: 'ann' });
    await down.stop();
    try {
      expect((await send(token, fleet.url)).status).toBe(503);
    } finally {
      await fleet.close();
    }
  });
});

it('without a provider there is no such address', async () => {
  const fleet = await startDashboard();
  try {
    expect((await send('x', fleet.url)).status).toBe(404);
  } finally {
    await fleet.close();
  }
});
