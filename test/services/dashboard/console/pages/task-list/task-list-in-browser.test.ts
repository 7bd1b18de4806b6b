import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import type { AgentFunction } from '#shared/config/define-config.ts';
import { createWebhooksService } from '../../../../../../services/webhooks/create-webhooks-service.ts';
import { startConsole, type RunningConsole } from '../../../start-console.ts';
import { testEnvironment } from '../../../../../support/test-environment.ts';
import { waitFor } from '../../../../../support/wait-for.ts';
import { hasBrowser } from '../../../test-browser.ts';

vi.setConfig({ testTimeout: 180_000 });

let console: RunningConsole;

/** Fails when its input says so. */
const research: AgentFunction = async ({ input }) => {
  if (input.includes('broken')) throw new Error('The source did not answer');
  return `Found ${input}`;
};
/** Runs until it is cancelled. */
const endless: AgentFunction = async (_task, { signal }) => {
  await new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
};

async function submit(input: string, fields: object = {}): Promise<void> {
  await console.api('POST', '/v1/tasks?waitMs=10000', { agent: 'research', input, execution: { maxAttempts: 1 }, ...fields });
}

beforeAll(async () => {
  if (!hasBrowser) return;
  console = await startConsole({
    settings: {
      agents: { research: { kind: 'function', run: research }, endless: { kind: 'function', run: endless } },
      // A page of a search checks a hundred tasks.
      search: { maxMs: 0 },
    },
    more: (parts) => [createWebhooksService(parts)],
  });
}, 180_000);
afterAll(async () => {
  if (hasBrowser) await console.close();
});
afterEach(() => {
  if (hasBrowser) console.browser.assertNoProblems();
});
/** Some tests sign in with other keys. */
beforeEach(async () => {
  if (hasBrowser) await console.signIn(['admin']);
});

const table = (): ReturnType<RunningConsole['page']['locator']> => console.page.getByRole('table', { name: 'Tasks' });
const row = (text: string): ReturnType<RunningConsole['page']['locator']> => table().getByRole('row').filter({ hasText: text });
const widthOf = async (column: string): Promise<number> =>
  (await table().getByRole('columnheader', { name: column }).boundingBox())?.width ?? 0;

test.skipIf(!hasBrowser)(
  'a fleet without tasks offers examples, and a tour that makes a task, a schedule and a hook, goes on after a reload and ends',
  async () => {
    const { page } = console;
    const tour = page.getByRole('region', { name: 'Tour' });
    await console.open('/tasks');
    await page.getByRole('button', { name: 'Run an example task' }).waitFor();
    await console.expectPage('first steps');
    await console.signIn(['admin'], 'newcomer');
    await console.open('/start');
    await page.getByRole('button', { name: 'Run an example task' }).click();
    await page.waitForURL('**/tasks/*');
    await tour.getByText('Run a task, done').waitFor();
    await tour.getByRole('button', { name: 'Make an example schedule' }).click();
    await page.waitForURL('**/schedules');
    await page.reload();
    await tour.getByRole('button', { name: 'Make an example hook' }).click();
    await page.waitForURL('**/tasks?source=webhook');
    await row('Something happened elsewhere').waitFor();
    expect(await table().getByRole('row').count()).toBe(2);
    await tour.getByRole('button', { name: 'Done' }).click();
    await tour.waitFor({ state: 'detached' });
    await page.reload();
    await row('Something happened elsewhere').waitFor();
    expect(await tour.count()).toBe(0);
  },
  // Six pages one after the other, on a machine that runs other tests.
  90_000,
);

test.skipIf(!hasBrowser)('a link written by hand shows the tasks of its filters, and new tasks appear by themselves', async () => {
  const { page } = console;
  await submit('a broken source');
  await submit('a good source', { session: 'telegram:12/3' });
  await console.open('/tasks?status=permanently_failed&agent=research');
  await row('a broken source').getByText('permanently failed').waitFor();
  expect(await row('a good source').count()).toBe(0);
  expect(await page.getByRole('button', { name: 'Status: permanently failed' }).isVisible()).toBe(true);
  expect(await page.getByLabel('Agent').inputValue()).toBe('research');
  await page.getByRole('button', { name: 'Clear' }).click();
  await row('a good source').getByText('telegram:12/3').waitFor();
  expect(page.url()).toBe(`${console.dashboard.url}/tasks`);
  await page.getByText('Live', { exact: true }).waitFor();
  await submit('a later source');
  await row('a later source').getByText('completed').waitFor();
  await console.expectPage('tasks');
});

