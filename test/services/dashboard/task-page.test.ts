import { afterAll, beforeAll, expect, test } from 'vitest';
import { acceptTask } from '#shared/queue/accept-task.ts';
import { startDashboard, type RunningDashboard } from './running-dashboard.ts';

let dashboard: RunningDashboard;

beforeAll(async () => {
  dashboard = await startDashboard();
});
afterAll(async () => {
  await dashboard.close();
});

const submit = async (tenant: string, input: string): Promise<string> =>
  (await acceptTask(dashboard.parts, { tenant, agent: 'echo', input, scheduledFor: '2100-01-01T00:00:00.000Z' })).id;

test('a task says why it waits, and shows what people wrote as text', async () => {
  const cookie = await dashboard.signIn(['read']);
  const id = await submit('default', '<img src=x onerror=alert(1)>');
  const answer = await dashboard.call('GET', `/tasks/${id}`, { cookie });
  const page = await answer.text();
  expect(answer.headers.get('content-security-policy')).toMatch(/^default-src 'none';/);
  expect(page).toContain('&lt;img src=x onerror=alert(1)&gt;');
  expect(page).not.toContain('<img src=x');
  expect(page).toContain('not before 2100-01-01T00:00:00.000Z');
});

test('a task of another tenant is not there, except for those who could make a key for that tenant', async () => {
  const id = await submit('acme', 'a secret of acme');
  const statusFor = async (cookie: string): Promise<number> => (await dashboard.call('GET', `/tasks/${id}?tenant=acme`, { cookie })).status;
  expect(await statusFor(await dashboard.signIn(['admin'], 'acme'))).toBe(200);
  expect(await statusFor(await dashboard.signIn(['admin'], 'rival'))).toBe(404);
  expect(await statusFor(await dashboard.signIn(['operate']))).toBe(404);
  expect(await statusFor(await dashboard.signIn(['admin']))).toBe(200);
});

test.each(['/tasks/01ARZ3NDEKTSV4RRFFQ69G5FAV', '/tasks/..%2f..%2fetc', '/tasks/nothing'])(
  '%s is a page that says there is no such task',
  async (path) => {
    const answer = await dashboard.call('GET', path, { cookie: await dashboard.signIn(['read']) });
    expect(answer.status).toBe(404);
    const text = await answer.text();
    expect(text).toContain('task.not-found');
    // Whoever is signed in finds the way on.
    expect(text).toContain('href="/chat"');
  },
);

test('while Redis is away, people are told so with 503', async () => {
  const cookie = await dashboard.signIn(['read']);
  await dashboard.redis.kill();
  const answer = await dashboard.call('GET', '/', { cookie });
  expect(answer.status).toBe(503);
  expect(await answer.text()).toContain('unavailable.redis');
  await dashboard.redis.restart();
});
