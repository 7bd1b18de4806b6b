import { describe, expect, it } from 'vitest';
import type { AgentFunction } from '#shared/config/define-config.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { useWorker } from '../../../support/use-worker.ts';
import { useApi } from '../support/use-api.ts';

const LARGE = 'x'.repeat(300);

const steps: AgentFunction = async (_task, { step, ask }) => {
  await step('small', () => ({ order: 7 }));
  await step('middle', () => 'y'.repeat(5000));
  await step('large', () => LARGE.repeat(30));
  await step('nothing', () => undefined);
  await step('failing', () => {
    throw new Error('no');
  }).catch(() => undefined);
  await ask({ question: 'Publish?', choices: ['yes', 'no'] });
};

const api = await useApi({ agents: { steps: { kind: 'function', run: steps } }, journal: { maxEntryBytes: 6000 } });
await useWorker(api.parts);

interface Entry {
  seq: number;
  name: string;
  bytes: number | null;
  file: string | null;
  value?: unknown;
  input?: unknown;
}

/** A task whose run waits at its question. */
async function suspended(): Promise<string> {
  const { id } = (await api.call('POST', '/v1/tasks', { body: { agent: 'steps', input: 'x' } })).body;
  const isSuspended = async (): Promise<boolean> => (await api.call('GET', `/v1/tasks/${id}`)).body.status === 'suspended';
  await waitFor(isSuspended, { deadlineMs: 20_000, what: 'the run to be suspended' });
  return id;
}

const id = await suspended();
const read = async (key: string): Promise<Entry[]> => (await api.call('GET', `/v1/tasks/${id}/journal`, { key })).body.items;

it('counts among what is now what runs ask people', async () => {
  const { items } = (await api.call('GET', `/v1/questions?taskId=${id}`)).body;
  const { body } = await api.call('GET', '/v1/now', { key: await api.keyOf('default', ['read']) });
  expect(body).toMatchObject({ waiting: [], questions: { open: 1, oldestAt: items[0].askedAt } });
});

describe('the journal of a run', () => {
  it('shows with the scope journal what steps gave and were given, and of what is large how large', async () => {
    const entries = await read(await api.keyOf('default', ['journal']));
    expect(entries.map(({ name, bytes, value, input }) => [name, bytes, value, input])).toEqual([
      ['steps', 12, { given: [] }, null],
      ['small', 11, { order: 7 }, null],
      ['middle', 5002, null, null],
      ['large', 9002, null, null],
      ['nothing', null, null, null],
      ['failing', null, null, null],
      ['Publish?', null, null, expect.objectContaining({ question: 'Publish?', choices: ['yes', 'no'] })],
    ]);
    expect(entries.map(({ file }) => file !== null)).toEqual([false, false, false, true, false, false, false]);
  });

  it('shows without it the rest, as also to who only sends or reads', async () => {
    for (const scope of ['submit', 'answer', 'read'] as const) {
      const entries = await read(await api.keyOf('default', [scope]));
      expect(entries).toHaveLength(7);
      expect(JSON.stringify(entries)).not.toMatch(/order|choices|"value"|"input"/);
      const one = await api.call('GET', `/v1/tasks/${id}/journal/2`, { key: await api.keyOf('default', [scope]) });
      expect([one.status, one.body.bytes, 'value' in one.body]).toEqual([200, 11, false]);
    }
  });

  it('has one entry whole, wherever that is kept', async () => {
    const valueOf = async (seq: number): Promise<unknown> => (await api.call('GET', `/v1/tasks/${id}/journal/${seq}`)).body.value;
    expect(await valueOf(3)).toBe('y'.repeat(5000));
    expect(await valueOf(4)).toBe(LARGE.repeat(30));
    expect(await api.call('GET', `/v1/tasks/${id}/journal/9`)).toMatchObject({ status: 404, body: { code: 'journal.not-found' } });
    const foreign = await api.keyOf('acme', ['admin']);
    expect((await api.call('GET', `/v1/tasks/${id}/journal/2`, { key: foreign })).status).toBe(404);
  });

  it('shows nobody what steps gave where the configuration says so, and keeps it', async () => {
    api.parts.config.settings.journal.bodies = false;
    try {
      expect(JSON.stringify(await read(api.key))).not.toMatch(/order|"value"/);
      expect(JSON.stringify((await api.call('GET', `/v1/tasks/${id}/journal/2`)).body)).not.toMatch(/order|"value"/);
    } finally {
      api.parts.config.settings.journal.bodies = true;
    }
    expect(JSON.stringify(await read(api.key))).toContain('order');
  });
});
