import { beforeEach, describe, expect, it } from 'vitest';
import { createKey, revokeKey } from '#shared/tenants/key-store.ts';
import { OWN_PAGE, startDashboard } from '../running-dashboard.ts';
import { useDashboard } from '../use-dashboard.ts';

const dashboard = await useDashboard({ limits: { signInPerMinute: 3 } });
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
    // Signing in successfully is no failure, however often.
    for (let round = 0; round < 5; round += 1) expect((await tryKey(secret)).status).toBe(303);
    const guesses = await Promise.all(Array.from({ length: 8 }, () => tryKey('mk_guess')));
    expect(guesses.filter(({ status }) => status === 401)).toHaveLength(3);
    const blocked = await tryKey(secret);
    expect(blocked.status).toBe(429);
    expect(Number(blocked.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(Number(blocked.headers.get('retry-after'))).toBeLessThanOrEqual(60);
  });

  it('stops after as many failures with one key, from whichever addresses', async () => {
    const proxied = await startDashboard({ limits: { signInPerMinute: 3 } }, { env: { MUSTER_TRUST_PROXY: 'true' } });
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

  it('takes a form of eight kilobytes at most', async () => {
    const answer = await dashboard.call('POST', '/sign-in', { form: { key: 'x'.repeat(9000) }, headers: OWN_PAGE });
    expect(answer.status).toBe(413);
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
