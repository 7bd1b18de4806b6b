import { describe, expect, test } from 'vitest';
import { appendOutput } from '#shared/ledger/append-output.ts';
import { claimTask } from '#shared/ledger/claim-task.ts';
import { readTask } from '#shared/ledger/read-tasks.ts';
import { settleAttempt } from '#shared/ledger/settle-attempt.ts';
import { acceptTask } from '#shared/queue/accept-task.ts';
import { OWN_PAGE } from './running-dashboard.ts';
import { useDashboard } from './use-dashboard.ts';

const dashboard = await useDashboard();

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

test('a task in a session leads to the session and to the task before it, and foretells no start', async () => {
  const cookie = await dashboard.signIn(['read']);
  const [first, second] = await Promise.all(
    ['first', 'second'].map(
      async (input) => (await acceptTask(dashboard.parts, { tenant: 'default', agent: 'echo', input, session: 'a/b c' })).id,
    ),
  );
  const pages = await Promise.all(
    [first, second].map(async (id) => await (await dashboard.call('GET', `/tasks/${id}`, { cookie })).text()),
  );
  const waiting = pages.find((page) => page.includes('Why it waits') && page.includes('behind task')) ?? '';
  expect(waiting).toMatch(new RegExp(`behind task <a href="/tasks/(${first}|${second})">`));
  expect(waiting).toContain('<a href="/sessions/a%2Fb%20c">a/b c</a>');
  expect(waiting).not.toContain('Starts in');
});

const page = async (id: string, cookie: string): Promise<string> => await (await dashboard.call('GET', `/tasks/${id}`, { cookie })).text();
const post = async (path: string, cookie: string, headers: Record<string, string> = OWN_PAGE): Promise<Response> =>
  await dashboard.call('POST', path, { cookie, headers });
const statusOf = async (id: string): Promise<string | undefined> => (await readTask(dashboard.parts.ledger, 'default', id))?.state.status;

describe('the buttons of the page', () => {
  test('cancel a task and lead back to its page', async () => {
    const cookie = await dashboard.signIn(['submit']);
    const id = await submit('default', 'to be stopped');
    expect(await page(id, cookie)).toContain(`action="/tasks/${id}/cancel"`);
    const answer = await post(`/tasks/${id}/cancel`, cookie);
    expect([answer.status, answer.headers.get('location')]).toEqual([303, `/tasks/${id}`]);
    expect(await statusOf(id)).toBe('cancelled');
    expect(await page(id, cookie)).not.toContain('<form method="post" action="/tasks/');
    expect((await post(`/tasks/${id}/retry`, cookie)).status).toBe(409);
  });

  test('open a task again that failed for good, and say why no attempt followed', async () => {
    const cookie = await dashboard.signIn(['submit']);
    const { ledger } = dashboard.parts;
    const { id } = await acceptTask(dashboard.parts, { tenant: 'default', agent: 'echo', input: 'x', execution: { maxAttempts: 1 } });
    const place = { tenant: 'default', id, lane: null };
    const claim = await claimTask(ledger, place, 'w-1');
    if (claim.kind !== 'claimed') throw new Error('The task was not claimed');
    const error = { code: 'AGENT_ERROR', message: 'No', retryable: true };
    await settleAttempt(ledger, { ...place, token: claim.state.token }, { kind: 'failed', error, delayMs: null, usage: null });
    expect(await page(id, cookie)).toContain('No attempt is left: 1 of 1');
    expect((await post(`/tasks/${id}/retry`, cookie)).status).toBe(303);
    expect(await statusOf(id)).toBe('queued');
  });

  test('are not there for a key that may only look, and nothing but them is listened to', async () => {
    const id = await submit('default', 'stays');
    const reader = await dashboard.signIn(['read']);
    expect(await page(id, reader)).not.toContain('<form method="post" action="/tasks/');
    expect((await post(`/tasks/${id}/cancel`, reader)).status).toBe(403);
    expect((await post(`/tasks/${id}/cancel`, await dashboard.signIn(['submit']), { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await post(`/tasks/${id}/cancel`, await dashboard.signIn(['admin'], 'rival'))).status).toBe(404);
    expect(await statusOf(id)).toBe('pending');
  });

  test('act on the tenant whose task is shown', async () => {
    const id = await submit('acme', 'of acme');
    const cookie = await dashboard.signIn(['admin']);
    const shown = await (await dashboard.call('GET', `/tasks/${id}?tenant=acme`, { cookie })).text();
    expect(shown).toContain(`action="/tasks/${id}/cancel?tenant=acme"`);
    const answer = await post(`/tasks/${id}/cancel?tenant=acme`, cookie);
    expect(answer.headers.get('location')).toBe(`/tasks/${id}?tenant=acme`);
    expect((await readTask(dashboard.parts.ledger, 'acme', id))?.state.status).toBe('cancelled');
  });
});

test('a task that runs shows what it has written so far, of this run alone, and a cancelled one what it had', async () => {
  const cookie = await dashboard.signIn(['read']);
  const { ledger } = dashboard.parts;
  const { id } = await acceptTask(dashboard.parts, { tenant: 'default', agent: 'echo', input: 'a <b> c' });
  const place = { tenant: 'default', id, lane: null };
  const claim = await claimTask(ledger, place, 'w-1');
  if (claim.kind !== 'claimed') throw new Error('The task was not claimed');
  const attempt = { ...place, token: claim.state.token };
  for (const [seq, text] of [
    [1, 'of an interrupted run'],
    [1, 'a '],
    [2, '<b>'],
  ] as const)
    await appendOutput(ledger, attempt, { attempt: 1, seq, text });
  const running = await page(id, cookie);
  expect(running).toMatch(/Output so far<\/h2>\s*<pre>a &lt;b&gt;<\/pre>/);
  expect(running).not.toContain('of an interrupted run');
  await settleAttempt(ledger, attempt, { kind: 'cancelled', reason: 'by request' });
  expect(await page(id, cookie)).toMatch(/What the last attempt wrote<\/h2>\s*<pre>a &lt;b&gt;<\/pre>/);
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
