import type { Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { createSchedulerService } from '../../../../../services/scheduler/create-scheduler-service.ts';
import { hasBrowser } from '../../test-browser.ts';
import { startConsole, type RunningConsole } from '../../start-console.ts';

// A browser shares two cores with other tests. Each step has its own, shorter limit, which names a page that hangs.
vi.setConfig({ testTimeout: 180_000 });

let web: RunningConsole;
let page: Page;

beforeAll(async () => {
  if (!hasBrowser) return;
  web = await startConsole({
    settings: { agents: { echo: { kind: 'echo' } }, routing: { agent: 'echo' } },
    more: (parts) => [createSchedulerService(parts)],
  });
  ({ page } = web);
}, 180_000);
afterAll(async () => {
  if (hasBrowser) await web.close();
});
afterEach(() => {
  if (hasBrowser) web.browser.assertNoProblems();
});

const dialog = (): Locator => page.getByRole('dialog');
const button = (name: string, within: Locator | Page = page): Locator => within.getByRole('button', { name, exact: true });
const definition = async (id: string): Promise<unknown> => (await web.dashboard.parts.catalog.find('default', id))?.definition;
const items = async (path: string): Promise<unknown[]> => (await web.api<{ items: unknown[] }>('GET', path)).items;

/** Loses the answer of the next POST to this path, which the server has accepted. */
async function loseAnswer(path: string): Promise<void> {
  let isLost = false;
  await page.route(`**${path}`, async (call) => {
    if (isLost || call.request().method() !== 'POST') return await call.fallback();
    isLost = true;
    await call.fetch();
    return await call.abort();
  });
}

const SERVICE = {
  kind: 'http',
  url: 'https://user:pw@service.example/run?token=t',
  secret: 'whsec_c2VjcmV0LXNlY3JldA==',
  headers: { 'x-key': 'header-secret' },
  lane: 'slow',
  sameInput: false,
};

test.skipIf(!hasBrowser)('an agent that is edited keeps what the form does not show, and Back leads to the page before', async () => {
  await web.api('PUT', '/v1/agents/service', SERVICE);
  await web.open('/agents');
  await page.getByRole('table', { name: 'Agents' }).getByRole('link', { name: 'service' }).click();
  await button('Edit').click();
  await dialog().getByLabel('Description').fill('Answers');
  await button('Save', dialog()).click();
  await dialog().waitFor({ state: 'detached' });
  expect(await definition('service')).toEqual({ ...SERVICE, description: 'Answers' });
  await page.goBack();
  await page.getByRole('heading', { name: 'Agents', level: 1 }).waitFor();
});

test.skipIf(!hasBrowser)('the secret of an agent stays, goes when that is ticked, and is never sent to another server', async () => {
  await web.api('PUT', '/v1/agents/model', { kind: 'openai', model: 'm', baseUrl: 'https://models.example/v1', apiKey: 'sk-old' });
  await web.open('/agents/model');
  await button('Edit').click();
  await dialog().getByText('Empty: the agent keeps its API key, which is never shown').waitFor();
  await dialog().getByText('Empty: 300, that of the fleet (tasks.timeoutMs)').waitFor();
  await dialog().getByLabel('Address of the API').fill('https://elsewhere.example/v1');
  await button('Save', dialog()).click();
  await dialog().getByText('expected again').waitFor();
  expect(await dialog().getByRole('textbox', { name: 'API key' }).getAttribute('aria-invalid')).toBe('true');
  await web.expectPage('the form of an agent that is refused');
  await dialog().getByLabel('Remove its API key').check();
  await button('Save', dialog()).click();
  await dialog().waitFor({ state: 'detached' });
  expect(await definition('model')).toEqual({ kind: 'openai', model: 'm', baseUrl: 'https://elsewhere.example/v1' });
});

test.skipIf(!hasBrowser)('a new agent replaces none, and says so at its name', async () => {
  await web.api('PUT', '/v1/agents/taken', SERVICE);
  await web.open('/agents');
  await button('New agent').click();
  await dialog().getByLabel('Kind').selectOption('echo');
  for (const [name, problem] of [
    ['taken', 'There is an agent "taken" already.'],
    ['echo', 'comes from the configuration'],
  ] as const) {
    await dialog().getByLabel('Name').fill(name);
    await button('Create', dialog()).click();
    await dialog().getByText(problem).waitFor();
    expect(await dialog().getByLabel('Name').getAttribute('aria-invalid')).toBe('true');
  }
  expect(await definition('taken')).toEqual(SERVICE);
  await dialog().getByLabel('Name').fill('free');
  await button('Create', dialog()).click();
  await page.getByRole('heading', { name: 'free', level: 1 }).waitFor();
});

test.skipIf(!hasBrowser)('a new budget replaces none, and says so at its name', async () => {
  await web.api('PUT', '/v1/budgets/taken', { scope: 'tenant', per: 'day', hardMicroUsd: 5_000_000 });
  await web.open('/usage');
  await button('New budget').click();
  await dialog().getByLabel('Name').fill('taken');
  await dialog().getByLabel('Hard line, $').fill('1');
  await button('Save', dialog()).click();
  await dialog().getByText('There is a budget "taken" already.').waitFor();
  expect((await web.api('GET', '/v1/budgets/taken'))['hardMicroUsd']).toBe(5_000_000);
  await dialog().getByLabel('Name').fill('free');
  await button('Save', dialog()).click();
  await dialog().waitFor({ state: 'detached' });
  expect(await items('/v1/budgets')).toMatchObject([{ id: 'free' }, { id: 'taken' }]);
});

test.skipIf(!hasBrowser)('a form that is sent again after its answer was lost makes one task, and one schedule', async () => {
  await web.open('/tasks');
  await button('New task').first().click();
  await dialog().getByLabel('Input').fill('asked once');
  await loseAnswer('/v1/tasks');
  await button('Run it', dialog()).click();
  await dialog().getByText('The task was not accepted').waitFor();
  await button('Run it', dialog()).click();
  await page.waitForURL('**/tasks/*');
  expect(await items('/v1/tasks?q=asked%20once')).toHaveLength(1);
  await page.unrouteAll();

  await web.open('/agents/echo');
  await page.getByLabel('Input').fill('tried once');
  await loseAnswer('/v1/tasks');
  await button('Send').click();
  await page.getByRole('region', { name: 'Notices' }).getByRole('button', { name: 'Close the notice' }).waitFor();
  await button('Send').click();
  await page.waitForURL('**/tasks/*');
  expect(await items('/v1/tasks?q=tried%20once')).toHaveLength(1);
  await page.unrouteAll();

  await web.open('/schedules');
  await button('New schedule').click();
  await dialog().getByLabel('When', { exact: false }).first().fill('every day at 00:00');
  await dialog().getByLabel('Message').fill('Good night');
  await dialog().getByLabel('Zone').fill('Asia/Tokyo');
  await loseAnswer('/v1/schedules');
  await button('Create', dialog()).click();
  await dialog().getByText('The schedule was not saved').waitFor();
  await button('Create', dialog()).click();
  await dialog().waitFor({ state: 'detached' });
  expect(await items('/v1/schedules')).toMatchObject([{ message: 'Good night', tz: 'Asia/Tokyo' }]);
  await page.unrouteAll();
});

test.skipIf(!hasBrowser)('Run now runs a schedule once, pressed twice or again after its answer was lost', async () => {
  const { id } = await web.api<{ id: string }>('POST', '/v1/schedules', { every: '1d', agent: 'echo', message: 'Now', name: 'By hand' });
  const runs = (): Promise<unknown[]> => items(`/v1/schedules/${id}/runs`);
  await web.open(`/schedules?open=${id}`);
  await button('Run now').dblclick();
  await page.getByText('By hand runs now').waitFor();
  expect(await runs()).toHaveLength(1);
  await loseAnswer(`/v1/schedules/${id}/run`);
  await button('Run now').click();
  await page.getByText('Muster does not answer').waitFor();
  await button('Run now').click();
  await page.getByText('By hand runs now').nth(1).waitFor();
  expect(await runs()).toHaveLength(2);
  await page.unrouteAll();
});

test.skipIf(!hasBrowser)('the range of a backfill is of the schedule’s zone, which is named', async () => {
  const body = { cron: '0 0 * * *', tz: 'Asia/Tokyo', agent: 'echo', message: 'Midnight', name: 'Midnights' };
  const { id } = await web.api<{ id: string }>('POST', '/v1/schedules', body);
  await web.open(`/schedules?open=${id}`);
  await button('Backfill').click();
  await dialog().getByLabel('From (Asia/Tokyo)').fill('2026-05-01T00:00');
  await dialog().getByLabel('To (Asia/Tokyo)').fill('2026-05-02T12:00');
  const asked = page.waitForRequest('**/backfill');
  await button('List the missing runs', dialog()).click();
  expect((await asked).postDataJSON()).toMatchObject({ since: '2026-04-30T15:00:00.000Z', until: '2026-05-02T03:00:00.000Z' });
  await dialog().getByText('2 of 2 had no run (Asia/Tokyo)').waitFor();
  expect(await dialog().getByRole('listitem').allInnerTexts()).toEqual(['Fri, 1 May 2026, 00:00', 'Sat, 2 May 2026, 00:00']);
});

test.skipIf(!hasBrowser)('Try again sends a message once, is busy meanwhile, and is gone afterwards', async () => {
  const failing = { context: { failAttempts: 1, failCode: 'INVALID_INPUT' } };
  await web.api('POST', '/v1/sessions/again/messages', { text: 'say it', agent: 'echo', ...failing });
  await page.goto(`${web.dashboard.url}/sessions/again`);
  const again = button('Try again');
  await again.waitFor();
  const held = Promise.withResolvers<void>();
  let sent = 0;
  await page.route('**/messages', async (call) => {
    sent += 1;
    await held.promise;
    await call.continue();
  });
  await again.click();
  expect(await again.isDisabled()).toBe(true);
  await again.click({ force: true });
  held.resolve();
  await page.locator('article').nth(1).waitFor();
  await again.waitFor({ state: 'detached' });
  expect([sent, (await items('/v1/tasks?session=again')).length]).toEqual([1, 2]);
  await page.unrouteAll();
});
