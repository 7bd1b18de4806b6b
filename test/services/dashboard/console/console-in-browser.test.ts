import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { Page, Response as PageResponse } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { announcePlatforms } from '#shared/schedules/platforms.ts';
import type { AgentFunction } from '#shared/config/define-config.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { createSchedulerService } from '../../../../services/scheduler/create-scheduler-service.ts';
import { waitFor } from '../../../support/wait-for.ts';
import type { RunningDashboard } from '../running-dashboard.ts';
import { startConsole, type RunningConsole } from '../start-console.ts';
import { expectAccessiblePage, hasBrowser, type Scheme } from '../test-browser.ts';

const GROUND = 'getComputedStyle(document.body).backgroundColor';

const MAX_FILE_BYTES = 100_000;
/** One pixel. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

// A browser shares two cores with other tests. Each step has its own, shorter limit, which names a page that hangs.
vi.setConfig({ testTimeout: 180_000 });

let web: RunningConsole;
let dashboard: RunningDashboard;
let page: Page;
let release: () => void;
let released: Promise<void>;

/** Starts its answer at once and ends it when the test releases it. */
const gate: AgentFunction = async (task, { write, signal, attach, attachments }) => {
  write(`I heard **${task.input}**`);
  for (const { name, bytes } of attachments) await attach(`about-${name}.txt`, `${name} has ${bytes} bytes`, 'text/plain');
  const stopped = new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  await Promise.race([released, stopped]);
  write(' and am done.');
};

beforeAll(async () => {
  if (!hasBrowser) return;
  web = await startConsole({
    settings: {
      agents: { gate: { kind: 'function', run: gate }, echo: { kind: 'echo' } },
      routing: { agent: 'gate' },
      files: { maxFileBytes: MAX_FILE_BYTES },
    },
    more: (parts) => [createSchedulerService(parts)],
  });
  ({ dashboard, page } = web);
  // A chat service announces its platforms; schedules accept only announced platforms.
  (await announcePlatforms(dashboard.parts, ['slack']))();
}, 60_000);
afterAll(async () => {
  if (!hasBrowser) return;
  release();
  await web.close();
});
beforeEach(() => {
  ({ promise: released, resolve: release } = Promise.withResolvers<void>());
});
afterEach(() => {
  release();
  if (hasBrowser) web.browser.assertNoProblems();
});

const say = async (text: string): Promise<void> => {
  await page.getByRole('textbox', { name: 'Message' }).fill(text);
  await page.keyboard.press('Enter');
};
const message = (text: string): ReturnType<Page['locator']> =>
  page
    .getByRole('article')
    .filter({ has: page.getByText(text, { exact: true }) })
    .first();

const expectAccessible = (what: string, schemes?: readonly Scheme[]): Promise<void> => expectAccessiblePage(page, what, schemes);

test.skipIf(!hasBrowser)(
  'three quick messages run in order, each shows its reason for waiting, and answers appear while they are written',
  async () => {
    await page.goto(`${dashboard.url}/chat`);
    for (const text of ['one', 'two', 'three']) await say(text);
    await message('one').getByText('I heard one').waitFor();
    await message('two').getByText('Waiting: behind “one”').waitFor();
    await message('three').getByText('Waiting: behind “two”').waitFor();
    expect(await message('one').getByText('and am done').count()).toBe(0);
    await expectAccessible('chat');
    release();
    for (const text of ['one', 'two', 'three']) await message(text).getByText(`I heard ${text} and am done.`).waitFor();
    expect(await page.locator('article strong').allInnerTexts()).toEqual(['one', 'two', 'three']);
    await page.reload();
    await message('three').getByText('I heard three and am done.').waitFor();
  },
);

