import { afterAll, beforeAll, expect, test } from 'vitest';
import { acceptTask } from '#shared/queue/accept-task.ts';
import { hasBrowser, openBrowser, type TestBrowser } from './test-browser.ts';
import { startDashboard, type RunningDashboard } from './running-dashboard.ts';

let dashboard: RunningDashboard;
let browser: TestBrowser;

beforeAll(async () => {
  if (!hasBrowser) return;
  dashboard = await startDashboard();
  browser = await openBrowser(dashboard.url);
});
afterAll(async () => {
  if (!hasBrowser) return;
  await browser.close();
  await dashboard.close();
});

test.skipIf(!hasBrowser)(
  'a person signs in, finds a ticket on the board and its task behind it, with nothing that the browser blocks',
  async () => {
    const { page, problems } = browser;
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
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.locator('#key').waitFor();
    expect(problems).toEqual([]);
  },
);
