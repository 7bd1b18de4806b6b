import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { CONSOLE_PAGES, type ConsolePage } from '../../../../../services/dashboard/console-pages.ts';
import type { AgentFunction } from '#shared/config/define-config.ts';
import { createWebhooksService } from '../../../../../services/webhooks/create-webhooks-service.ts';
import { hasBrowser } from '../../test-browser.ts';
import { oidcSettings, signInPerson, startProvider, type Provider } from '../../sign-in/oidc/provider.ts';
import { waitFor } from '../../../../support/wait-for.ts';
import { startFakeHttpEndpoint, type FakeHttpEndpoint } from '../../../../support/fake-http-endpoint.ts';
import { startConsole, type RunningConsole } from '../../start-console.ts';

// A browser shares two cores with other tests. Each step has its own, shorter limit, which names a page that hangs.
vi.setConfig({ testTimeout: 180_000 });

let web: RunningConsole;
let provider: Provider;
/** Takes alerts, but for those at `/full`. */
let receiver: FakeHttpEndpoint;

const writer: AgentFunction = () =>
  Promise.resolve({ output: 'done', usage: { model: 'gpt-5', inputTokens: 1200, outputTokens: 300, costMicroUsd: 4200 } });

const DEAD_WORKER = 'w-gone';

beforeAll(async () => {
  if (!hasBrowser) return;
  provider = await startProvider();
  receiver = await startFakeHttpEndpoint((response, { url }) => void response.writeHead(url === '/full' ? 507 : 200).end());
  web = await startConsole({
    settings: {
      signIn: oidcSettings(provider.issuer),
      alerts: [
        { name: 'ops', to: { webhook: { url: receiver.url } } },
        { name: 'on-call', to: { slack: { url: `${receiver.url}/full` } }, severity: 'critical' },
        { name: 'acme', to: { email: { to: 'ops@acme.example' } }, tenants: ['acme'] },
      ],
      agents: { echo: { kind: 'echo' }, writer: { kind: 'function', run: writer }, desk: { kind: 'daemon' } },
      limits: { maxConcurrent: 50 },
    },
    more: (parts) => [createWebhooksService(parts)],
  });
  const { redis, keys } = web.dashboard.parts;
  await redis.zadd(keys.fleet.deadWorkers, Date.now() - 60_000, DEAD_WORKER);
  await redis.hset(keys.fleet.workerNotes, DEAD_WORKER, JSON.stringify({ host: 'lost-machine', pid: 1, skewMs: 0 }));
}, 120_000);
afterAll(async () => {
  if (!hasBrowser) return;
  await web.close();
  await provider.stop();
  await receiver.close();
});

const dialog = (): Locator => web.page.getByRole('dialog');
const button = (name: string | RegExp, within: Locator = web.page.getByRole('main')): Locator => within.getByRole('button', { name });

/** Accepts a task and waits for its end. */
async function run(body: object): Promise<void> {
  await web.api('POST', '/v1/tasks?waitMs=20000', body);
}

async function fail(code: string, input: string): Promise<void> {
  await run({ agent: 'echo', input, context: { failAttempts: 9, failCode: code }, execution: { maxAttempts: 1 } });
}

test.skipIf(!hasBrowser)('the fleet is live for keys that may not have the events of the fleet, by those of daemons', async () => {
  const { page } = web;
  const asked: string[] = [];
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.pathname === '/v1/notifications/stream') asked.push(url.searchParams.get('kinds') ?? '');
  });
  await web.signIn(['admin'], 'acme');
  await web.open('/fleet');
  await page.getByText('Live', { exact: true }).waitFor();
  await web.signIn(['read']);
  await web.open('/fleet');
  await page.getByText('Live', { exact: true }).waitFor();
  const ofDaemons = asked.filter((kinds) => kinds.split(',').includes('daemon.*'));
  expect(ofDaemons.length).toBeGreaterThan(0);
  expect(asked.filter((kinds) => kinds.includes('fleet.'))).toEqual([]);
  await web.signIn(['admin']);
  await web.open('/fleet');
  await page.getByText('Live', { exact: true }).waitFor();
  await waitFor(() => asked.at(-1)?.split(',').includes('fleet.*') === true, { deadlineMs: 60_000, what: 'the events of the fleet' });
});

