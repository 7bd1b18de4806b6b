import { isLoopback } from '#shared/http/rate-limits.ts';
import { beforeEach, describe, expect, it } from 'vitest';
import { createKey, revokeKey, type Scope } from '#shared/tenants/key-store.ts';
import { createApiService } from '../../../../services/api/create-api-service.ts';
import { OWN_PAGE, startDashboard } from '../running-dashboard.ts';
import { useDashboard } from '../use-dashboard.ts';

const dashboard = await useDashboard(
  { limits: { signInPerMinute: 3, signInsOfKeyPerMinute: 3 }, signIn: { linkMs: 60_000 } },
  { more: (parts) => [createApiService(parts)], env: { MUSTER_TRUST_PROXY: 'true' } },
);
beforeEach(async () => {
  await dashboard.parts.redis.flushall();
  await dashboard.parts.tenants.refresh();
});

const sessionKeys = async (): Promise<string[]> => await dashboard.parts.redis.keys('*:signed-in:*');

describe('signing in', () => {
  it('opens a sign-in for a key and redirects to the page that the person wanted', async () => {
    const secret = await dashboard.newSecret(['read']);
    const answer = await dashboard.call('POST', '/sign-in', { form: { key: ` ${secret} `, next: '/tasks/x?tenant=a' }, headers: OWN_PAGE });
    expect(answer.status).toBe(303);
    expect(answer.headers.get('location')).toBe('/tasks/x?tenant=a');
    const cookie = answer.headers.get('set-cookie') ?? '';
    expect(cookie).toMatch(/^muster_session=[\w-]{43}; Max-Age=43200; Path=\/; Expires=.*; HttpOnly; SameSite=Lax$/);
    const page = await dashboard.call('GET', '/', { cookie: cookie.split(';')[0] ?? '' });
    expect(page.status).toBe(200);
    expect(await page.text()).toContain('A console');
  });

  it('keeps neither the key nor the session id in Redis, and the session for twelve hours', async () => {
    const secret = await dashboard.newSecret(['read']);
    const answer = await dashboard.call('POST', '/sign-in', { form: { key: secret }, headers: OWN_PAGE });
    const id = /muster_session=([\w-]+)/.exec(answer.headers.get('set-cookie') ?? '')?.[1] ?? '';
    const [name = ''] = await sessionKeys();
    const stored = `${name} ${await dashboard.parts.redis.get(name)}`;
    expect(id).not.toBe('');
    expect(stored).not.toContain(id);
    expect(stored).not.toContain(secret);
    const leftMs = await dashboard.parts.redis.pttl(name);
    expect(leftMs).toBeGreaterThan(43_190_000);
    expect(leftMs).toBeLessThanOrEqual(43_200_000);
  });

  it('marks the cookie secure and binds it to the host when the public address is https', async () => {
    const secure = await startDashboard({}, { env: { MUSTER_PUBLIC_URL: 'https://muster.example' } });
    try {
      const answer = await secure.call('POST', '/sign-in', { form: { key: await secure.newSecret(['read']) }, headers: OWN_PAGE });
      expect(answer.headers.get('set-cookie')).toMatch(/^__Host-muster_session=.*; Path=\/; .*HttpOnly; Secure; SameSite=Lax$/);
    } finally {
      await secure.close();
    }
  });

  it('refuses an unknown key, and an empty one, with the form and no cookie', async () => {
    for (const key of ['mk_unknown', '']) {
      const answer = await dashboard.call('POST', '/sign-in', { form: { key, next: '/board' }, headers: OWN_PAGE });
      expect(answer.status).toBe(401);
      expect(answer.headers.get('set-cookie')).toBeNull();
      const page = await answer.text();
      expect(page).toContain('This key is not known.');
      expect(page).toMatch(/name="next"\s+value="\/board"/);
    }
  });

  it('refuses the keys of a disabled tenant, and the sessions they opened before', async () => {
    const { tenants } = dashboard.parts;
    const acme = { id: 'acme', name: 'Acme', disabled: false, limits: null, createdAt: 0 };
    await tenants.save(acme);
    const { secret } = await createKey(dashboard.parts, { tenant: 'acme', name: 'test', scopes: ['read'] });
    const signIn = (): Promise<Response> => dashboard.call('POST', '/sign-in', { form: { key: secret }, headers: OWN_PAGE });
    const cookie = (await signIn()).headers.get('set-cookie')?.split(';')[0] ?? '';
    expect((await dashboard.call('GET', '/', { cookie })).status).toBe(200);
    await tenants.save({ ...acme, disabled: true });
    expect((await dashboard.call('GET', '/', { cookie })).status).toBe(403);
    expect((await signIn()).status).toBe(403);
  });

  it('stops after the failures allowed in a minute from this address, with the time to wait', async () => {
    const secret = await dashboard.newSecret(['read']);
    const tryKey = (key: string): Promise<Response> => dashboard.call('POST', '/sign-in', { form: { key }, headers: OWN_PAGE });
    // Signing in successfully is no failure of the address, however often.
    for (let round = 0; round < 5; round += 1) expect((await tryKey(await dashboard.newSecret(['read']))).status).toBe(303);
    const guesses = await Promise.all(Array.from({ length: 8 }, () => tryKey('mk_guess')));
    expect(guesses.filter(({ status }) => status === 401)).toHaveLength(3);
    const blocked = await tryKey(secret);
    expect(blocked.status).toBe(429);
    expect(Number(blocked.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(Number(blocked.headers.get('retry-after'))).toBeLessThanOrEqual(60);
  });

  it('stops after as many failures with one key, from whichever addresses', async () => {
    const proxied = await startDashboard(
      { limits: { signInPerMinute: 3, signInsOfKeyPerMinute: 3 } },
      { env: { MUSTER_TRUST_PROXY: 'true' } },
    );
    try {
      const tryFrom = async (address: string): Promise<number> => {
        const headers = { ...OWN_PAGE, 'x-forwarded-for': address };
        return (await proxied.call('POST', '/sign-in', { form: { key: 'mk_one-guess' }, headers })).status;
      };
      const answers: number[] = [];
      for (let number = 1; number <= 5; number += 1) answers.push(await tryFrom(`192.0.2.${number}`));
      expect(answers).toEqual([401, 401, 401, 429, 429]);
    } finally {
      await proxied.close();
    }
  });

  it('stops after as many sign-ins with one key, so that it fills neither Redis nor the audit log', async () => {
    const secret = await dashboard.newSecret(['read']);
    const tryKey = async (key: string): Promise<number> =>
      (await dashboard.call('POST', '/sign-in', { form: { key }, headers: OWN_PAGE })).status;
    const answers: number[] = [];
    for (let round = 0; round < 5; round += 1) answers.push(await tryKey(secret));
    expect(answers).toEqual([303, 303, 303, 429, 429]);
    expect(await sessionKeys()).toHaveLength(3);
    expect(await tryKey(await dashboard.newSecret(['read']))).toBe(303);
  });

  it('counts the key of a disabled tenant as a failure, also of its address', async () => {
    await dashboard.parts.tenants.save({ id: 'acme', name: 'Acme', disabled: true, limits: null, createdAt: 0 });
    const { secret } = await createKey(dashboard.parts, { tenant: 'acme', name: 'test', scopes: ['read'] });
    const answers: number[] = [];
    for (const key of [secret, secret, secret, secret, await dashboard.newSecret(['read'])])
      answers.push((await dashboard.call('POST', '/sign-in', { form: { key }, headers: OWN_PAGE })).status);
    expect(answers).toEqual([403, 403, 403, 429, 429]);
  });

  it('takes a form of eight kilobytes at most', async () => {
    const answer = await dashboard.call('POST', '/sign-in', { form: { key: 'x'.repeat(9000) }, headers: OWN_PAGE });
    expect(answer.status).toBe(413);
  });
});

const makeLink = async (scopes: Scope[], headers: Record<string, string> = {}): Promise<string> => {
  const bearer = { authorization: `Bearer ${await dashboard.newSecret(scopes)}` };
  const answer = await dashboard.call('POST', '/v1/sign-in-links', { headers: { ...bearer, ...headers } });
  expect(answer.status).toBe(201);
  return ((await answer.json()) as { path: string }).path;
};
const useLink = (path: string, headers: Record<string, string> = {}): Promise<Response> => {
  const token = new URLSearchParams(path.split('?')[1]).get('token') ?? '';
  return dashboard.call('POST', '/sign-in/link', { form: { token }, headers: { ...OWN_PAGE, ...headers } });
};

describe('a link that signs a browser in', () => {
  it('signs in with the key that made it, once', async () => {
    const path = await makeLink(['operate']);
    const used = await useLink(path);
    expect(used.status).toBe(303);
    const cookie = used.headers.get('set-cookie')?.split(';')[0] ?? '';
    const person = await dashboard.call('GET', '/console/person', { cookie });
    expect(await person.json()).toMatchObject({ tenant: 'default', scopes: ['operate'] });
    const again = await useLink(path);
    expect(again.status).toBe(410);
    expect(again.headers.get('set-cookie')).toBeNull();
    expect(await again.text()).toContain('npx muster open');
  });

  it('is not used up by opening its address, as previews do, and its page may run one script of this site', async () => {
    const path = await makeLink(['read']);
    for (let visit = 0; visit < 2; visit += 1) {
      const page = await dashboard.call('GET', path);
      expect(page.status).toBe(200);
      expect(page.headers.get('set-cookie')).toBeNull();
      expect(page.headers.get('content-security-policy')).toContain("script-src 'self'");
      const script = /<script src="([^"]+)"/.exec(await page.text())?.[1] ?? '';
      expect((await dashboard.call('GET', script)).status).toBe(200);
    }
    expect((await useLink(path)).status).toBe(303);
    expect((await dashboard.call('GET', path)).status).toBe(410);
  });

  it('is sent by no script where somebody is signed in already, and says who that is and who it will be', async () => {
    const { parts } = dashboard;
    await parts.tenants.save({ id: 'acme', name: 'Acme', disabled: false, limits: null, createdAt: 0 });
    const keyOf = async (tenant: string, name: string): Promise<string> =>
      (await createKey(parts, { tenant, name, scopes: ['read'] })).secret;
    const signedIn = await dashboard.call('POST', '/sign-in', { form: { key: await keyOf('default', 'Ann <a>') }, headers: OWN_PAGE });
    const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
    const authorization = `Bearer ${await keyOf('acme', 'Mallory')}`;
    const made = await dashboard.call('POST', '/v1/sign-in-links', { headers: { authorization } });
    const { path } = (await made.json()) as { path: string };
    const text = await (await dashboard.call('GET', path, { cookie })).text();
    expect(text).not.toContain('<script');
    expect(text).toContain('signed in as <strong>Ann &lt;a&gt;</strong> (key, tenant default)');
    expect(text).toContain('signs it in as <strong>Mallory</strong> (key, tenant acme)');
    expect(text).toContain('<button>Sign in</button>');
    expect(await (await dashboard.call('GET', path)).text()).toContain('<script');
    expect((await useLink(path, { cookie })).status).toBe(303);
  });

  it('is made as often a minute as its key may sign in, then refused with the time to wait', async () => {
    const headers = { authorization: `Bearer ${await dashboard.newSecret(['read'])}` };
    const make = (): Promise<Response> => dashboard.call('POST', '/v1/sign-in-links', { headers });
    for (let round = 0; round < 3; round += 1) expect((await make()).status).toBe(201);
    const refused = await make();
    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject({ code: 'limit.rate' });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await dashboard.parts.redis.keys(dashboard.parts.keys.fleet.signInLink('*'))).toHaveLength(3);
    await makeLink(['read']);
  });

  it('is used by pages of this site only', async () => {
    const path = await makeLink(['read']);
    expect((await useLink(path, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await useLink(path)).status).toBe(303);
  });

  it('made on the machine of the fleet works there only; made elsewhere it works anywhere', async () => {
    const elsewhere = { 'x-forwarded-for': '192.0.2.7' };
    const local = await makeLink(['read']);
    const refused = await useLink(local, elsewhere);
    expect(refused.status).toBe(403);
    expect(refused.headers.get('set-cookie')).toBeNull();
    expect((await useLink(local)).status).toBe(410);
    expect((await useLink(await makeLink(['read'], elsewhere), { 'x-forwarded-for': '192.0.2.8' })).status).toBe(303);
    expect(['127.0.0.9', '::1', '::ffff:127.0.0.1', '10.0.0.1', '', undefined].map((each) => isLoopback(each))).toEqual([
      true,
      true,
      true,
      false,
      false,
      false,
    ]);
  });

  it('ends with its key, and its time is the one that is configured', async () => {
    const { id, secret } = await createKey(dashboard.parts, { tenant: 'default', name: 'test', scopes: ['read'] });
    const answer = await dashboard.call('POST', '/v1/sign-in-links', { headers: { authorization: `Bearer ${secret}` } });
    const { path } = (await answer.json()) as { path: string };
    const [name = ''] = await dashboard.parts.redis.keys('*:sign-in-link:*');
    const leftMs = await dashboard.parts.redis.pttl(name);
    expect(leftMs).toBeGreaterThan(30_000);
    expect(leftMs).toBeLessThanOrEqual(60_000);
    const token = path.split('=')[1] ?? 'none';
    expect(`${name} ${await dashboard.parts.redis.get(name)}`).not.toContain(token);
    await revokeKey(dashboard.parts, 'default', id);
    expect((await useLink(path)).status).toBe(410);
  });

  it('is made with a key, not with a sign-in, and its guesses are counted', async () => {
    const cookie = await dashboard.signIn(['admin']);
    const made = await dashboard.call('POST', '/v1/sign-in-links', { cookie, headers: { ...OWN_PAGE, accept: 'application/json' } });
    expect(made.status).toBe(403);
    const answers: number[] = [];
    for (let guess = 0; guess < 5; guess += 1) answers.push((await useLink(`/sign-in/link?token=guess-${guess}`)).status);
    expect(answers).toEqual([410, 410, 410, 429, 429]);
  });
});

