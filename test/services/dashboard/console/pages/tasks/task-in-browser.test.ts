import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { AgentFunction } from '#shared/config/define-config.ts';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import type { AcceptRequest } from '#shared/queue/accept/request.ts';
import { waitFor } from '../../../../../support/wait-for.ts';
import { OWN_PAGE, type RunningDashboard } from '../../../running-dashboard.ts';
import { startConsole, type RunningConsole } from '../../../start-console.ts';
import { expectAccessiblePage, hasBrowser } from '../../../test-browser.ts';

// A browser shares two cores with other tests. Each step has its own, shorter limit, which names a page that hangs.
vi.setConfig({ testTimeout: 180_000 });

let web: RunningConsole;
let dashboard: RunningDashboard;
let page: Page;
let release: () => void;
let gate: Promise<void>;

/** Writes output and log, takes input, and ends when the test releases it. */
const steps: AgentFunction = async ({ input }, { write, log, progress, input: takeInput, signal }) => {
  write(`heard ${input}\n`);
  log.warn({ files: 3 }, 'reads slowly');
  progress('half of it', 50);
  const stopped = new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  await Promise.race([gate, stopped]);
  for (const { text } of await takeInput()) write(`and ${text}\n`);
  write('done\n');
};

const attaches: AgentFunction = async (_task, { attach }) => {
  await attach('out.txt', 'o'.repeat(2048), 'text/plain');
};

const breaks: AgentFunction = () => {
  throw new TypeError('nothing to <b>read</b>', { cause: new Error('the file is gone') });
};

beforeAll(async () => {
  if (!hasBrowser) return;
  web = await startConsole({
    settings: {
      agents: {
        steps: { kind: 'function', run: steps, takesInput: true },
        attaches: { kind: 'function', run: attaches },
        breaks: { kind: 'function', run: breaks, maxAttempts: 1 },
        complains: { kind: 'command', command: ['/bin/sh', '-c', 'echo "no such branch" >&2; exit 4'], maxAttempts: 1 },
      },
      commands: { uid: 'own' },
    },
  });
  ({ dashboard, page } = web);
}, 60_000);
afterAll(async () => {
  if (!hasBrowser) return;
  release();
  await web.close();
});
beforeEach(() => {
  ({ promise: gate, resolve: release } = Promise.withResolvers<void>());
});
afterEach(() => {
  release();
  if (hasBrowser) web.browser.assertNoProblems();
});

const submit = async (request: Partial<AcceptRequest> = {}): Promise<string> =>
  (await acceptTask(dashboard.parts, { tenant: 'default', agent: 'steps', input: 'hello', ...request })).id;

const open = async (id: string, query = ''): Promise<void> => void (await page.goto(`${dashboard.url}/tasks/${id}${query}`));
const badge = (text: string): ReturnType<Page['locator']> => page.locator('header').getByText(text, { exact: true });
const region = (name: string): ReturnType<Page['locator']> => page.getByRole('region', { name, exact: true });

async function expectStatus(id: string, status: string, tenant = 'default'): Promise<void> {
  await waitFor(async () => (await readTask(dashboard.parts.ledger, tenant, id))?.state.status === status, {
    deadlineMs: 60_000,
    what: `the task to be ${status}`,
  });
}

const expectAccessible = (what: string): Promise<void> => expectAccessiblePage(page, what);