test.skipIf(!hasBrowser)('messages typed while the first is in flight follow it, also with the same text', async () => {
  await page.goto(`${dashboard.url}/chat`);
  const typed = Promise.withResolvers<void>();
  let requests = 0;
  await page.route('**/messages', async (call) => {
    requests += 1;
    if (requests === 1) await typed.promise;
    await call.continue();
  });
  for (const text of ['opening words', 'same', 'same']) await say(text);
  await page.evaluate('document.title');
  typed.resolve();
  await page.locator('article').nth(2).waitFor();
  await page.unroute('**/messages');
  // The message is above its answer.
  expect(await page.locator('article > div:first-child').allInnerTexts()).toEqual(['opening words', 'same', 'same']);
  await page.getByRole('navigation', { name: 'Conversations' }).getByText('opening words').first().waitFor();
  expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('opening words');
});

test.skipIf(!hasBrowser)('Stop ends the answer in the middle and withdraws what waits; /stop does the same', async () => {
  await page.goto(`${dashboard.url}/chat`);
  await say('long');
  await message('long').getByText('I heard long').waitFor();
  await say('later');
  await message('later').getByText('Waiting').waitFor();
  await page.getByRole('button', { name: 'Stop' }).click();
  await message('long').getByText('Cancelled').waitFor();
  await message('later').getByText('Cancelled').waitFor();
  expect(await message('long').getByText('am done').count()).toBe(0);
  await page.locator('button:disabled', { hasText: 'Stop' }).waitFor();
  await say('again');
  await message('again').getByText('I heard again').waitFor();
  await say('/stop');
  await message('again').getByText('Cancelled').waitFor();
});

test.skipIf(!hasBrowser)('the picked mode decides the outcome of a message, which is shown below it', async () => {
  await page.goto(`${dashboard.url}/chat`);
  await say('first');
  await message('first').getByText('I heard first').waitFor();
  await page.getByRole('button', { name: 'Mode: queue (default)' }).click();
  await page.getByRole('menuitemradio', { name: /^reject/ }).click();
  await page.getByRole('button', { name: 'Mode: reject' }).waitFor();
  await say('refused');
  await message('refused').getByText('Refused: an answer was running').waitFor();
  await say('/queue interrupt now instead');
  await message('first').getByText('Replaced by a newer message').waitFor();
  await page.getByText('I heard now instead').waitFor();
  await say('/help');
  expect(await page.getByText('/status').innerText()).toContain('/stop');
});

test.skipIf(!hasBrowser)(
  'files are attached by picker, paste and drop, and those of the message and of the answer are shown and saved',
  async () => {
    await page.goto(`${dashboard.url}/chat`);
    const attached = page.getByRole('list', { name: 'Files of this message' }).getByRole('listitem');
    const send = page.getByRole('button', { name: 'Send' });
    const picker = page.getByLabel('Files to attach');
    await picker.setInputFiles({ name: 'large.bin', mimeType: 'application/octet-stream', buffer: Buffer.alloc(2 * MAX_FILE_BYTES) });
    await attached.filter({ hasText: 'large.bin' }).getByText('It is too large: 195.3 KB, and a file may have 97.7 KB.').waitFor();
    expect(await send.isDisabled()).toBe(true);
    await expectAccessible('a file that is too large', ['light']);
    await page.getByRole('button', { name: 'Remove large.bin' }).click();
    await picker.setInputFiles({ name: 'dot.png', mimeType: 'image/png', buffer: Buffer.from(PNG, 'base64') });
    // Pasting and dropping, as the browser reports them.
    await page.evaluate(`(() => {
    const clipboardData = new DataTransfer();
    clipboardData.items.add(new File(['pasted'], 'pasted.txt', { type: 'text/plain' }));
    document.querySelector('textarea').dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File(['dropped'], 'dropped.txt', { type: 'text/plain' }));
    document.querySelector('[aria-label=Messages]').dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
  })()`);
    for (const name of ['dot.png', 'pasted.txt', 'dropped.txt']) await attached.filter({ hasText: name }).getByText(/ B$/).waitFor();
    release();
    await send.click();
    const sent = page.getByRole('list', { name: 'Files of the message' });
    const made = page.getByRole('list', { name: 'Files of the answer' });
    await made.getByRole('link', { name: 'about-dropped.txt.txt' }).waitFor();
    await page.getByText('I heard dot.png, pasted.txt, dropped.txt and am done.').waitFor();
    await page.reload();
    await made.getByRole('link').nth(2).waitFor();
    expect(await sent.getByRole('link').allInnerTexts()).toEqual(
      [/dot\.png/, /pasted\.txt/, /dropped\.txt/].map((name) => expect.stringMatching(name)),
    );
    await waitFor(async () => (await sent.getByRole('img').evaluate((image: { naturalWidth: number }) => image.naturalWidth)) === 1, {
      deadlineMs: 60_000,
      what: 'the image of one pixel',
    });
    const saving = page.waitForEvent('download');
    await made.getByRole('link', { name: 'about-pasted.txt.txt' }).click();
    const saved = await (await saving).path();
    expect(await readFile(saved, 'utf8')).toBe('pasted.txt has 6 bytes');
    await expectAccessible('a chat with files', ['dark']);
  },
);