describe('a session', () => {
  it('ends when its key is revoked', async () => {
    const { id, secret } = await createKey(dashboard.parts, { tenant: 'default', name: 'test', scopes: ['admin'] });
    const answer = await dashboard.call('POST', '/sign-in', { form: { key: secret }, headers: OWN_PAGE });
    const cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? '';
    expect((await dashboard.call('GET', '/', { cookie })).status).toBe(200);
    await revokeKey(dashboard.parts, 'default', id);
    expect((await dashboard.call('GET', '/', { cookie })).headers.get('location')).toBe('/sign-in');
    expect((await dashboard.call('GET', '/board/api/queues', { cookie })).status).toBe(401);
  });

  it('ends with signing out, here and in Redis', async () => {
    const cookie = await dashboard.signIn(['read']);
    const answer = await dashboard.call('POST', '/sign-out', { cookie, headers: OWN_PAGE });
    expect(answer.status).toBe(303);
    expect(answer.headers.get('set-cookie')).toMatch(/^muster_session=; Path=\/; Expires=Thu, 01 Jan 1970/);
    expect(await sessionKeys()).toEqual([]);
    expect((await dashboard.call('GET', '/', { cookie })).status).toBe(303);
  });

  it('replaces the one before it when somebody signs in again', async () => {
    const cookie = await dashboard.signIn(['read']);
    await dashboard.call('POST', '/sign-in', { cookie, form: { key: await dashboard.newSecret(['read']) }, headers: OWN_PAGE });
    expect(await sessionKeys()).toHaveLength(1);
    expect((await dashboard.call('GET', '/', { cookie })).status).toBe(303);
  });

  it('is required before every page, with a redirect back, and before every call, with a problem', async () => {
    for (const path of ['/board', '/board/queue/tasks?status=failed', '/tasks/01ARZ3NDEKTSV4RRFFQ69G5FAV', '/board/static/js/x.js']) {
      const answer = await dashboard.call('GET', path);
      expect(answer.status).toBe(303);
      expect(answer.headers.get('location')).toBe(`/sign-in?next=${encodeURIComponent(path)}`);
    }
    const call = await dashboard.call('GET', '/board/api/queues', { cookie: `muster_session=${'A'.repeat(43)}` });
    expect(call.status).toBe(401);
    expect(call.headers.get('content-type')).toContain('application/problem+json');
    expect(await call.json()).toMatchObject({ code: 'auth.missing', status: 401 });
  });
});

