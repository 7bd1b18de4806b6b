import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type BrowserContext, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { acceptTask } from '#shared/queue/accept-task.ts';
import { testEnvironment } from '../../support/test-environment.ts';
import { startDashboard, type RunningDashboard } from './running-dashboard.ts';

const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
const finder = new URL('../../../services/local/set-up/find-chromium.mjs', import.meta.url).href;
const { findChromium } = (await import(finder)) as { findChromium: () => string | null };
const executablePath = findChromium();
const isSkipped = executablePath === null && !testEnvironment.isCi;

let dashboard: RunningDashboard;
let profile: string;
let browser: BrowserContext;
let page: Page;
const problems: string[] = [];

beforeAll(async () => {
  if (isSkipped) return;
  dashboard = await startDashboard();
  profile = await mkdtemp(join(tmpdir(), 'muster-browser-'));
  browser = await chromium.launchPersistentContext(profile, {
    executablePath: executablePath ?? 'chromium',
    headless: true,
    args: ARGUMENTS,
  });
  page = browser.pages()[0] ?? (await browser.newPage());
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('request', (request) => {
    if (!request.url().startsWith(dashboard.url)) problems.push(`asked for ${request.url()}`);
  });
});
afterAll(async () => {
  if (isSkipped) return;
  await browser.close();
  await dashboard.close();
  await rm(profile, { recursive: true, force: true });
});

test.skipIf(isSkipped)(
  'a person signs in, finds a ticket on the board and its task behind it, with nothing that the browser blocks',
  async () => {
    const { id } = await acceptTask(dashboard.parts, { tenant: 'default', agent: 'echo', input: '<b>hello</b>' });
    await dashboard.parts.relay.idle();
    await page.goto(`${dashboard.url}/board/queue/tasks?status=prioritized`);
    await page.fill('#key', await dashboard.newSecret(['operate']));
    await page.click('main button');
    expect(await page.title()).toContain('Muster');
    await page.getByText(`"${id}"`).waitFor();
    expect(await page.locator('link[rel=icon]').first().getAttribute('href')).toBe('/dashboard/favicon.svg');
    const link = page.getByRole('link', { name: 'Task', exact: true });
    expect(await link.getAttribute('href')).toBe(`/tasks/${id}?tenant=default`);
    await page.goto(`${dashboard.url}${await link.getAttribute('href')}`);
    expect(await page.locator('pre').first().innerText()).toBe('<b>hello</b>');
    expect(await page.getByText('Why it waits').isVisible()).toBe(true);
    await page.click('.brand');
    expect(await page.locator('.task').count()).toBe(1);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.locator('#key').waitFor();
    expect(problems).toEqual([]);
  },
);