test.skipIf(!hasBrowser)('the fleet shows its workers, and in red what keeps tasks from running', async () => {
  await web.api('POST', '/v1/tasks', { agent: 'desk', input: 'nobody serves this queue' });
  const { redis, keys } = web.dashboard.parts;
  // As after the time that a worker may miss heartbeats.
  await redis.hset(keys.fleet.unservedQueues, 'remote', Date.now(), 'remote notified', Date.now());
  await web.open('/fleet');
  const alert = web.page.getByRole('list', { name: 'Needs attention' });
  await alert.getByText(DEAD_WORKER).waitFor();
  await alert.getByText('Tasks wait in the queue "remote", and no worker serves it.').waitFor();
  const workers = web.page.getByRole('table', { name: 'Workers' });
  await workers.getByText('idle').waitFor();
  await workers.getByText('dead').waitFor();
  expect(await workers.getByRole('button', { name: 'Drain' }).count()).toBe(1);
  await web.expectPage('fleet');
  const dead = alert.getByRole('listitem').filter({ hasText: DEAD_WORKER });
  await button('Acknowledge', dead).click();
  await dead.waitFor({ state: 'detached' });
});

test.skipIf(!hasBrowser)('who is alerted is shown with what is open and whether it arrives, and a test says what came of it', async () => {
  const { redis, keys } = web.dashboard.parts;
  await web.api('POST', '/v1/tasks', { agent: 'desk', input: 'nobody serves this queue' });
  await redis.hset(keys.fleet.unservedQueues, 'remote', Date.now(), 'remote notified', Date.now());
  await web.open('/');
  await web.page.getByRole('link', { name: 'Who is alerted' }).click();
  await web.page.getByRole('heading', { name: 'Alerts', level: 1 }).waitFor();
  const ruleOf = (name: string): Locator => web.page.getByRole('region', { name, exact: true });
  // The fleet looks every few seconds.
  const open = ruleOf('ops').getByRole('listitem').filter({ hasText: 'no worker serves it' });
  await open.waitFor();
  await ruleOf('ops').getByText('arrives', { exact: true }).waitFor();
  await ruleOf('on-call').getByRole('alert').getByText('answered with 507').waitFor();
  await ruleOf('acme').getByText('of acme only').waitFor();
  await ruleOf('acme').getByText('Nothing is open').waitFor();
  expect(await web.page.content()).not.toContain(receiver.url);
  await button('Send a test', ruleOf('ops')).click();
  await ruleOf('ops').getByText('The receiver took the test').waitFor();
  await button('Send a test', ruleOf('on-call')).click();
  await ruleOf('on-call').getByRole('status').getByText('answered with 507').waitFor();
  await button('Send a test', ruleOf('acme')).click();
  await ruleOf('acme').getByRole('status').getByText('MUSTER_SMTP_URL is not set').waitFor();
  await web.expectPage('alerts');
  await web.signIn(['read']);
  await web.open('/alerts');
  await open.waitFor();
  expect(await button('Send a test').count()).toBe(0);
  await web.signIn(['admin']);
});

test.skipIf(!hasBrowser)('a daemon is registered with a token that is shown once, disabled, given another token and removed', async () => {
  await web.open('/fleet');
  await button('Register daemon').click();
  await dialog().getByLabel('Name').fill('laptop');
  await dialog().getByLabel('Capabilities').fill('code, browser');
  await button('Register', dialog()).click();
  const line = dialog().getByLabel('Copy the line');
  await line.first().waitFor();
  const token = await dialog().getByLabel('Copy the secret').first().innerText();
  expect(await line.first().innerText()).toContain(`MUSTER_DAEMON_TOKEN=${token} npx muster daemon --hub ${web.dashboard.url}`);
  await button('I have copied it', dialog()).click();
  const row = web.page.getByRole('table', { name: 'Daemons' }).getByRole('row').filter({ hasText: 'laptop' });
  await row.getByText('offline').waitFor();
  expect(await web.page.content()).not.toContain(token);
  const { items } = await web.api<{ items: object[] }>('GET', '/v1/daemons');
  expect(items).toMatchObject([{ name: 'laptop', capabilities: ['code', 'browser'], slots: null }]);

  await button('Actions for laptop', row).click();
  await web.page.getByRole('menuitem', { name: 'Disable' }).click();
  await row.getByText('disabled').waitFor();
  await button('Actions for laptop', row).click();
  await web.page.getByRole('menuitem', { name: 'Rotate token' }).click();
  await button('Rotate', dialog()).click();
  await button('I have copied it', dialog()).waitFor();
  expect(await dialog().getByLabel('Copy the secret').first().innerText()).not.toBe(token);
  await button('I have copied it', dialog()).click();
  await button('Actions for laptop', row).click();
  await web.page.getByRole('menuitem', { name: 'Remove' }).click();
  await button('Remove', dialog()).click();
  await row.waitFor({ state: 'detached' });
});

