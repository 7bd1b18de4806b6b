import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createApiService } from '../../../services/api/create-api-service.ts';
import { OWN_PAGE, startDashboard } from './running-dashboard.ts';
import { useDashboard } from './use-dashboard.ts';

const dashboard = await useDashboard({}, { more: (parts) => [createApiService(parts)] });
const cookie = await dashboard.signIn(['submit']);

test.each(['/', '/chat', '/sessions/telegram%3A12%2F3', '/schedules', '/tasks/01ARZ3NDEKTSV4RRFFQ69G5FAV'])(
  '%s is the console for a person who is signed in, uncached, under a policy that allows only files of this site',
  async (path) => {
    const answer = await dashboard.call('GET', path, { cookie });
    expect(answer.status).toBe(200);
    expect(await answer.text()).toContain('A console');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const policy = answer.headers.get('content-security-policy') ?? '';
    expect(policy.split(';')).toEqual(
      expect.arrayContaining(["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'"]),
    );
    expect(policy).not.toMatch(/unsafe|https?:|data:|\*/);
    const outsider = await dashboard.call('GET', path);
    expect(outsider.status).toBe(303);
    expect(outsider.headers.get('location')).toMatch(/^\/sign-in/);
  },
);

test('an unknown address is a page for people and a problem for programs', async () => {
  for (const headers of [{}, { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }]) {
    const answer = await dashboard.call('GET', '/nothing/<b>here', { headers });
    expect(answer.status).toBe(404);
    expect(answer.headers.get('content-type')).toContain('text/html');
    expect(answer.headers.get('content-security-policy')).toMatch(/^default-src 'none';style-src 'self'/);
    const text = await answer.text();
    expect(text).toContain('There is no page');
    expect(text).not.toContain('<b>here');
  }
  for (const accept of ['*/*', 'application/json']) {
    const answer = await dashboard.call('GET', '/nothing/here', { headers: { accept } });
    expect(answer.status).toBe(404);
    expect(await answer.json()).toMatchObject({ code: 'request.not-found' });
  }
});

test.each([
  ['/sign-in', 'GET, HEAD, POST'],
  ['/sign-in/link', 'GET, HEAD, POST'],
  ['/sign-out', 'GET, HEAD, POST'],
  ['/', 'GET, HEAD'],
  ['/console/tenant', 'POST'],
  ['/console/assets/any.js', 'GET, HEAD'],
  ['/dashboard/dashboard.css', 'GET, HEAD'],
  ['/board', 'GET, HEAD'],
  ['/board/queue/tasks', 'GET, HEAD'],
])('%s says which methods it takes, and refuses others by it, also without a sign-in', async (path, allowed) => {
  const answers = ['OPTIONS', 'DELETE'].map((method) => dashboard.call(method, path, { headers: { accept: 'application/json' } }));
  const [options, refused] = await Promise.all(answers);
  expect([options?.status, options?.headers.get('allow')]).toEqual([200, allowed]);
  expect([refused?.status, refused?.headers.get('allow')]).toEqual([405, allowed]);
  expect(await refused?.json()).toMatchObject({ code: 'request.method-not-allowed' });
});

test('an address of the API that takes no GET is a page for people that names what it takes', async () => {
  const answer = await dashboard.call('GET', '/v1/uploads', { headers: { accept: 'text/html' } });
  expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST']);
  expect(await answer.text()).toContain('/v1/uploads takes POST, not GET');
});

test('browsers cache its files for good, and no other file is served', async () => {
  const answer = await dashboard.call('GET', '/console/assets/main-abc123.js');
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toContain('javascript');
  expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  for (const path of ['/console/assets/', '/console/assets/..%2findex.html', '/console/index.html', '/console/assets/main-old.js'])
    expect((await dashboard.call('GET', path)).status).not.toBe(200);
});

test('it reads who is signed in, and a program without a sign-in gets 401', async () => {
  const answer = await dashboard.call('GET', '/console/person', { cookie, headers: { accept: 'application/json' } });
  expect(await answer.json()).toMatchObject({ tenant: 'default', name: 'test', scopes: ['submit'] });
  const none = await dashboard.call('GET', '/console/person', { headers: { accept: 'application/json' } });
  expect(none.status).toBe(401);
});

test('a console that is not built is a page with instructions', async () => {
  const empty = await mkdtemp(join(tmpdir(), 'muster-console-'));
  const bare = await startDashboard({}, { built: empty });
  try {
    const answer = await bare.call('GET', '/', { cookie: await bare.signIn(['read']) });
    expect(answer.status).toBe(503);
    expect(await answer.text()).toContain('npx vite build services/dashboard/console');
  } finally {
    await bare.close();
    await rm(empty, { recursive: true, force: true });
  }
});

test('the API accepts the sign-in of the console, with its scopes, and changes only from pages of this site', async () => {
  const body = { agent: 'echo', input: 'from the console' };
  const submit = (headers: Record<string, string>, as = cookie): Promise<Response> =>
    dashboard.call('POST', '/v1/tasks', { cookie: as, json: body, headers });
  expect((await submit(OWN_PAGE)).status).toBe(202);
  expect((await submit({ origin: dashboard.url })).status).toBe(202);
  for (const headers of [{}, { 'sec-fetch-site': 'cross-site' }, { origin: 'https://elsewhere.example' }]) {
    const refused = await submit(headers);
    expect(refused.status).toBe(403);
    expect(await refused.json()).toMatchObject({ code: 'auth.csrf' });
  }
  const reader = await dashboard.signIn(['read']);
  expect((await submit(OWN_PAGE, reader)).status).toBe(403);
  const list = (await (await dashboard.call('GET', '/v1/tasks', { cookie: reader })).json()) as { items: unknown[] };
  expect(list.items).toHaveLength(2);
  const outsider = await dashboard.signIn(['admin'], 'rival');
  expect(await (await dashboard.call('GET', '/v1/tasks', { cookie: outsider })).json()).toMatchObject({ items: [] });
});
