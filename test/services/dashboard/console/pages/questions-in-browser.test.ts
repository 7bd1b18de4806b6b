import type { Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import type { AgentFunction } from '#shared/config/define-config.ts';
import { waitFor } from '../../../../support/wait-for.ts';
import { startConsole, type RunningConsole } from '../../start-console.ts';
import { hasBrowser } from '../../test-browser.ts';

// A browser shares two cores with other tests. Each step has its own, shorter limit, which names a page that hangs.
vi.setConfig({ testTimeout: 180_000 });

let web: RunningConsole;
let page: Page;

const release: AgentFunction = async ({ input }, { ask }) => {
  const answer = await ask({ question: `Publish ${input}?\nIts tests are green.`, choices: ['yes', 'no'] });
  const title = await ask({ question: 'What is its title?' });
  return { output: `${answer}: ${title}` };
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
  await web.open('/questions');
  await card('Publish 1.4.0?').getByRole('link', { name: id }).waitFor();
  await web.expectPage('an open question');
  await card('Publish 1.4.0?').getByRole('button', { name: 'yes' }).click();
  await card('Publish 1.4.0?').getByText('answered', { exact: true }).waitFor();
  await card('What is its title?').getByRole('link', { name: id }).click();
  await card('Publish 1.4.0?').getByText('yes', { exact: true }).waitFor();
  await card('What is its title?').getByRole('textbox', { name: 'Answer' }).fill('Spring');
  await web.expectPage('the page of a run that asks');
  await card('What is its title?').getByRole('button', { name: 'Answer' }).click();
  await waitFor(async () => (await recordOf(id)).status === 'completed', { deadlineMs: 30_000, what: 'the run to go on' });
  expect((await recordOf(id)).output).toBe('yes: Spring');
  await web.open('/questions?status=open');
  await page.getByText('No question fits the filter.').waitFor();
});