test.skipIf(!hasBrowser)('usage is shown by day and by the picked group, which is in the address', async () => {
  for (const input of ['one', 'two']) await run({ agent: 'writer', input });
  await web.open('/usage');
  await web.page.getByText('$0.0084').first().waitFor();
  await web.page.getByRole('figure').filter({ hasText: 'Money a day' }).waitFor();
  await web.page.getByRole('table', { name: 'Usage by agent' }).getByText('writer').waitFor();
  await web.page.getByLabel('Group by').selectOption('model');
  await web.page.getByRole('table', { name: 'Usage by model' }).getByText('gpt-5').waitFor();
  expect(new URL(web.page.url()).searchParams.get('groupBy')).toBe('model');
  await web.expectPage('usage');
});

test.skipIf(!hasBrowser)('a budget is previewed, made, changed and removed', async () => {
  await web.open('/usage');
  await button('New budget').click();
  await dialog().getByLabel('Name').fill('writers');
  await dialog().getByLabel('Counts what is spent by').selectOption('agent');
  await dialog().getByLabel('Which agent').fill('writer');
  await dialog().getByLabel('Hard line, $').fill('0.004');
  await button('Preview', dialog()).click();
  await dialog()
    .getByText(/tasks? cost \$0\.00/)
    .waitFor();
  await button('Save', dialog()).click();
  const row = web.page.getByRole('table', { name: 'Budgets' }).getByRole('row').filter({ hasText: 'writers' });
  await row.getByText('agent writer, a month').waitFor();
  await button('Change writers', row).click();
  await dialog().getByLabel('Hard line, $').fill('2.5');
  await button('Save', dialog()).click();
  await row.getByText('$2.50', { exact: true }).waitFor();
  const { items } = await web.api<{ items: object[] }>('GET', '/v1/budgets');
  expect(items).toMatchObject([{ id: 'writers', scope: 'agent', of: 'writer', hardMicroUsd: 2_500_000 }]);
  await button('Remove', row).click();
  await button('Remove', dialog()).click();
  await row.waitFor({ state: 'detached' });
});

test.skipIf(!hasBrowser)('failures are grouped by error, and all of a group are discarded with progress', async () => {
  for (const input of ['invoice 1', 'invoice 2']) await fail('INVALID_INPUT', input);
  await fail('PERMISSION_DENIED', 'a secret');
  await web.open('/failures');
  const groups = web.page.getByRole('list', { name: 'Failures by error and agent' });
  const group = groups.locator('> li').filter({ hasText: 'INVALID_INPUT' });
  await group.getByText('2 tasks').waitFor();
  await button('Show examples', group).click();
  await group.getByRole('link', { name: 'invoice 1' }).waitFor();
  await web.page.getByRole('figure').filter({ hasText: 'Failed tasks in 5 minutes' }).getByText('INVALID_INPUT').first().waitFor();
  await web.page.getByRole('list', { name: 'Releases with failures' }).getByRole('link', { name: '3' }).waitFor();
  await web.expectPage('failures');
  await web.page.getByRole('radio', { name: 'Error and agent' }).focus();
  await web.page.keyboard.press('ArrowLeft');
  const releases = web.page.getByRole('list', { name: 'Failures by release' });
  await releases.getByText('3 tasks').waitFor();
  expect(new URL(web.page.url()).searchParams.get('groupBy')).toBe('release');
  await web.page.getByRole('radio', { name: 'Release' }).and(web.page.locator(':focus')).waitFor({ state: 'attached' });
  await releases.getByRole('link', { name: '3 tasks' }).click();
  await web.page.getByRole('table', { name: 'Tasks' }).getByText('a secret').waitFor();
  expect(new URL(web.page.url()).searchParams.get('release')).not.toBe(null);
  await web.open('/failures');
  await button('Discard all', group).click();
  await button('Discard 2 tasks', dialog()).waitFor();
  expect(await web.page.locator('main button[data-loading]').count()).toBe(0);
  // Enter that is pressed twice discards nothing, and the focus is again where it was.
  await button('Back', dialog()).and(web.page.locator(':focus')).waitFor();
  await web.page.keyboard.press('Enter');
  await dialog().waitFor({ state: 'detached' });
  await button('Discard all', group).and(web.page.locator(':focus')).waitFor();
  await web.page.keyboard.press('Enter');
  await button('Discard 2 tasks', dialog()).click();
  await group.waitFor({ state: 'detached' });
  await groups.getByText('PERMISSION_DENIED').waitFor();
  expect(await groups.locator('> li').count()).toBe(1);
  await web.open('/failures?code=INVALID_INPUT');
  await web.page.getByText('No task of this filter failed for good.').waitFor();
  expect(await button(/^(Retry|Discard) all/).count()).toBe(0);
});