test.skipIf(!hasBrowser)('an agent’s text runs no script, loads no image, and its links send no referrer', async () => {
  await page.goto(`${dashboard.url}/chat`);
  await say(
    '<img src="/x" onerror="alert(1)"> [bad](javascript:alert%281%29) [good](https://example.com/) ![seen](https://example.com/x.png) end',
  );
  const answer = page.locator('article strong').filter({ hasText: 'end' });
  await answer.waitFor();
  expect(await page.locator('article img, article script').count()).toBe(0);
  expect(await answer.innerText()).toContain('<img src="/x" onerror="alert(1)">');
  expect(await answer.getByText('bad').getAttribute('href')).not.toContain('javascript');
  for (const link of ['good', 'seen']) expect(await answer.getByText(link).getAttribute('rel')).toContain('noopener');
});

test.skipIf(!hasBrowser)('a cut stream reconnects by itself, and the page reports it meanwhile', async () => {
  await page.goto(`${dashboard.url}/chat`);
  await say('before');
  await message('before').getByText('I heard before').waitFor();
  await dashboard.cut();
  await page.getByText('The connection is cut').waitFor();
  release();
  await dashboard.repair();
  await message('before').getByText('I heard before and am done.').waitFor();
  await page.getByText('The connection is cut').waitFor({ state: 'detached' });
  expect(await page.getByRole('article').count()).toBe(1);
});

test.skipIf(!hasBrowser)('on a narrow page the conversations are in a drawer and nothing is wider than the page', async () => {
  await page.setViewportSize({ width: 390, height: 844 });
  try {
    await page.goto(`${dashboard.url}/chat`);
    await say(`wide ${'x'.repeat(3000)}`);
    await page.getByText('I heard wide').waitFor();
    await page.getByText('The answer is being written').waitFor({ state: 'attached' });
    expect(await page.evaluate('document.querySelector("main").scrollHeight - document.querySelector("main").clientHeight')).toBe(0);
    await page.getByRole('button', { name: 'Conversations' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'New chat' }).waitFor();
    await expectAccessible('drawer', ['dark']);
    await page.keyboard.press('Escape');
    for (const path of ['/chat', '/', '/schedules']) {
      await page.goto(`${dashboard.url}${path}`);
      await page.getByRole('main').waitFor();
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    }
  } finally {
    await page.setViewportSize({ width: 1280, height: 720 });
  }
});

