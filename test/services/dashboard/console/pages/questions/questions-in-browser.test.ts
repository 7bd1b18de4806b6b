import type { Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import type { AgentFunction } from '#shared/config/define-config.ts';
import { waitFor } from '../../../../../support/wait-for.ts';
import { startConsole, type RunningConsole } from '../../../start-console.ts';
import { hasBrowser } from '../../../test-browser.ts';

// A browser shares two cores with other tests. Each step has its own, shorter limit, which names a page that hangs.
vi.setConfig({ testTimeout: 180_000 });

let web: RunningConsole;
let page: Page;

const LATER = 'later, once the freeze at the end of the quarter is over and nobody objects any more';
const COPIES = {
  type: 'object',
  properties: { count: { type: 'integer', minimum: 1 }, paper: { enum: ['thin', 'thick'] } },
  required: ['count'],
};

const release: AgentFunction = async ({ input }, { ask }) => {
  const answer = await ask({ question: `Publish ${input}?\nIts tests are green.`, choices: ['yes', 'no', LATER] });
  const title = await ask({ question: 'What is its title?' });
  const copies = await ask<{ count: number }>({ question: 'How many copies?', schema: COPIES });
  return { output: `${answer}: ${title}, ${copies?.count} copies` };
};

beforeAll(async () => {
  if (!hasBrowser) return;
  web = await startConsole({ settings: { agents: { release: { kind: 'function', run: release } }, routing: { agent: 'release' } } });
  ({ page } = web);
}, 180_000);
afterAll(async () => {
  if (hasBrowser) await web.close();
});
afterEach(() => {
  if (hasBrowser) web.browser.assertNoProblems();
});

const card = (question: string): Locator => page.getByRole('region', { name: question });
const recordOf = async (id: string): Promise<{ status: string; output: string | null }> => await web.api('GET', `/v1/tasks/${id}`);

test.skipIf(!hasBrowser)('a question is answered on the page Questions, and the next one on the page of its task', async () => {
  const { id } = await web.api<{ id: string }>('POST', '/v1/tasks', { agent: 'release', input: '1.4.0' });
  await waitFor(async () => (await recordOf(id)).status === 'suspended', { deadlineMs: 30_000, what: 'the run to ask' });
  await web.open('/');
  const navigation = page.getByRole('navigation', { name: 'Main' });
  await navigation.getByRole('link', { name: /^Questions.*\(1 open\)/ }).waitFor();
  await web.expectPage('the first page while a run asks');
  await page.getByRole('main').getByRole('link', { name: '1 question waits for an answer' }).click();
  await card('Publish 1.4.0?').getByRole('link', { name: id }).waitFor();
  await web.expectPage('an open question');
  await card('Publish 1.4.0?').getByRole('button', { name: 'yes' }).click();
  await card('Publish 1.4.0?').getByText('answered', { exact: true }).waitFor();
  await card('What is its title?').getByRole('link', { name: id }).click();
  await card('Publish 1.4.0?').getByText('yes', { exact: true }).waitFor();
  await card('What is its title?').getByRole('textbox', { name: 'Answer' }).fill('Spring');
  await web.expectPage('the page of a run that asks');
  await card('What is its title?').getByRole('button', { name: 'Answer' }).click();
  const copies = card('How many copies?');
  await copies.getByRole('combobox', { name: 'paper' }).selectOption('thick');
  await copies.getByRole('textbox', { name: 'count' }).fill('0');
  await copies.getByRole('button', { name: 'Answer' }).click();
  await page.getByText(/^The answer does not fit|answer\.count/).waitFor();
  await web.expectPage('a question with fields');
  await copies.getByRole('textbox', { name: 'count' }).fill('7');
  await copies.getByRole('button', { name: 'Answer' }).click();
  await waitFor(async () => (await recordOf(id)).status === 'completed', { deadlineMs: 30_000, what: 'the run to go on' });
  await navigation.getByRole('link', { name: 'Questions', exact: true }).waitFor();
  expect((await recordOf(id)).output).toBe('yes: Spring, 7 copies');
  await web.open('/questions?status=open');
  await page.getByText('No question fits the filter.').waitFor();
});

test.skipIf(!hasBrowser)('a question is asked and answered in the chat of its session', async () => {
  const { id } = await web.api<{ id: string }>('POST', '/v1/sessions/s1/messages', { text: '1.5.0' });
  await web.open('/sessions/s1');
  await card('Publish 1.5.0?').waitFor();
  await web.expectPage('a chat in which a run asks');
  await card('Publish 1.5.0?').getByRole('button', { name: 'no', exact: true }).click();
  await card('What is its title?').waitFor();
  await card('Publish 1.5.0?').waitFor({ state: 'detached' });
  await page.getByRole('textbox', { name: 'Message' }).fill('/answer Autumn');
  await page.keyboard.press('Enter');
  await card('How many copies?').waitFor();
  await web.api('POST', `/v1/tasks/${id}/cancel`, {});
  await card('How many copies?').waitFor({ state: 'detached' });
  expect((await recordOf(id)).status).toBe('cancelled');
  await web.open('/questions?status=open');
  await page.getByText('No question fits the filter.').waitFor();
});