test.skipIf(!hasBrowser)('a tenant is made, and gets a key that is shown once and ends when it is revoked', async () => {
  await web.open('/tenants');
  await web.page.getByRole('region', { name: 'Limits of all tenants together' }).waitFor();
  await web.expectPage('tenants');
  await button('New tenant').click();
  await dialog().getByLabel('Id').fill('acme');
  await button('Make tenant', dialog()).click();
  await web.page.getByRole('heading', { name: 'Tenant acme' }).waitFor();
  await button('New key').click();
  await dialog().getByLabel('Name').fill('ci');
  await button('Make key', dialog()).click();
  const secret = await dialog().getByLabel('Copy the secret').first().innerText();
  expect(secret).toMatch(/^mk_/);
  await button('I have copied it', dialog()).click();
  const key = web.page.getByRole('table', { name: 'Keys' }).getByRole('row').filter({ hasText: 'ci' });
  await key.getByText('submit').waitFor();
  expect(await web.page.content()).not.toContain(secret);

  await button('Revoke', key).click();
  await button('Revoke', dialog()).click();
  await key.waitFor({ state: 'detached' });
  const refused = await web.dashboard.call('GET', '/v1/tasks', { headers: { authorization: `Bearer ${secret}` } });
  expect(refused.status).toBe(401);
});

test.skipIf(!hasBrowser)('limits of a tenant are tried against its last day before they are saved', async () => {
  await web.api('POST', '/v1/tenants', { id: 'globex' });
  await web.open('/tenants/globex');
  const limits = web.page.getByRole('region', { name: 'Limits of globex' });
  const running = limits.getByRole('row').filter({ hasText: /^Running\d/ });
  await running.getByRole('textbox').fill('4');
  await button('What would it have done?').click();
  await web.page.getByText('No task ran in the last day.').waitFor();
  await button('Save').click();
  await running.getByText('differs').waitFor();
  expect(await web.api('GET', '/v1/tenants/globex')).toMatchObject({ limits: { running: 4 } });
  await web.expectPage('tenant');
});

test.skipIf(!hasBrowser)('health shows the checks and the settings that differ from their defaults', async () => {
  await web.open('/health');
  const checks = web.page.getByRole('list', { name: 'Checks' });
  await checks.getByText('Redis maxmemory-policy').waitFor();
  const settings = web.page.getByRole('table', { name: 'Configuration' });
  // Rows far below the window are not there before one scrolls to them.
  const search = web.page.getByRole('searchbox', { name: 'Search' });
  await search.fill('limits.');
  await settings.getByText('limits.maxConcurrent').waitFor();
  expect(await settings.getByText('limits.tenant.running', { exact: true }).count()).toBe(0);
  await button('Defaults too').click();
  await search.fill('limits.tenant.running');
  await settings.getByText('limits.tenant.running', { exact: true }).waitFor();
  await web.expectPage('health');
});

test.skipIf(!hasBrowser)('a key that may only read sees no actions, and no page of administrators', async () => {
  await fail('PERMISSION_DENIED', 'seen by readers');
  await web.signIn(['read']);
  for (const path of ['/fleet', '/usage', '/failures']) {
    await web.open(path);
    await web.page
      .getByRole('table')
      .or(web.page.getByRole('list', { name: 'Failures by error and agent' }))
      .first()
      .waitFor();
    expect(await button(/^(Register|Drain|Actions|New|Change|Remove|Retry|Discard)/).count()).toBe(0);
  }
  await web.open('/tenants');
  await web.page.getByText('The tenants could not be read').waitFor();
  expect(await button('New tenant').count()).toBe(0);
  const navigation = web.page.getByRole('navigation', { name: 'Main' });
  expect(await navigation.getByRole('link', { name: /Tenants|People|health/ }).count()).toBe(0);
});

