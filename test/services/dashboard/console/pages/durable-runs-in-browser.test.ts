import type { Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { type AgentFunction, defineTool, TaskFailure } from '#shared/config/define-config.ts';
import type { SettingsInput } from '#shared/config/settings/settings.ts';
import { createWebhooksService } from '../../../../../services/webhooks/create-webhooks-service.ts';
import { startFakeModel, type FakeModel } from '../../../../support/agents/fake-model.ts';
import { waitFor } from '../../../../support/wait-for.ts';
import { startConsole, type RunningConsole } from '../../start-console.ts';
import { hasBrowser } from '../../test-browser.ts';

// A browser shares two cores with other tests. Each step has its own, shorter limit, which names a page that hangs.
vi.setConfig({ testTimeout: 180_000 });

let web: RunningConsole;
let page: Page;

const shipping: AgentFunction = async ({ input }, { waitFor: waitForEvent }) => {
  const paid = await waitForEvent('order.paid', { match: { order: input } });
  return { output: `paid ${JSON.stringify(paid?.data)}` };
};
const research: AgentFunction = async ({ input }, { delegateAll }) => ({
  result: await delegateAll(['for', 'against', 'later'].map((side) => ['reader', `${input} (${side})`])),
});
const reader: AgentFunction = async ({ input }, { reportUsage, waitFor: waitForEvent }) => {
  reportUsage({ inputTokens: 900, outputTokens: 100, costMicroUsd: 1200 });
  if (input.endsWith('(against)')) throw new TaskFailure('NOT_FOUND', 'Nothing was found');
  if (input.endsWith('(later)')) await waitForEvent('library.open');
  return { output: `found ${input}` };
};

/** The code of the agent `shifting`, which takes another step since its first attempt. */
let hasChanged = false;
const shifting: AgentFunction = async (_task, { step }) => {
  await step(hasChanged ? 'find it' : 'ask for it', () => 1);
  if (!hasChanged) {
    hasChanged = true;
    throw new TaskFailure('NETWORK_ERROR', 'The network is gone');
  }
  return 'found';
};
const look = defineTool({
  description: 'Looks an order up.',
  input: z.object({ number: z.string() }),
  run: ({ number }) => ({ number, cents: 1900 }),
});
let model: FakeModel;

beforeAll(async () => {
  if (!hasBrowser) return;
  model = await startFakeModel();
  model.mock.on({ predicate: () => true }, ({ messages }) =>
    messages.some(({ role }) => role === 'tool')
      ? { content: 'It cost **19 USD**.' }
      : { content: 'Let me look.', toolCalls: [{ name: 'look', arguments: '{"number":"A-17"}', id: 'call-1' }] },
  );
  const agents = {
    helper: { kind: 'openai', model: 'small', baseUrl: model.baseUrl, apiKey: 'k', tools: ['look'], system: 'Help.' },
    shipping: { kind: 'function', run: shipping },
    research: { kind: 'function', run: research },
    reader: { kind: 'function', run: reader, maxAttempts: 1 },
    shifting: { kind: 'function', run: shifting, retryDelayMs: 0 },
  } satisfies SettingsInput['agents'];
  web = await startConsole({
    settings: { tools: { look }, agents, routing: { agent: 'shipping' } },
    more: (parts) => [createWebhooksService(parts)],
  });
  ({ page } = web);
}, 180_000);
afterAll(async () => {
  if (!hasBrowser) return;
  await web.close();
  await model.close();
});
afterEach(() => {
  if (hasBrowser) web.browser.assertNoProblems();
});

const dialog = (): Locator => page.getByRole('dialog');
const button = (name: string, within: Locator | Page = page): Locator => within.getByRole('button', { name, exact: true });
const recordOf = async (id: string): Promise<{ status: string; output: string | null }> => await web.api('GET', `/v1/tasks/${id}`);
const reaches = async (id: string, status: string): Promise<void> =>
  void (await waitFor(async () => (await recordOf(id)).status === status, { deadlineMs: 30_000, what: `${id} to be ${status}` }));
const submit = async (agent: string, input: string): Promise<string> =>
  (await web.api<{ id: string }>('POST', '/v1/tasks', { agent, input })).id;

test.skipIf(!hasBrowser)('an event is sent from the page of a run that waits for it, and from the page Hooks', async () => {
  const id = await submit('shipping', 'A-17');
  await reaches(id, 'suspended');
  await web.open(`/tasks/${id}`);
  await button('Send an event').click();
  expect(await dialog().getByLabel('Name').inputValue()).toBe('order.paid');
  await dialog().getByLabel('Data').fill('{ "order": ');
  await button('Send', dialog()).click();
  await dialog().getByText(/JSON/).nth(1).waitFor();
  await web.expectPage('the form for an event');
  await dialog().getByLabel('Data').fill('{ "order": "A-17", "amount": 12 }');
  await button('Send', dialog()).click();
  await page.getByText('1 run goes on').waitFor();
  await reaches(id, 'completed');
  expect((await recordOf(id)).output).toBe('paid {"order":"A-17","amount":12}');

  await web.open('/hooks');
  await button('Send an event').click();
  await dialog().getByLabel('Name').fill('order.paid');
  await button('Send', dialog()).click();
  const note = page.getByText('No run waits for “order.paid” with these data. It is kept for those that begin to.');
  await note.waitFor();
  expect(await note.count()).toBe(1);
});

test.skipIf(!hasBrowser)('a hook is made that sends events, and its test resumes a run', async () => {
  const id = await submit('shipping', 'B-1');
  await reaches(id, 'suspended');
  await web.open('/hooks');
  await button('New hook').click();
  await dialog().getByLabel('A webhook').selectOption({ label: 'is an event that runs wait for' });
  expect(await dialog().getByLabel('Agent').count()).toBe(0);
  await dialog().getByLabel('Name of the event').fill('order.paid');
  await dialog().getByLabel('Name', { exact: true }).fill('payments');
  await button('Create', dialog()).click();
  await button('Show the hook', dialog()).click();
  await page.getByText('Event for runs').waitFor();
  await button('Send a test').click();
  await dialog().getByLabel('Payload').fill('{ "order": "B-1" }');
  await button('Send', dialog()).click();
  await page.getByText('1 run goes on').waitFor();
  await reaches(id, 'completed');
  expect(await web.api('GET', '/v1/hooks')).toMatchObject({ items: [{ name: 'payments', event: 'order.paid', agent: null }] });
});

test.skipIf(!hasBrowser)('the page of a task draws its sub-tasks with status and cost, and so do theirs', async () => {
  const id = await submit('research', 'Tea?');
  const ended = async (): Promise<boolean> => {
    const { root } = await web.api<{ root: { children: { status: string }[] } }>('GET', `/v1/tasks/${id}/tree`);
    return root.children.map(({ status }) => status).join() === 'completed,permanently_failed,suspended';
  };
  await waitFor(ended, { deadlineMs: 30_000, what: 'the sub-tasks' });
  await web.open(`/tasks/${id}`);
  const graph = page.getByRole('region', { name: 'Graph of parents and children' });
  const node = (input: string): Locator => graph.getByRole('link').filter({ hasText: input });
  await node('Tea? (against)').getByText('permanently failed').waitFor();
  await node('Tea? (for)').getByText('$0.0012').waitFor();
  await page.getByText('4 tasks', { exact: true }).waitFor();
  await web.expectPage('a run that waits for sub-tasks');
  await node('Tea? (later)').click();
  await graph.locator('[aria-current]').getByText('Tea? (later)').waitFor();
  await node('Tea? (against)').waitFor();
  await button('Send an event').click();
  await button('Send', dialog()).click();
  await graph.locator('[aria-current]').getByText('completed').waitFor();
  await reaches(id, 'completed');
  expect(await graph.getByRole('link').count()).toBe(3);
});

test.skipIf(!hasBrowser)('a run whose code took another step is started again, or goes on from there as a new task', async () => {
  const id = await submit('shifting', 'x');
  await reaches(id, 'permanently_failed');
  await web.open(`/tasks/${id}`);
  await page.getByText('JOURNAL_MISMATCH').first().waitFor();
  await web.expectPage('a run that met another step');
  await button('From step 2').click();
  await page.getByRole('heading', { name: 'shifting' }).waitFor();
  await waitFor(() => !page.url().includes(id), { deadlineMs: 30_000, what: 'the page of the new task' });
  const made = page.url().split('/').at(-1) ?? '';
  await reaches(made, 'completed');
  await web.open(`/tasks/${id}`);
  await button('Start again').click();
  await reaches(id, 'completed');
  expect((await recordOf(id)).output).toBe('found');
});
test.skipIf(!hasBrowser)(
  'the page of a run shows what its model said, what its tools were given and gave, and goes on from there',
  async () => {
    const id = await submit('helper', 'What did A-17 cost?');
    await reaches(id, 'completed');
    await web.open(`/tasks/${id}`);
    const journal = page.getByRole('region', { name: 'Journal' });
    const entry = (seq: number): Locator => journal.locator(`#entry-${seq}`);
    await entry(1).getByText('What the run goes by').click();
    await entry(1).getByText('Looks an order up.').first().waitFor();
    await entry(2).getByText('What the model said').click();
    await entry(2).getByText('Let me look.').first().waitFor();
    await entry(3).getByText('Input and result').click();
    await entry(3).getByText('1900').first().waitFor();
    expect(await entry(3).getByRole('region', { name: 'Given, entry 3' }).textContent()).toContain('A-17');
    await page.getByText('It cost').first().waitFor();
    await web.expectPage('the run of a model with tools');
    await button('Run again from here', entry(3)).click();
    await page.waitForURL((url) => url.pathname.startsWith('/tasks/') && !url.pathname.endsWith(id));
    const again = page.url().split('/').at(-1) ?? '';
    await reaches(again, 'completed');
    const calls = model.mock.getRequests().length;
    expect(calls).toBe(3);
  },
);