test.skipIf(!hasBrowser)(
  'a schedule is previewed while typed, created, switched off and on, run at once and deleted after a confirmation',
  async () => {
    await page.goto(`${dashboard.url}/schedules`);
    await page.getByRole('button', { name: 'New schedule' }).click();
    const form = page.getByRole('dialog');
    await form.getByLabel('When', { exact: false }).first().fill('every blue moon');
    await form.getByText('is no rule that can be read').waitFor();
    await form.getByText('What can be read').click();
    await form.getByText('every WEEKDAY', { exact: false }).first().waitFor();
    await form.getByLabel('Zone').fill('Europe/Berlin');
    await form.getByRole('button', { name: 'Daily at midnight' }).click();
    await form.getByText('(Europe/Berlin)').waitFor();
    await form.getByRole('listitem').nth(4).waitFor();
    expect(await form.getByRole('listitem').first().innerText()).toMatch(/00:00$/);
    await form.getByLabel('Message').fill('Good night');
    await form.getByLabel('Agent').selectOption('echo');
    await form.getByLabel('Name').fill('Night watch');
    await form.getByLabel('Send results to').selectOption('Slack');
    await form.getByLabel('Chat').fill('C024BE91L');
    await expectAccessible('form', ['light']);
    await form.getByRole('button', { name: 'Create' }).click();
    const card = page.getByRole('listitem').filter({ hasText: 'Good night' });
    await card.getByRole('heading', { name: 'Night watch' }).waitFor();
    const made = await page.evaluate(async () => await (await fetch('/v1/schedules')).text());
    expect(JSON.parse(made).items).toMatchObject([{ name: 'Night watch', platform: 'slack', channel: 'C024BE91L', tz: 'Europe/Berlin' }]);
    await card.getByText('active').waitFor();
    await card.getByRole('switch').press('Space');
    await card.getByText('paused', { exact: true }).waitFor();
    await card.getByText('Paused: by request').waitFor();
    await card.getByRole('switch').press('Space');
    await card.getByText('active').waitFor();
    await card.getByRole('button', { name: 'Run now' }).click();
    await card.getByRole('link', { name: /succeeded.*Good night/ }).waitFor();
    const next = async (): Promise<string> => (await card.locator('dt:text-is("Next run") + dd time').getAttribute('datetime')) ?? '';
    const skipped = await next();
    await card.getByRole('button', { name: 'Skip next' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Skip it' }).click();
    await card.getByRole('link', { name: /skipped by request/ }).waitFor();
    await waitFor(async () => (await next()) > skipped, { deadlineMs: 60_000, what: 'a later next run' });
    await card.getByRole('button', { name: 'Backfill' }).click();
    const backfill = page.getByRole('dialog');
    // Every such range has two midnights at least.
    const since = new Date(Date.now() - 60 * 3_600_000);
    const local = new Date(since.getTime() - since.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
    await backfill.getByLabel('From').fill(local);
    await backfill.getByRole('button', { name: 'List the missing runs' }).click();
    await backfill.getByText(/of \d had no run/).waitFor();
    await expectAccessible('backfill', ['light']);
    await backfill.getByRole('button', { name: /^Run \d/ }).click();
    await backfill.waitFor({ state: 'detached' });
    await card
      .getByRole('link', { name: /succeeded.*Good night/ })
      .nth(1)
      .waitFor();
    await card.getByRole('button', { name: /^Delete/ }).focus();
    await page.keyboard.press('Tab');
    await page.getByRole('tooltip').waitFor();
    await expectAccessible('schedules');
    await page.getByRole('button', { name: 'Week' }).click();
    await page.getByRole('list', { name: 'The coming week' }).getByRole('link', { name: 'Night watch' }).nth(4).waitFor();
    await expectAccessible('the week', ['light']);
    await page.getByRole('button', { name: 'Table' }).click();
    await page.getByRole('row').filter({ hasText: 'Night watch' }).getByRole('link').click();
    await page.getByRole('table', { name: 'Runs of Night watch' }).getByText('skipped by request').waitFor();
    await expectAccessible('one schedule', ['dark']);
    await card.getByRole('button', { name: /^Delete/ }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await card.waitFor({ state: 'detached' });
    await page.getByText('Nothing is scheduled').waitFor();
  },
);

test.skipIf(!hasBrowser)('every schedule of many can be reached', async () => {
  const key = await dashboard.newSecret(['admin']);
  const headers = { authorization: `Bearer ${key}` };
  const ids = await Promise.all(
    Array.from({ length: 30 }, async (_, place) => {
      const json = { every: '90m', agent: 'echo', message: 'Look', name: `Watch ${place}` };
      const made = await dashboard.call('POST', '/v1/schedules', { headers, json });
      return ((await made.json()) as { id: string; number: number }).id;
    }),
  );
  await page.goto(`${dashboard.url}/schedules`);
  const cards = page.getByRole('heading', { name: /Watch/ });
  await cards.nth(24).waitFor();
  expect(await cards.count()).toBe(25);
  const newest = await cards.allInnerTexts();
  await page.getByRole('button', { name: 'Older' }).click();
  await cards.nth(5).waitFor({ state: 'detached' });
  expect(new Set([...newest, ...(await cards.allInnerTexts())]).size).toBe(30);
  await expectAccessible('older schedules');
  await page.getByRole('button', { name: 'Newest' }).click();
  await cards.nth(24).waitFor();
  // Another filter begins with its newest, and so does none.
  await page.getByRole('button', { name: 'Older' }).click();
  await page.waitForURL('**/schedules?cursor=*');
  await page.getByLabel('Status').selectOption('active');
  await page.waitForURL('**/schedules?status=active');
  await page.getByRole('button', { name: 'Older' }).click();
  await page.waitForURL('**/schedules?status=active&cursor=*');
  await page.getByRole('button', { name: 'Clear' }).click();
  await page.waitForURL('**/schedules');
  await dashboard.call('PATCH', `/v1/schedules/${ids[0] ?? ''}`, { headers, json: { status: 'paused' } });
  await page.getByRole('button', { name: 'Table' }).click();
  await page.getByLabel('Status').selectOption('active');
  const rows = page.getByRole('table', { name: 'Schedules' }).getByRole('row').filter({ hasText: 'Watch' });
  await rows.filter({ hasText: 'Watch 29' }).hover();
  await page.getByLabel('Status').selectOption('paused');
  await rows.filter({ hasText: 'paused' }).waitFor();
  expect(await rows.count()).toBe(1);
  await Promise.all(ids.map((id) => dashboard.call('DELETE', `/v1/schedules/${id}`, { headers })));
});

test.skipIf(!hasBrowser)('a schedule is edited in the same form, with problems at their fields, and no other field changes', async () => {
  const key = await dashboard.newSecret(['admin']);
  const call = async (method: string, path: string, json?: object): Promise<Record<string, unknown>> => {
    const answer = await dashboard.call(method, path, { headers: { authorization: `Bearer ${key}` }, json });
    return answer.status === 204 ? {} : ((await answer.json()) as Record<string, unknown>);
  };
  const made = await call('POST', '/v1/schedules', {
    every: '90m',
    agent: 'echo',
    message: 'Look',
    missed: 'all(7)',
    tz: 'Europe/Berlin',
  });
  const path = `/v1/schedules/${String(made['id'])}`;
  await page.goto(`${dashboard.url}/schedules`);
  const card = page.getByRole('listitem').filter({ hasText: 'Look' });
  await card.getByRole('button', { name: /^Edit/ }).click();
  const form = page.getByRole('dialog');
  expect(await form.getByLabel('When', { exact: false }).first().inputValue()).toBe('every 90m');
  // The schedule's own next times, not the times of an interval that starts now.
  const times = (): Promise<string[]> =>
    form
      .getByRole('listitem')
      .locator('time')
      .evaluateAll((all) => all.map((each) => each.getAttribute('datetime') ?? ''));
  await form.getByRole('listitem').nth(4).waitFor();
  const shown = await times();
  expect(shown.slice(0, 3)).toEqual(made['next']);
  expect(shown.slice(1).map((at, place) => Date.parse(at) - Date.parse(shown[place] ?? ''))).toEqual(Array(4).fill(90 * 60_000));
  expect(await form.getByLabel('When a time was missed').inputValue()).toBe('all(7)');
  await form.getByLabel('Name').fill('Look-out');
  await form.getByLabel('Priority').selectOption('3');
  await form.getByLabel('Zone').fill('Mars/Olympus');
  await form.getByRole('button', { name: 'Save' }).click();
  await form.getByText('is no IANA time zone').last().waitFor();
  const zone = form.getByLabel('Zone');
  expect(await zone.getAttribute('aria-invalid')).toBe('true');
  await page.locator('input:focus[aria-invalid=true]').waitFor();
  await expectAccessible('edit form');
  await zone.fill('Europe/Berlin');
  await form.getByRole('button', { name: 'Save' }).click();
  await form.waitFor({ state: 'detached' });
  await card.getByRole('heading', { name: 'Look-out' }).waitFor();
  const renamed = await call('GET', path);
  expect(renamed).toEqual({ ...made, name: 'Look-out', priority: 3, updatedAt: renamed['updatedAt'] });
  await card.getByRole('button', { name: /^Edit/ }).click();
  await form.getByLabel('When', { exact: false }).first().fill('every monday at 9');
  await form.getByText('only on Monday').waitFor();
  await form.getByLabel('Message').fill('Look again');
  await form.getByLabel('When the last run').selectOption('queue');
  await form.getByRole('button', { name: 'Save' }).click();
  await form.waitFor({ state: 'detached' });
  await card.getByText('Look again').waitFor();
  expect(await call('GET', path)).toMatchObject({
    rule: '0 9 * * 1',
    message: 'Look again',
    overlap: 'queue',
    name: 'Look-out',
    missed: 'all(7)',
  });
  await call('DELETE', path);
});

test.skipIf(!hasBrowser)('the console’s files are compressed, and its streams are not', async () => {
  const answers: { url: string; encoding: string | undefined }[] = [];
  const note = (answer: PageResponse): void => {
    answers.push({ url: answer.url(), encoding: answer.headers()['content-encoding'] });
  };
  page.on('response', note);
  await page.goto(`${dashboard.url}/chat`);
  await say('packed');
  await message('packed').getByText('I heard packed').waitFor();
  page.off('response', note);
  const files = answers.filter(({ url }) => url.includes('/console/assets/'));
  expect(files.length).toBeGreaterThan(1);
  expect(files.filter(({ encoding }) => encoding !== 'br')).toEqual([]);
  const streams = answers.filter(({ url }) => url.endsWith('/stream'));
  expect(streams.length).toBeGreaterThan(0);
  expect(streams.filter(({ encoding }) => encoding !== undefined)).toEqual([]);
});

const panel = (name: string): ReturnType<Page['locator']> => page.getByRole('region', { name, exact: true });
const submit = async (input: string, request: object = {}): Promise<string> =>
  (await acceptTask(dashboard.parts, { tenant: 'default', agent: 'gate', input, ...request })).id;
/** What the tests before this one left open, which would stand before its own tasks. */
async function cancelOpen(): Promise<void> {
  for (const status of ['pending', 'queued', 'running']) {
    const { items } = await web.api<{ items: { id: string }[] }>('GET', `/v1/tasks?status=${status}`);
    for (const { id } of items) await web.api('POST', `/v1/tasks/${id}/cancel`);
  }
}

const failing = { agent: 'echo', context: { failAttempts: 1, failCode: 'INVALID_INPUT' } };

test.skipIf(!hasBrowser)('the first page shows what runs, waits and failed, each within seconds, and the chosen colours stay', async () => {
  await cancelOpen();
  await page.emulateMedia({ colorScheme: 'light' });
  await page.goto(`${dashboard.url}/`);
  await submit('first in line', { session: 'a line' });
  await submit('second in line', { session: 'a line' });
  await submit('a wrong one', failing);
  const running = panel('Running').getByRole('listitem').filter({ hasText: 'first in line' });
  await running.getByText('I heard **first in line**').waitFor();
  const waiting = panel('Waiting').getByRole('listitem').filter({ hasText: 'second in line' });
  await waiting.getByText('for the task before it in its lane').waitFor();
  await page.getByRole('link', { name: /^Waiting \d+$/ }).waitFor();
  await panel('Failed lately').getByText('INVALID_INPUT').first().waitFor();
  await expectAccessible('now', ['light']);
  await panel('Failed lately').getByRole('button', { name: 'Retry', exact: true }).first().click();
  await page.getByText('The task runs again').waitFor();
  await running.getByRole('button', { name: 'Cancel' }).click();
  await panel('Running').getByText('I heard **second in line**').waitFor();

  await page.getByRole('button', { name: 'Colours' }).click();
  await page.getByRole('menuitemradio', { name: 'Dark' }).click();
  await page.reload();
  await page.getByRole('link', { name: /gate/ }).first().waitFor();
  expect(await page.locator('html').getAttribute('data-mantine-color-scheme')).toBe('dark');
  await expectAccessible('now', ['dark']);
  // The page of the task has the same colours.
  const ground = await page.evaluate(GROUND);
  await page.getByRole('link', { name: /gate/ }).first().click();
  await page.getByRole('heading', { name: 'Timeline' }).waitFor();
  expect(await page.evaluate(GROUND)).toBe(ground);
});

test.skipIf(!hasBrowser)(
  'sessions are listed with where they come from and can be searched, and a failed answer is tried again',
  async () => {
    const headers = { authorization: `Bearer ${await dashboard.newSecret(['admin'])}` };
    const write = async (session: string, json: object): Promise<void> => {
      expect((await dashboard.call('POST', `/v1/sessions/${session}/messages`, { headers, json })).status).toBe(202);
    };
    await submit('by the API', { session: 'asked-by-api', agent: 'echo' });
    const { file: uploadId } = await dashboard.parts.files.upload(
      'default',
      { name: 'plan.txt', mediaType: 'text/plain' },
      Readable.from([Buffer.from('given')]),
    );
    await write('from-telegram', { text: 'hello bot', surface: 'telegram', user: 'ada', attachments: [{ uploadId }], ...failing });
    await page.goto(`${dashboard.url}/sessions`);
    const row = (id: string): ReturnType<Page['locator']> => page.getByRole('row').filter({ hasText: id });
    await row('asked-by-api').getByText('API', { exact: true }).waitFor();
    await row('from-telegram').getByText('Telegram', { exact: true }).waitFor();
    await row('from-telegram').getByText('ada').waitFor();
    await row('from-telegram').getByText('permanently failed').waitFor();
    await expectAccessible('sessions', ['dark']);
    await page.getByLabel('Search id or sender').fill('ADA');
    await row('asked-by-api').waitFor({ state: 'detached' });
    expect(new URL(page.url()).searchParams.get('q')).toBe('ADA');
    await row('from-telegram').getByRole('link', { name: 'from-telegram' }).click();
    await message('hello bot').getByText('Failed').waitFor();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.locator('article').nth(1).getByText('echo', { exact: true }).waitFor();
    expect(await page.locator('article').nth(1).innerText()).toContain('hello bot');
    await page.locator('article').nth(1).getByRole('link', { name: 'plan.txt' }).waitFor();
    await page.reload();
    await page.locator('article').nth(1).getByRole('link', { name: 'plan.txt' }).waitFor();
  },
);

test.skipIf(!hasBrowser)('the first page follows also without its stream, and offers no change to a key that may only read', async () => {
  await page.route('**/v1/notifications/stream*', (call) => call.abort());
  await page.goto(`${dashboard.url}/`);
  await panel('Running').getByText('Nothing runs at the moment.').waitFor();
  await submit('without a stream');
  await panel('Running').getByText('I heard **without a stream**').waitFor();
  await page.unroute('**/v1/notifications/stream*');
  await web.signIn(['read']);
  await panel('Running').getByText('I heard **without a stream**').waitFor();
  for (const name of ['Cancel', 'Retry']) expect(await page.getByRole('button', { name }).count()).toBe(0);
  await page.goto(`${dashboard.url}/sessions/from-telegram`);
  await page.getByText('This key may read the conversation.').waitFor();
  for (const name of ['Send', 'Attach files', 'Stop', 'Try again']) expect(await page.getByRole('button', { name }).count()).toBe(0);
});