describe('a request that changes something', () => {
  const FOREIGN = [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'none' },
    { origin: 'https://elsewhere.example' },
    { origin: 'null' },
    {},
  ];

  it('is refused from another site, and without an origin', async () => {
    const cookie = await dashboard.signIn(['admin']);
    for (const headers of FOREIGN) {
      const call = await dashboard.call('PUT', '/board/api/queues/tasks/pause', { cookie, headers });
      expect(call.status).toBe(403);
      expect(await call.json()).toMatchObject({ code: 'auth.csrf' });
      const form = await dashboard.call('POST', '/sign-in', { form: { key: await dashboard.newSecret(['read']) }, headers });
      expect(form.status).toBe(403);
      expect(form.headers.get('set-cookie')).toBeNull();
      expect((await dashboard.call('POST', '/sign-out', { cookie, headers })).status).toBe(403);
    }
    expect(await dashboard.parts.queues.get(0, 'tasks').isPaused()).toBe(false);
    expect((await dashboard.call('GET', '/', { cookie })).status).toBe(200);
  });

  it('passes without Sec-Fetch-Site when the origin is this site', async () => {
    const cookie = await dashboard.signIn(['admin']);
    const answer = await dashboard.call('PUT', '/board/api/queues/tasks/pause', { cookie, headers: { origin: dashboard.url } });
    expect(answer.status).toBe(200);
    expect(await dashboard.parts.queues.get(0, 'tasks').isPaused()).toBe(true);
  });
});