describe.skipIf(!hasBrowser)('the page of a task', () => {
  test('shows each change without a reload, and takes a message for the running task', async () => {
    const id = await submit();
    await open(id);
    await region('Output so far').getByText('heard hello').waitFor();
    await page.getByText('50 % · half of it').waitFor();
    await region('Log').getByText('reads slowly').waitFor();
    await page.getByText('live', { exact: true }).waitFor();
    await expectAccessible('a running task');
    await page.getByRole('textbox', { name: 'Write to it while it runs' }).fill('this too');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('Sent as').waitFor();
    release();
    await badge('completed').waitFor();
    await region('Output').getByText('and this too').waitFor();
    await page.getByText('success').waitFor();
    expect(await page.getByRole('button', { name: 'Cancel' }).count()).toBe(0);
    await expectAccessible('a completed task');
  });

  test('shows the time for which a task waits once, in the zone of the browser', async () => {
    const id = await submit({ scheduledFor: '2100-01-01T09:00:07.250Z' });
    await open(id);
    const reason = page.getByText('Why it waits').locator('xpath=..').getByRole('listitem').first();
    await reason.waitFor();
    expect(await reason.locator('time').getAttribute('datetime')).toBe('2100-01-01T09:00:07Z');
    expect(await reason.innerText()).toMatch(/^not before 1 Jan, \d\d:\d\d:07 \S+$/);
    await page.getByText('Why it waits').locator('xpath=..').locator('code', { hasText: 'scheduledFor' }).waitFor();
    await page.getByText('Waits for its time', { exact: true }).waitFor();
  });

  test('shows why a task waits, with a link to the task before it, and changes its priority', async () => {
    const first = await submit({ session: 'a/b c' });
    await expectStatus(first, 'running');
    const second = await submit({ session: 'a/b c', input: '<img src=x onerror=alert(1)>' });
    await open(second);
    await page.getByText('Why it waits').waitFor();
    // The input shows as text.
    await region('Input').getByText('<img src=x onerror=alert(1)>').waitFor();
    expect(await page.getByRole('link', { name: 'a/b c' }).getAttribute('href')).toBe('/sessions/a%2Fb%20c');
    await page.getByText('It starts when the task before it has ended.').waitFor();
    await page.getByText('Every step to its start').click();
    expect(await page.locator('li[aria-current=step]').innerText()).toContain('lane');
    await expectAccessible('a task that waits');
    await page.getByLabel('Priority').selectOption('9');
    await waitFor(async () => (await readTask(dashboard.parts.ledger, 'default', second))?.state.priority === 9, {
      deadlineMs: 60_000,
      what: 'the priority',
    });
    await page.getByRole('link', { name: first }).first().click();
    await badge('running').waitFor();
    release();
    await badge('completed').waitFor();
    await expectStatus(second, 'completed');
  });

  test('cancels a running task and keeps what it wrote', async () => {
    const id = await submit();
    await open(id);
    await region('Output so far').getByText('heard hello').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await badge('cancelled').waitFor();
    await region('What the last attempt wrote').getByText('heard hello').waitFor();
    expect(await page.getByRole('button', { name: 'Cancel' }).count()).toBe(0);
  });

  test('shows where an error was thrown, and reopens the task', async () => {
    const id = await submit({ agent: 'breaks' });
    await open(id);
    await badge('permanently failed').waitFor();
    await page.getByText('nothing to <b>read</b>').first().waitFor();
    await page.getByText('No attempt is left: 1 of 1 failed.').waitFor();
    await page.getByText('Stack').first().click();
    await region('Stack').getByText('Caused by: Error: the file is gone').first().waitFor();
    await expectAccessible('a task that failed');
    await page.getByRole('button', { name: 'Retry' }).click();
    await waitFor(async () => ((await readTask(dashboard.parts.ledger, 'default', id))?.attempts.length ?? 0) > 1, {
      deadlineMs: 60_000,
      what: 'a second attempt',
    });
    await page.getByText('#2').waitFor();
    expect(await page.locator('b', { hasText: 'read' }).count()).toBe(0);
  });

  test('shows what a program wrote to stderr', async () => {
    await open(await submit({ agent: 'complains' }));
    await region('End of stderr').getByText('no such branch').first().waitFor();
    expect(await page.getByText('COMMAND_FAILED').count()).toBeGreaterThan(0);
  });

  test('lists the files that a task was given and made, and saves them', async () => {
    const { file } = await dashboard.parts.files.upload(
      'default',
      { name: 'in #1.txt', mediaType: 'text/plain' },
      Readable.from([Buffer.from('given')]),
    );
    const id = await submit({ agent: 'attaches', attachments: [{ uploadId: file }] });
    await open(id);
    await badge('completed').waitFor();
    await region('Attachments').getByText('5 bytes').waitFor();
    await region('Artifacts').getByText('2.0 KiB').waitFor();
    for (const [name, content] of [
      ['in #1.txt', 'given'],
      ['out.txt', 'o'.repeat(2048)],
    ] as const) {
      const [saved] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name, exact: true }).click()]);
      expect(saved.suggestedFilename()).toBe(name);
      expect(await readFile(await saved.path(), 'utf8')).toBe(content);
    }
    await expectAccessible('a task with files');
  });

  test('shows its parents and children as a graph, to eyes and to a keyboard', async () => {
    const parent = await submit({ input: 'the complete report' });
    const child = await submit({ input: 'one chapter', parentTaskId: parent });
    const sibling = await submit({ input: 'another chapter', parentTaskId: parent });
    await submit({ input: 'a paragraph', parentTaskId: sibling });
    await open(child);
    const graph = region('Graph of parents and children');
    await graph.getByText('a paragraph').waitFor();
    expect(await graph.locator('[aria-current=true]').innerText()).toContain('one chapter');
    const node = (text: string): ReturnType<Page['locator']> => graph.locator('li', { hasText: text }).last();
    const place = async (text: string): Promise<{ x: number; y: number }> => (await node(text).boundingBox()) ?? { x: -1, y: -1 };
    expect((await place('a paragraph')).x).toBeGreaterThan((await place('another chapter')).x);
    expect(await node('a paragraph').locator('xpath=ancestor::li').count()).toBe(2);
    await page.setViewportSize({ width: 390, height: 844 });
    expect((await place('a paragraph')).y).toBeGreaterThan((await place('another chapter')).y);
    await expectAccessible('a task with a family in a small window');
    await page.setViewportSize({ width: 1440, height: 900 });
    await expectAccessible('a task with a family');
    await graph.getByRole('link', { name: 'another chapter' }).focus();
    await page.keyboard.press('Enter');
    await page.waitForURL((url) => url.pathname.endsWith(sibling));
    await graph.locator('[aria-current=true]', { hasText: 'another chapter' }).waitFor();
  });

  test('runs it again with another input, and copies it as curl', async () => {
    const id = await submit({ agent: 'breaks', input: 'first try', metadata: { ticket: 'A-1' } });
    await open(id);
    await badge('permanently failed').waitFor();
    await page.getByRole('listitem').filter({ hasText: 'Attempt 1' }).first().waitFor();
    await page.getByRole('button', { name: 'Run again' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Input').fill('second try');
    await dialog.getByLabel('Agent').selectOption('attaches');
    await expectAccessible('the form to run it again');
    await dialog.getByRole('button', { name: 'Run it' }).click();
    await page.waitForURL((url) => url.pathname.startsWith('/tasks/') && !url.pathname.endsWith(id));
    await badge('completed').waitFor();
    const again = page.url().split('/').at(-1) ?? '';
    expect((await readTask(dashboard.parts.ledger, 'default', again))?.body).toMatchObject({
      agent: 'attaches',
      input: 'second try',
      metadata: { ticket: 'A-1' },
    });
    await page.getByRole('button', { name: 'Copy', exact: true }).first().click();
    await page.getByRole('menuitem', { name: 'Submit it again, as curl' }).waitFor();
    await page.keyboard.press('Escape');
  });

  test('resumes by itself where its stream was cut', async () => {
    const id = await submit();
    await open(id);
    await region('Output so far').getByText('heard hello').waitFor();
    await dashboard.cut();
    await dashboard.repair();
    release();
    await badge('completed').waitFor();
    await region('Output').getByText('done').waitFor();
    expect((await region('Output').textContent())?.trim()).toBe('heard hello\ndone');
  });

  test('offers no change to a key that may only read', async () => {
    const id = await submit();
    await web.signIn(['read']);
    await open(id);
    await region('Output so far').getByText('heard hello').waitFor();
    for (const name of ['Cancel', 'Send']) expect(await page.getByRole('button', { name }).count()).toBe(0);
    const cookie = await dashboard.signIn(['read']);
    expect((await dashboard.call('POST', `/v1/tasks/${id}/cancel`, { cookie, headers: OWN_PAGE })).status).toBe(403);
    await web.signIn(['admin']);
  });

  test('shows another tenant’s task only to keys that may make keys for that tenant', async () => {
    const id = await submit({ tenant: 'acme', scheduledFor: '2100-01-01T00:00:00.000Z' });
    await dashboard.parts.tenants.create('acme', { name: 'Acme', disabled: false, limits: null, createdAt: Date.now() });
    await open(id, '?tenant=acme');
    await badge('pending').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await expectStatus(id, 'cancelled', 'acme');
    await badge('cancelled').waitFor();
    for (const [scopes, tenant] of [
      [['admin'], 'rival'],
      [['operate'], 'default'],
    ] as const) {
      const cookie = await dashboard.signIn([...scopes], tenant);
      const headers = { accept: 'application/json', 'Muster-Tenant': 'acme' };
      expect((await dashboard.call('GET', `/v1/tasks/${id}`, { cookie, headers })).status).toBe(403);
    }
    const own = await dashboard.signIn(['admin']);
    const headers = { accept: 'application/json', 'Muster-Tenant': 'nobody' };
    expect((await dashboard.call('GET', `/v1/tasks/${id}`, { cookie: own, headers })).status).toBe(404);
  });

  test.each(['01ARZ3NDEKTSV4RRFFQ69G5FAV', 'nothing', '..%2f..%2fetc'])('reports that there is no task %s', async (id) => {
    await open(id);
    await page.getByRole('heading', { level: 1, name: 'There is no such task' }).waitFor();
    expect(await page.getByRole('main').getByRole('link', { name: 'To all tasks' }).getAttribute('href')).toBe('/tasks');
    expect(await page.getByRole('link', { name: 'Chat' }).count()).toBeGreaterThan(0);
  });
});