test.skipIf(!hasBrowser)('a large window gives its room to all columns, and a small one a line to the first', async () => {
  const { page } = console;
  await console.open('/tasks');
  await row('a broken source').waitFor();
  const usual = await widthOf('Why');
  await page.setViewportSize({ width: 2560, height: 1440 });
  await waitFor(async () => (await widthOf('Why')) > usual, { deadlineMs: 60_000, what: 'wider columns' });
  expect(await widthOf('Input')).toBeGreaterThan(await widthOf('Why'));
  await page.setViewportSize({ width: 390, height: 844 });
  const cells = row('a broken source').locator('td:visible');
  await waitFor(async () => (await cells.nth(1).boundingBox())?.y !== (await cells.nth(2).boundingBox())?.y, {
    deadlineMs: 60_000,
    what: 'the status below the input',
  });
  await page.setViewportSize({ width: 1440, height: 900 });
});

test.skipIf(!hasBrowser)('rows keep their places below the pointer, and new ones are shown on request', async () => {
  const { page } = console;
  await console.open('/tasks');
  await row('a broken source').hover();
  await submit('a source behind the pointer');
  await page.getByRole('button', { name: '1 new' }).waitFor();
  expect(await row('a source behind the pointer').count()).toBe(0);
  // By key: a pointer that goes to the button leaves the rows, which are shown then without it.
  await page.getByRole('button', { name: '1 new' }).press('Enter');
  await row('a source behind the pointer').waitFor();
});

test.skipIf(!hasBrowser)('another filter shows its own rows alone, also below the pointer, and begins without a selection', async () => {
  const { page } = console;
  await console.open('/tasks?agent=research');
  await row('a good source').getByRole('checkbox').check();
  await page.getByText('1 selected').waitFor();
  await row('a good source').hover();
  await page.getByLabel('Search text, id or error').fill('broken');
  await row('a good source').waitFor({ state: 'detached' });
  await row('a broken source').waitFor();
  expect(await page.getByText('1 selected').count()).toBe(0);
  await page.getByRole('button', { name: 'Clear' }).click();
  await row('a good source').waitFor();
  expect(await page.getByRole('checkbox', { checked: true }).count()).toBe(0);
});

