import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { createApiService } from '../../../../services/api/create-api-service.ts';
import { builtConsole } from '../built-console.ts';
import { hasBrowser, openBrowser, type TestBrowser } from '../test-browser.ts';
import { startDashboard, type RunningDashboard } from '../running-dashboard.ts';

// A browser shares two cores with other tests. Each step has its own, shorter limit, which names a page that hangs.
vi.setConfig({ testTimeout: 180_000 });

let dashboard: RunningDashboard;
let browser: TestBrowser;

beforeAll(async () => {
  if (!hasBrowser) return;
  dashboard = await startDashboard({}, { built: await builtConsole(), more: (parts) => [createApiService(parts)] });
  browser = await openBrowser(dashboard.url);
}, 60_000);
afterAll(async () => {
  if (!hasBrowser) return;
  await browser.close();
  await dashboard.close();
});

test.skipIf(!hasBrowser)('a person signs in, finds a ticket on the board and opens its task, and the browser blocks nothing', async () => {
  const { page, problems } = browser;
  const { id } = await acceptTask(dashboard.parts, { tenant: 'default', agent: 'echo', input: '<b>hello</b>' });
  await dashboard.parts.relay.idle();
  await page.goto(`${dashboard.url}/board/queue/tasks?status=prioritized`);
  await page.fill('#key', await dashboard.newSecret(['operate']));
  await page.click('main button');
  expect(await page.title()).toContain('Muster');
  await page.getByText(`"${id}"`).waitFor();
  expect(await page.locator('link[rel=icon]').first().getAttribute('href')).toBe('/dashboard/favicon.svg');
  // Only the button that removes the ticket is there.
  expect(await page.locator('ul[class^=jobActions] button').count()).toBe(1);
  const link = page.getByRole('link', { name: 'Task', exact: true });
  expect(await link.getAttribute('href')).toBe(`/tasks/${id}?tenant=default`);
  await page.goto(`${dashboard.url}${await link.getAttribute('href')}`);
  await page.getByText('<b>hello</b>', { exact: true }).first().waitFor();
  await page.getByText('Why it waits').waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.locator('#key').waitFor();
  expect(problems).toEqual([]);
});