test.skipIf(!hasBrowser)(
  'an administrator of another tenant reads every page of the navigation, and nothing of the first tenant',
  async () => {
    await web.signIn(['admin'], 'acme');
    const own = CONSOLE_PAGES.filter((page: ConsolePage) => page.inNavigation !== false && page.ofInstallation !== true);
    const links = web.page.getByRole('navigation', { name: 'Main' }).getByRole('link');
    // Until the key is known, all pages are there.
    await links.filter({ hasText: 'Queues' }).waitFor({ state: 'detached' });
    const names = await links.allInnerTexts();
    expect(names.slice(0, own.length)).toEqual(own.map(({ text }) => text));
    for (const { path } of own) {
      await web.open(path);
      await web.page.locator('main [aria-busy=true], main .mantine-Skeleton-root').first().waitFor({ state: 'detached' });
      const text = await web.page.locator('main').innerText();
      expect({ path, text: text.match(/could not be read|needs a key|seen by readers|invoice|a secret|globex/)?.[0] ?? '' }).toEqual({
        path,
        text: '',
      });
    }
    await web.open('/tenants');
    await web.page.getByRole('heading', { name: 'Keys', level: 1 }).waitFor();
    expect(await button('New tenant').count()).toBe(0);
    await web.page.getByRole('table', { name: 'Keys' }).getByRole('row').nth(1).waitFor();
  },
);

test.skipIf(!hasBrowser)('a person signs in at the provider, a browser by a link, and the audit log shows both', async () => {
  const { page, dashboard, browser } = web;
  provider.claims = { sub: 'ann', name: 'Ann Example', groups: ['ops'] };
  // A page that is left open would ask meanwhile, and be told that it is signed out.
  await page.goto('about:blank');
  await page.context().clearCookies();
  await page.goto(`${dashboard.url}/sign-in?next=/audit`);
  await page.getByRole('link', { name: 'Sign in with Example SSO' }).click();
  await page.getByRole('heading', { name: 'Audit log', level: 1 }).waitFor();
  // The way to the provider is the one request to another site.
  expect(browser.problems.splice(0)).toEqual([expect.stringContaining(`requested ${provider.issuer}/authorize`)]);
  await page.getByRole('banner').getByText('Ann Example').waitFor();
  const rows = page.getByRole('table', { name: 'Audit log' }).getByRole('row');
  await rows.filter({ hasText: 'signed in at the identity provider' }).filter({ hasText: 'Ann Example (person)' }).waitFor();

  const link = await web.api<{ path: string }>('POST', '/v1/sign-in-links');
  await page.goto('about:blank');
  await page.context().clearCookies();
  await page.goto(`${dashboard.url}${link.path}`);
  await page.waitForURL(`${dashboard.url}/`);
  await web.open('/audit?action=signInByLink');
  await rows.filter({ hasText: 'signed in by a link' }).waitFor();
  expect(await rows.filter({ hasText: 'signed in at the identity provider' }).count()).toBe(0);
  await web.expectPage('audit log');
  await web.signIn(['admin']);
});

test.skipIf(!hasBrowser)(
  'people are listed with their roles, signed out, disabled and enabled; without a provider the page says how to set one up',
  async () => {
    const { page, dashboard } = web;
    await web.signIn(['admin']);
    provider.claims = { sub: 'ann', name: 'Ann Example', email: 'ann@example.com', groups: ['ops'] };
    const { cookie } = await signInPerson(dashboard);
    const isSignedIn = async (): Promise<boolean> => (await dashboard.call('GET', '/console/person', { cookie })).status === 200;
    expect(await isSignedIn()).toBe(true);
    await web.open('/people');
    const ann = page.getByRole('table', { name: 'People' }).getByRole('row').filter({ hasText: 'Ann Example' });
    await ann.getByText('admin in default').waitFor();
    await ann.getByText('ann@example.com').waitFor();
    await web.expectPage('people');
    await button('Sign out', ann).click();
    await button('Sign out', dialog()).click();
    await page.getByText('Ann Example is signed out of all browsers').waitFor();
    expect(await isSignedIn()).toBe(false);
    await button('Disable', ann).click();
    await button('Disable', dialog()).click();
    await ann.getByText('disabled').waitFor();
    expect((await signInPerson(dashboard)).answer.status).toBe(403);
    await button('Enable', ann).click();
    await ann.getByText('active').waitFor();
    expect((await signInPerson(dashboard)).answer.status).toBe(303);

    await page.route('**/console/person', async (call) => {
      const answer = await call.fetch();
      await call.fulfill({ response: answer, json: { ...((await answer.json()) as object), provider: null } });
    });
    await web.open('/people');
    await page.getByText(`${dashboard.url}/sign-in/oidc/callback`).waitFor();
    await page.unroute('**/console/person');
  },
);