test.skipIf(!hasBrowser)('a date that is typed is read once its year is whole, and adds nothing to the history', async () => {
  const { page } = console;
  await console.open('/tasks?since=2026-06-15T10:30:00.000Z');
  await page.getByText('No task fits these filters.').or(row('a broken source')).first().waitFor();
  const years = new Set<string>();
  const note = (request: { url: () => string }): void => {
    const since = new URL(request.url()).searchParams.get('since');
    if (since !== null) years.add(since.slice(0, 4));
  };
  page.on('request', note);
  const entries = await page.evaluate('history.length');
  await page.getByRole('button', { name: /^Since: 15 Jun/ }).click();
  await page.getByLabel(/^Since \(/).pressSequentially('06152025');
  await page.waitForURL(/since=2025-06-15/);
  await page.getByRole('button', { name: 'Any Since' }).click();
  await page.waitForURL('**/tasks');
  await row('a broken source').waitFor();
  page.off('request', note);
  expect([...years].filter((year) => !year.startsWith('20'))).toEqual([]);
  // One of the button.
  expect(await page.evaluate('history.length')).toBe(Number(entries) + 1);
});

test.skipIf(!hasBrowser)('a job that cannot be stopped says why', async () => {
  const { page } = console;
  const actions = /\/v1\/tasks\/actions/;
  const json = { id: 'a1', action: 'cancel', status: 'running', matched: 9, done: 1, skipped: 0, failed: 0, exact: true };
  const refusal = { status: 503, json: { code: 'redis.unreachable', status: 503, detail: 'Redis does not answer' } };
  await page.route(actions, (route) => route.fulfill(route.request().url().endsWith('/cancel') ? refusal : { json }));
  await console.open('/tasks?agent=research');
  await page.getByRole('button', { name: /^Cancel all/ }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel 9 tasks' }).click();
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByText('Redis does not answer').waitFor();
  expect(await page.getByRole('button', { name: 'Stop' }).isEnabled()).toBe(true);
  await page.unroute(actions);
});

test.skipIf(!hasBrowser)('keys choose, open and search, and Back returns to the filters', async () => {
  const { page } = console;
  await console.open('/tasks?agent=research');
  await row('a broken source').waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await page.keyboard.press('k');
  await page.locator('tr[data-active]').waitFor();
  await page.keyboard.press('o');
  await page.waitForURL('**/tasks/*');
  await page.goBack();
  await row('a broken source').waitFor();
  expect(new URL(page.url()).search).toBe('?agent=research');
  await page.keyboard.press('/');
  await page.keyboard.type('broken');
  await page.waitForURL('**/tasks?q=broken&agent=research');
  await row('a good source').waitFor({ state: 'detached' });
  await page.keyboard.press('Escape');
  await row('a broken source').getByRole('checkbox').check();
  await page.keyboard.press('/');
  await page.getByLabel('Search text, id or error').and(page.locator(':focus')).waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('?');
  const keys = page.getByRole('dialog', { name: 'Keys' });
  await keys.getByText('Next row').waitFor();
  await page.keyboard.press('Escape');
  await keys.waitFor({ state: 'detached' });
});

test.skipIf(!hasBrowser)(
  'selected tasks are cancelled, and all of a filter are discarded with progress, after a confirmation',
  async () => {
    const { page } = console;
    await console.api('POST', '/v1/tasks', { agent: 'endless', input: 'without an end' });
    await console.open('/tasks?agent=endless');
    await page.getByLabel('Select all shown rows').check();
    await page.getByText('1 selected').waitFor();
    await page.getByRole('button', { name: 'Cancel', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel 1 task' }).click();
    await page.getByText('1 task cancelled').waitFor();
    await row('without an end').getByText('cancelled').waitFor();
    await page.getByRole('link', { name: 'Show the task' }).click();
    await page.getByRole('heading', { level: 1, name: 'endless' }).waitFor();
    await console.open('/tasks?status=permanently_failed');
    await row('a broken source').waitFor();
    await page.getByRole('button', { name: /^Discard all/ }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Discard 1 task' }).click();
    await page.getByText('1 task discarded').waitFor();
    await page.getByRole('link', { name: 'Show what is left' }).waitFor();
    await page.getByText('No task fits these filters.').waitFor();
    const { items } = await console.api<{ items: unknown[] }>('GET', '/v1/tasks?status=permanently_failed');
    expect(items).toEqual([]);
  },
);

test.skipIf(!hasBrowser)('chosen columns and saved views stay in the browser', async () => {
  const { page } = console;
  await console.open('/tasks?agent=research');
  await page.getByRole('button', { name: 'Columns' }).click();
  await page.getByRole('menuitemcheckbox', { name: 'Queue' }).click();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: /^View/ }).click();
  await page.getByLabel('Name of the view').fill('Sources');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.keyboard.press('Escape');
  await console.open('/tasks');
  await table().getByRole('columnheader', { name: 'Queue' }).waitFor();
  await page.getByRole('button', { name: 'View: All' }).click();
  await page.getByRole('menuitem', { name: 'Sources' }).click();
  await page.waitForURL('**/tasks?agent=research');
  await expect.poll(() => page.getByRole('button', { name: 'View: Sources' }).isVisible(), { timeout: 60_000 }).toBe(true);
});

test.skipIf(!hasBrowser)('the palette goes to pages and records, and does things', async () => {
  const { page } = console;
  const palette = page.getByRole('dialog', { name: 'Go to, find, do' });
  const choose = async (words: string, option: RegExp): Promise<void> => {
    await page.keyboard.press('Control+k');
    await palette.getByRole('textbox').fill(words);
    await palette.getByRole('option', { name: option }).first().waitFor();
    await page.keyboard.press('Enter');
    await palette.waitFor({ state: 'detached' });
  };
  await submit('a source to find', { session: 'slack:C1/7' });
  await console.open('/tasks');
  await page.keyboard.press('Control+k');
  await palette.getByRole('option', { name: /Tasks/ }).waitFor();
  // Also the first time, when what is in the dialog is loaded only then.
  await page.keyboard.type('typed at once');
  await expect.poll(() => palette.getByRole('textbox').inputValue(), { timeout: 60_000 }).toBe('typed at once');
  await palette.getByRole('textbox').fill('');
  await palette.getByRole('option', { name: /Tasks/ }).waitFor();
  await console.expectPage('palette');
  await page.keyboard.press('Escape');
  await choose('schedules', /^Page/);
  await page.waitForURL('**/schedules');
  await choose('source to find', /^Task/);
  await page.waitForURL('**/tasks/*');
  await choose('slack:C1', /^Session/);
  await page.waitForURL('**/sessions/slack%3AC1%2F7');
  await choose('pause the queue background', /^Do/);
  await page.getByRole('dialog').getByRole('button', { name: 'Pause it' }).click();
  await page.getByText('The queue background is paused').waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('Undone').waitFor();
  await choose('new task', /^Do/);
  const form = page.getByRole('dialog', { name: 'New task' });
  await form.getByLabel('Agent').selectOption('research');
  await form.getByLabel('Input').fill('a source of the form');
  await form.getByRole('button', { name: 'Run it' }).click();
  await page.waitForURL('**/tasks/*');
  const { items } = await console.api<{ items: { paused: boolean }[] }>('GET', '/v1/queues');
  expect(items.some(({ paused }) => paused)).toBe(false);
});

test.skipIf(!hasBrowser)('a page that is shown while the palette is open leaves the keys to it', async () => {
  const { page } = console;
  const isOpen = Promise.withResolvers<void>();
  await page.route('**/assets/chat-page*', async (route) => {
    await isOpen.promise;
    await route.continue();
  });
  await console.open('/tasks');
  await page.keyboard.press('Control+k');
  const palette = page.getByRole('dialog', { name: 'Go to, find, do' });
  await palette.getByRole('textbox').fill('new chat');
  await palette.getByRole('option', { name: /^Do/ }).waitFor();
  await page.keyboard.press('Enter');
  await palette.waitFor({ state: 'detached' });
  await page.keyboard.press('Control+k');
  await palette.getByRole('textbox').fill('schedules');
  const message = page.getByRole('textbox', { name: 'Message', includeHidden: true });
  expect(await message.count()).toBe(0);
  isOpen.resolve();
  await message.waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL('**/schedules');
  await page.unroute('**/assets/chat-page*');
});

test.skipIf(!hasBrowser)('a lost stream is marked, and the page is live again once it is back', async () => {
  const { page, dashboard } = console;
  await console.open('/tasks');
  await page.getByText('Live', { exact: true }).waitFor();
  await dashboard.cut();
  await page.getByText('Not live').waitFor();
  expect(await page.getByText('Live', { exact: true }).count()).toBe(0);
  await dashboard.repair();
  await page.getByText('Live', { exact: true }).waitFor();
  console.browser.problems.splice(0);
});

test.skipIf(!hasBrowser)('a search of texts goes on by itself until it has rows, and says how far it came', async () => {
  const { page } = console;
  const scheduledFor = '2100-01-01T00:00:00Z';
  await submit('a needle among many');
  const later = (n: number): object => ({ agent: 'endless', input: `later ${n}`, scheduledFor });
  await console.api('POST', '/v1/tasks/bulk', { items: Array.from({ length: 250 }, (_, n) => later(n)) });
  const { items } = await console.api<{ items: unknown[] }>('GET', '/v1/tasks?q=needle');
  expect(items).toEqual([]);
  await console.open('/tasks?q=needle');
  await row('a needle among many').waitFor();
  await page.getByText(/^Searched 2\d\d tasks, accepted in the last /).waitFor();
  await page.getByRole('button', { name: 'Search further' }).waitFor({ state: 'detached' });
  await page.getByText('1 task', { exact: true }).waitFor();
  await console.open('/tasks?q=nowhere');
  await page.getByText(/^No task fits these filters\. Searched 2\d\d tasks, accepted in the last /).waitFor();
  await page.getByText('0 tasks', { exact: true }).waitFor();
});

test.skipIf(!hasBrowser || !testEnvironment.isChaos)('a search that finds nothing within its bound says so, and can go on', async () => {
  const { page } = console;
  const pages = /\/v1\/tasks\?/;
  const json = { items: [], nextCursor: '01ARZ3NDEKTSV4RRFFQ69G5FAV', search: { scanned: 100, back: '2026-01-01T00:00:00Z' } };
  await page.route(pages, (route) => route.fulfill({ json }));
  await console.open('/tasks?q=endless');
  await page.getByText(/^No task found so far\. Searched 50,000 tasks, accepted in the last /).waitFor({ timeout: 120_000 });
  expect(await page.getByText('No task found so far', { exact: true }).count()).toBe(1);
  expect(await page.getByRole('button', { name: 'Search further' }).count()).toBe(1);
  await page.unroute(pages);
});

test.skipIf(!hasBrowser)('Back and a reload return to the place in a long list', async () => {
  const { page } = console;
  // A wait of the page itself would evaluate text, which its policy forbids.
  const becomesTrue = (text: string): Promise<unknown> =>
    waitFor(async () => (await page.evaluate(text)) === true, { deadlineMs: 60_000, what: text });
  const isAt = (top: number): Promise<unknown> => becomesTrue(`document.querySelector('main').scrollTop === ${top}`);
  await console.open('/tasks?status=pending');
  await table().getByRole('row').nth(20).waitFor();
  await page.evaluate("document.querySelector('main').scrollTop = 900");
  await becomesTrue("Object.entries(sessionStorage).some(([key, top]) => key.startsWith('muster:scroll:') && top === '900')");
  await page.getByRole('link', { name: 'Hooks', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'Hooks' }).waitFor();
  await page.goBack();
  await isAt(900);
  await page.reload();
  await table().getByRole('row').nth(20).waitFor();
  await isAt(900);
  expect(new URL(page.url()).search).toBe('?status=pending');
});

test.skipIf(!hasBrowser)('a key that only reads sees no actions', async () => {
  const { page } = console;
  await console.signIn(['read']);
  await console.open('/tasks?agent=research');
  await row('a good source').waitFor();
  for (const name of ['New task', /^Cancel all/, /^Discard all/]) expect(await page.getByRole('button', { name }).count()).toBe(0);
  expect(await page.getByRole('checkbox').count()).toBe(0);
  expect(await page.getByRole('link', { name: 'Chat' }).count()).toBe(0);
});
