import { createHmac } from 'node:crypto';
import type { Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { createWebhooksService } from '../../../../../../services/webhooks/create-webhooks-service.ts';
import { type FakeHttpEndpoint, startFakeHttpEndpoint } from '../../../../../support/fake-http-endpoint.ts';
import { waitFor } from '../../../../../support/wait-for.ts';
import type { RunningDashboard } from '../../../running-dashboard.ts';
import { startConsole, type RunningConsole } from '../../../start-console.ts';
import { expectAccessiblePage, hasBrowser } from '../../../test-browser.ts';

// One fleet and one browser for the pages Hooks, Deliveries, Agents and Queues. Each step has its own, shorter limit.
vi.setConfig({ testTimeout: 180_000 });

let web: RunningConsole;
let dashboard: RunningDashboard;
let page: Page;
let endpoint: FakeHttpEndpoint;
let isBroken = true;

beforeAll(async () => {
  if (!hasBrowser) return;
  endpoint = await startFakeHttpEndpoint((response) => void response.writeHead(isBroken ? 500 : 200).end());
  web = await startConsole({
    settings: {
      agents: {
        echo: { kind: 'echo', description: 'Says it again' },
        breaks: {
          kind: 'function',
          run: () => {
            throw new Error('the file is gone');
          },
          maxAttempts: 1,
        },
      },
      outbound: { allowNetworks: ['127.0.0.0/8'] },
      deliveries: { callbacks: { retryMs: [], disableAfterMs: 1 } },
    },
    more: (parts) => [createWebhooksService(parts)],
  });
  ({ dashboard, page } = web);
}, 180_000);
afterAll(async () => {
  if (!hasBrowser) return;
  await web.close();
  await endpoint.close();
});
afterEach(() => {
  if (hasBrowser) web.browser.assertNoProblems();
});

const open = async (path: string): Promise<void> => void (await page.goto(`${dashboard.url}${path}`));
const button = (name: string): ReturnType<Page['locator']> => page.getByRole('button', { name, exact: true });
const table = (name: string): ReturnType<Page['locator']> => page.getByRole('table', { name, exact: true });
const row = (name: string, text: string): ReturnType<Page['locator']> => table(name).locator('tr').filter({ hasText: text }).first();
const focused = async (control: Locator): Promise<boolean> => (await control.and(page.locator(':focus')).count()) === 1;
const confirm = (name: string): Promise<void> => page.getByRole('dialog').getByRole('button', { name, exact: true }).click();

describe.skipIf(!hasBrowser)('the page Hooks', () => {
  test('makes a hook, shows its secret once with the steps at the sender, and what the hook received, also what it refused', async () => {
    await open('/hooks');
    await button('New hook').click();
    const dialog = page.getByRole('dialog', { name: 'New hook' });
    await dialog.getByLabel('Name').fill('pull requests');
    await dialog.getByLabel('Agent').selectOption('echo');
    await dialog.getByLabel('Input of the task').fill('{{payload.action}} #{{payload.number}}');
    await dialog.getByText('Whoever can send to this hook').waitFor();
    await dialog.getByLabel('Apply /schedule lines').check();
    await expectAccessiblePage(page, 'the form of a hook');
    await button('Create').click();
    await dialog.getByText('It is shown only now.').waitFor();
    const address = await dialog.locator('code').filter({ hasText: '/hooks/' }).innerText();
    expect(
      await dialog
        .locator('code')
        .filter({ hasText: /^[0-9a-f]{64}$/ })
        .count(),
    ).toBe(1);
    await button('Show the hook').click();
    await page.getByRole('heading', { name: 'pull requests' }).waitFor();
    await button('Leave /schedule lines').click();
    await button('Apply /schedule lines').click();
    await page.getByRole('dialog').getByText('Whoever can send to this hook').waitFor();
    await confirm('Apply them');
    await button('Leave /schedule lines').waitFor();
    expect(await page.getByRole('navigation', { name: 'Main' }).locator('[aria-current]').innerText()).toBe('Hooks');
    expect(await page.getByText(/[0-9a-f]{64}/).count()).toBe(0);

    await fetch(address, { method: 'POST', headers: { 'x-hub-signature-256': 'sha256=00' }, body: '{"from":"nobody"}' });
    await row('Deliveries', 'The signature does not match').waitFor();
    await button('Send a test').click();
    await page.getByRole('dialog').getByLabel('Event').fill('pull_request.opened');
    await button('Send').click();
    await page.getByText('opened #7').first().waitFor();
    await page.goBack();

    await row('Deliveries', 'pull_request.opened (test)').getByRole('link').first().click();
    await page.getByText('"opened"').waitFor();
    await web.expectPage('a hook');
    await button('Replay').click();
    await confirm('Replay');
    await row('Deliveries', 'pull_request.opened (replay)').waitFor();
    await row('Deliveries', 'unknown').getByRole('link').first().click();
    await page.getByText('"nobody"').waitFor();
    expect(await button('Replay').count()).toBe(0);

    await button('Disable').click();
    await page.getByText('disabled', { exact: true }).waitFor();
    await open('/hooks');
    await row('Hooks', 'pull requests').waitFor();
    await web.expectPage('hooks');
  });

  test('makes a hook of a sender that hands over its secret, with the options that were chosen, and says what it is recognized by', async () => {
    await open('/hooks');
    await button('New hook').click();
    const dialog = page.getByRole('dialog', { name: 'New hook' });
    await dialog.getByLabel('Sender').selectOption('hmac');
    await dialog.getByLabel('Header of the signature').fill('X-Hook-Signature');
    await dialog.getByText('Options of the sender').click();
    await dialog.getByLabel('Check of the address').selectOption('asana');
    await dialog.getByLabel('Name').fill('asana tasks');
    await dialog.getByLabel('Agent').selectOption('echo');
    await expectAccessiblePage(page, 'the options of a hook');
    await button('Create').click();
    const address = await dialog.locator('code').filter({ hasText: '/hooks/' }).innerText();
    await button('Show the hook').click();
    await page.getByText('"handshake":"asana"').waitFor();
    const handshake = await fetch(address, { method: 'POST', headers: { 'x-hook-secret': 's3cret' }, body: '{}' });
    expect(handshake.headers.get('x-hook-secret')).toBe('s3cret');
    const signature = createHmac('sha256', 's3cret').update('{"events":[1]}').digest('hex');
    await fetch(address, { method: 'POST', headers: { 'x-hook-signature': signature }, body: '{"events":[1]}' });
    await row('Deliveries', 'accepted').getByRole('link').first().click();
    await page.getByText('what was signed', { exact: true }).waitFor();
    await button('Change secret').click();
    await confirm('Change');
    await page.getByText('The former secret is valid too until').waitFor();
    await web.expectPage('a hook with a former secret');
    await button('End it now').click();
    await confirm('End it');
    await page.getByText('The former secret is valid too until').waitFor({ state: 'detached' });
  });
});

describe.skipIf(!hasBrowser)('the page Deliveries', () => {
  test('shows a callback that failed, sends it again, and enables its endpoint', async () => {
    const task = await acceptTask(dashboard.parts, {
      tenant: 'default',
      agent: 'echo',
      input: 'tell me',
      source: 'api',
      callbackUrl: `${endpoint.url}/done`,
    });
    await waitFor(() => endpoint.requests.length === 1, { deadlineMs: 30_000, what: 'the callback to be tried' });
    await open('/deliveries?status=failed');
    await row('Deliveries', task.id).getByText('failed', { exact: true }).waitFor();
    await row('Endpoints that fail', endpoint.url).waitFor();
    await web.expectPage('deliveries');
    // Filters keep the focus of a person who changes them by keyboard.
    await page.getByLabel('Status').focus();
    await page.getByLabel('Status').selectOption('delivered');
    await page.getByText('No delivery fits the filter.').waitFor();
    expect(await focused(page.getByLabel('Status'))).toBe(true);
    await button('Clear').focus();
    await page.keyboard.press('Enter');
    await row('Deliveries', task.id).waitFor();
    await page.keyboard.press('Tab');
    expect(await focused(page.getByLabel('Status'))).toBe(true);
    await row('Deliveries', task.id).getByRole('button', { name: 'Retry' }).click();
    await row('Endpoints that fail', endpoint.url).getByText('disabled', { exact: true }).waitFor();
    isBroken = false;
    await row('Endpoints that fail', endpoint.url).getByRole('button', { name: 'Enable' }).click();
    await table('Endpoints that fail').waitFor({ state: 'detached' });
    await row('Deliveries', task.id).getByRole('button', { name: 'Retry' }).click();
    await open('/deliveries?status=delivered');
    await row('Deliveries', task.id).getByText('delivered', { exact: true }).waitFor();
    expect(endpoint.requests).toHaveLength(3);
  });
});

describe.skipIf(!hasBrowser)('the page Agents', () => {
  // Its figures alone may take 20 seconds on a busy machine.
  test('shows what the newest tasks of an agent show of it, and sends it one', async () => {
    await acceptTask(dashboard.parts, { tenant: 'default', agent: 'breaks', input: 'x', source: 'api' });
    // Workers write their counts once a second.
    const isCounted = async (): Promise<boolean> => {
      const { items } = await web.api<{ items: { agent: string }[] }>('GET', '/v1/metrics/agents');
      return items.some(({ agent }) => agent === 'breaks');
    };
    await waitFor(isCounted, { deadlineMs: 60_000, what: 'the failed attempt in the figures' });
    await open('/agents');
    await row('Agents', 'breaks').getByText('100 %').waitFor();
    await web.expectPage('agents');
    await row('Agents', 'echo').getByRole('link').first().click();
    await page.getByRole('textbox', { name: 'Input' }).fill('said to try');
    await web.expectPage('an agent');
    await button('Send').click();
    await page.waitForURL('**/tasks/*');
    await page.getByText('completed', { exact: true }).first().waitFor();
    await expect.poll(() => page.getByText('said to try').count()).toBeGreaterThan(0);
  });

  test('a row that was removed leaves below the pointer, also the last one while others are new', async () => {
    await web.api('PUT', '/v1/agents/zz-last', { kind: 'echo' });
    await open('/agents');
    await row('Agents', 'zz-last').waitFor();
    await row('Agents', 'echo').hover();
    await web.api('PUT', '/v1/agents/aa-first', { kind: 'echo' });
    await web.api('DELETE', '/v1/agents/zz-last');
    // The list is read again every 15 seconds.
    await button('1 new').waitFor({ timeout: 60_000 });
    await row('Agents', 'zz-last').waitFor({ state: 'detached' });
    expect(await row('Agents', 'aa-first').count()).toBe(0);
    // By key: a pointer that goes to the button leaves the rows, which are shown then without it.
    await button('1 new').press('Enter');
    await row('Agents', 'aa-first').waitFor();
    await web.api('DELETE', '/v1/agents/aa-first');
  });

  test('creates, changes, pauses and deletes an agent of the API', async () => {
    await open('/agents');
    await button('New agent').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('writer');
    await dialog.getByLabel('Model', { exact: false }).first().fill('model-1');
    await dialog.getByLabel('Description').fill('Writes notes');
    await expectAccessiblePage(page, 'the form of an agent');
    await button('Create').click();
    await page.getByRole('heading', { name: 'writer', level: 1 }).waitFor();
    await button('Edit').click();
    await dialog.locator(':focus').waitFor();
    await dialog.getByLabel('Description').fill('Writes release notes');
    await button('Save').click();
    await page.getByText('Writes release notes').first().waitFor();
    await button('Pause').click();
    await confirm('Pause');
    await page.getByText('This agent is paused').waitFor();
    await expectAccessiblePage(page, 'a paused agent');
    // Its times are those of the browser's zone, and no text of the server.
    expect(await page.getByText(/\d{4}-\d\d-\d\d/).count()).toBe(0);
    expect(await page.getByRole('main').locator('time').count()).toBeGreaterThan(0);
    await button('Resume').click();
    await page.getByText('This agent is paused').waitFor({ state: 'detached' });
    await button('Delete').click();
    await confirm('Delete');
    await page.getByRole('heading', { name: 'Agents', level: 1 }).waitFor();
    await row('Agents', 'writer').waitFor({ state: 'detached' });
    expect((await dashboard.parts.catalog.list('default')).items.map(({ id }) => id)).not.toContain('writer');
  });
});

describe.skipIf(!hasBrowser)('the page Queues', () => {
  test('pauses a queue after a question, resumes it, and shows who serves it', async () => {
    await open('/queues');
    await row('Queues', 'background').getByRole('button', { name: 'Pause' }).click();
    await confirm('Pause');
    await row('Queues', 'background').getByText('paused').waitFor();
    await row('Queues', 'background').getByRole('button', { name: 'Resume' }).click();
    await row('Queues', 'background').getByText('open').waitFor();
    await row('Queues', 'chat').getByRole('link').first().click();
    await table('Workers that serve chat').locator('tbody tr').first().waitFor();
    expect(new URL(page.url()).search).toBe('?queue=chat');
    await web.expectPage('queues');
  });
});

describe.skipIf(!hasBrowser)('a key that may only read', () => {
  test('sees the pages without any action', async () => {
    await web.signIn(['read']);
    const seen = [
      ['/hooks', 'Hooks', 'pull requests'],
      ['/deliveries', 'Deliveries', 'callback'],
      ['/agents', 'Agents', 'echo'],
      ['/queues', 'Queues', 'chat'],
    ] as const;
    for (const [path, name, text] of seen) {
      await open(path);
      await row(name, text).waitFor();
      const buttons = await page.locator('main').getByRole('button').allInnerTexts();
      const actions = buttons.filter((each) => /New|Retry|Pause|Resume|Enable|Delete/.test(each));
      expect({ path, actions }).toEqual({ path, actions: [] });
    }
    await row('Queues', 'chat').waitFor();
    await open('/agents/echo');
    await table('Newest tasks').waitFor();
    expect(await button('Send').count()).toBe(0);
  });
});
