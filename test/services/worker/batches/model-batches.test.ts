import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { readSpending } from '#shared/budgets/read-spending.ts';
import { budgetSchema } from '#shared/config/settings/budget-settings.ts';
import { cancelTask } from '#shared/ledger/change-task.ts';
import { readJournal } from '#shared/ledger/journal/read-journal.ts';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import type { Parts } from '#shared/lifecycle/open-parts.ts';
import type { Service } from '#shared/lifecycle/service.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { explainWait } from '#shared/queue/why/explain-wait.ts';
import type { Task } from '#shared/tasks/task.ts';
import { usageDay } from '#shared/tasks/usage.ts';
import { createWorkerService } from '../../../../services/worker/create-worker-service.ts';
import { awaitEnd, awaitTask } from '../../../support/agents/await-task.ts';
import { BATCH_ANSWER, type BatchProvider, promptOf, startBatchProvider } from '../../../support/agents/batch-provider.ts';
import { openTestParts } from '../../../support/open-test-parts.ts';
import { useRedis } from '../../../support/redis/use-redis.ts';
import { waitFor } from '../../../support/wait-for.ts';

let provider: BatchProvider;
let parts: Parts;
let worker: Service;
let tests = 0;
/** Each test has a tenant of its own. */
let tenant = '';

const redis = await useRedis();

beforeAll(async () => {
  provider = await startBatchProvider();
  provider.model.mock.on({ predicate: () => true }, () => ({ content: 'Directly', usage: { prompt_tokens: 1, completion_tokens: 1 } }));
  const { baseUrl } = provider;
  parts = await openTestParts({
    redisUrl: redis.url,
    settings: {
      agents: {
        model: { kind: 'openai', model: 'small', baseUrl, apiKey: 'k' },
        plain: { kind: 'openai', model: 'small', baseUrl: provider.model.baseUrl, apiKey: 'k' },
        counting: { kind: 'openai', model: 'small', baseUrl, apiKey: 'k', tools: ['double'] },
      },
      tools: { double: { description: 'Doubles.', input: z.object({ n: z.number() }), run: ({ n }: { n: number }) => n * 2 } },
      models: { small: { inputUsdPerMTok: 1000, outputUsdPerMTok: 3000 } },
      providers: { mock: { baseUrl, batch: true } },
      modelBatches: { gatherMs: 20, pollMs: 20, maxPollMs: 100, stepMs: 2000, marginMs: 0, minWithinMs: 500 },
    },
  });
  worker = createWorkerService(parts);
  await worker.start();
});

beforeEach(() => {
  tests += 1;
  tenant = `t${tests}`;
  provider.reset();
});

afterAll(async () => {
  await worker.stop(1000);
  await parts.close();
  await provider.close();
});

const answerOf = async (id: string): Promise<{ reason?: string }> => {
  const { entries } = await readJournal(parts.ledger, { tenant, id });
  return JSON.parse(entries.find(({ kind }) => kind === 'batch')?.value ?? '{}') as { reason?: string };
};

const reasonOf = async (id: string): Promise<string> => {
  const { reasons } = await explainWait(parts, (await readTask(parts.ledger, tenant, id)) as Task);
  return reasons[0]?.detail ?? '';
};

/** What the tenant's agents used this day, millionths of a US dollar. */
const costOfDay = async (): Promise<number> => {
  const rows = await parts.redis.hvals(parts.keys.tenant(tenant).usageDay(usageDay(Date.now())));
  return rows.reduce((sum, row) => sum + Number(row.split(' ')[4]), 0);
};

const submit = async (input: string, within: string | undefined = '24h'): Promise<string> =>
  (await acceptTask(parts, { tenant, agent: 'model', input, ...(within !== undefined && { within }) })).id;

const spending = async (): Promise<{ spent: number; reserved: number }> => {
  const [budget] = await parts.budgets.of(tenant);
  if (!budget) throw new Error('There is no budget');
  const { spentMicroUsd, reservedMicroUsd } = await readSpending(parts, tenant, budget);
  return { spent: spentMicroUsd, reserved: reservedMicroUsd };
};
const limit = async (hardMicroUsd: number): Promise<unknown> =>
  await parts.budgets.put(tenant, 'all', budgetSchema.parse({ scope: 'tenant', per: 'total', hardMicroUsd, atHard: 'deny' }));

describe('a task with `within`', () => {
  it('has its call go by a batch, at its price', async () => {
    const id = await submit('hello');
    const task = await awaitEnd(parts, id, tenant);
    expect(task.output).toBe(BATCH_ANSWER);
    // One token in and one out, of $1000 and $3000 for a million.
    expect(task.state.usage).toMatchObject({
      inputTokens: 1,
      outputTokens: 1,
      costMicroUsd: 2000,
      byModel: { small: { costMicroUsd: 2000 } },
    });
    expect(provider.batches.map(({ lines }) => lines.map(({ custom_id: line, method, url }) => [line, method, url]))).toEqual([
      [[`${id}_2`, 'POST', '/v1/chat/completions']],
    ]);
    expect(provider.batches[0]?.lines[0]?.body).toMatchObject({ model: 'small', messages: [{ role: 'user', content: 'hello' }] });
    expect(provider.direct).toEqual([]);
    const { entries } = await readJournal(parts.ledger, { tenant, id });
    expect(entries.map(({ kind, name, status }) => [kind, name, status])).toEqual([
      ['definition', 'model', 'completed'],
      ['batch', 'small', 'completed'],
      ['model', 'small', 'completed'],
    ]);
  });

  it('goes in one batch with others that come in time', async () => {
    const ids = [await submit('one'), await submit('two'), await submit('three')];
    for (const id of ids) expect((await awaitEnd(parts, id, tenant)).output).toBe(BATCH_ANSWER);
    const lines = provider.batches.flatMap((batch) => batch.lines);
    expect(lines.map((line) => promptOf(line)).toSorted()).toEqual(['one', 'three', 'two']);
  });

  it('says why it waits: with the batch of its provider, and how far that is', async () => {
    provider.isHolding = true;
    const id = await submit('hello');
    const { state } = await awaitTask(parts, { id, tenant }, (task) => task.state.status === 'suspended', 'the run to wait');
    expect(state.hold).toEqual({ gate: 'batch', what: `${id}_2` });
    await waitFor(async () => (await reasonOf(id)).includes('requests done'), { deadlineMs: 10_000, what: 'the batch' });
    const [batch] = provider.batches;
    expect(await reasonOf(id)).toMatch(`with the provider's batch ${batch?.id} of mock (in_progress), 0 of 1 requests done, until `);
    provider.isHolding = false;
    expect((await awaitEnd(parts, id, tenant)).output).toBe(BATCH_ANSWER);
  });

  it.each(['completed', 'failed'])('leaves no files at the provider, once its batch has %s', async (outcome) => {
    provider.outcome = outcome;
    await awaitEnd(parts, await submit('hello'), tenant);
    const [sent] = provider.files.keys();
    await waitFor(() => provider.deleted.length >= (outcome === 'completed' ? 2 : 1), {
      deadlineMs: 5000,
      what: 'the files to be deleted',
    });
    expect(provider.deleted).toContain(sent);
    expect(new Set(provider.deleted).size).toBe(provider.deleted.length);
  });

  it('leaves no file at a provider that refuses its batch, and waits for no deletion', async () => {
    provider.onRequest = (method, path) => {
      if (method === 'DELETE') return 503;
      return method === 'POST' && path === '/v1/batches' ? 404 : undefined;
    };
    expect((await awaitEnd(parts, await submit('hello'), tenant)).output).toBe('Directly');
    provider.onRequest = (method, path) => (method === 'POST' && path === '/v1/batches' ? 404 : undefined);
    expect((await awaitEnd(parts, await submit('again'), tenant)).output).toBe('Directly');
    await waitFor(() => provider.deleted.length === 1, { deadlineMs: 5000, what: 'the file to be deleted' });
  });

  it('calls directly what the batch refuses', async () => {
    provider.refuses = (prompt) => prompt === 'odd';
    const [odd, plain] = [await submit('odd'), await submit('plain')];
    expect((await awaitEnd(parts, odd, tenant)).output).toBe('Directly');
    expect((await awaitEnd(parts, plain, tenant)).output).toBe(BATCH_ANSWER);
    expect(provider.direct).toEqual(['odd']);
    expect((await answerOf(odd)).reason).toBe('the batch refused the call with 400: This request is too odd');
  });

  it.each(['failed', 'expired', 'cancelled'])('calls directly what is in a batch that has %s', async (outcome) => {
    provider.outcome = outcome;
    const id = await submit('hello');
    expect((await awaitEnd(parts, id, tenant)).output).toBe('Directly');
    expect((await answerOf(id)).reason).toContain(outcome === 'failed' ? 'Mock batch failure' : `the batch ended as ${outcome}`);
  });

  it('calls directly when the provider takes no batches', async () => {
    provider.onRequest = (method, path) => (method === 'POST' && path === '/v1/batches' ? 404 : undefined);
    const id = await submit('hello');
    expect((await awaitEnd(parts, id, tenant)).output).toBe('Directly');
    expect(provider.batches).toEqual([]);
  });

  it('tries again when the provider is away for a moment', async () => {
    let failures = 2;
    provider.onRequest = (method) => (method === 'POST' && failures > 0 ? ((failures -= 1), 503) : undefined);
    const id = await submit('hello');
    expect((await awaitEnd(parts, id, tenant)).output).toBe(BATCH_ANSWER);
    expect(provider.batches).toHaveLength(1);
  });

  it.each(['/v1/files', '/v1/batches'])('is sent once where the reply of %s was lost, as by a kill', async (lost) => {
    let losses = 1;
    provider.losesReply = (method, path) => method === 'POST' && path === lost && losses-- > 0;
    const id = await submit('hello');
    expect((await awaitEnd(parts, id, tenant)).output).toBe(BATCH_ANSWER);
    expect(losses).toBeLessThan(1);
    expect([provider.files.size, provider.batches.length, provider.direct]).toEqual([1, 1, []]);
  });

  it('calls directly once its time is short, and cancels the batch that nobody waits for', async () => {
    provider.isHolding = true;
    const id = await submit('hello', '2s');
    await waitFor(() => provider.batches.length === 1, { deadlineMs: 10_000, what: 'the batch' });
    const task = await awaitEnd(parts, id, tenant);
    expect(task.output).toBe('Directly');
    expect(task.state.usage).toMatchObject({ costMicroUsd: 4000 });
    expect((await answerOf(id)).reason).toBe('no batch answered in time');
    await waitFor(() => provider.batches[0]?.isCancelled, { deadlineMs: 10_000, what: 'the cancel' });
  });

  it('is called at once where its provider has no batches', async () => {
    const { id } = await acceptTask(parts, { tenant, agent: 'plain', input: 'hello', within: '24h' });
    expect((await awaitEnd(parts, id, tenant)).output).toBe('Directly');
    expect(provider.batches).toEqual([]);
  });

  it('has each call of a model with tools go by a batch', async () => {
    provider.answer = ({ messages }) => {
      if (messages.some(({ role }) => role === 'tool')) return { role: 'assistant', content: 'It is 4' };
      const call = { id: 'c1', type: 'function', function: { name: 'double', arguments: '{"n":2}' } };
      return { role: 'assistant', content: null, tool_calls: [call] };
    };
    const { id } = await acceptTask(parts, { tenant, agent: 'counting', input: 'twice two', within: '24h' });
    const task = await awaitEnd(parts, id, tenant);
    expect(task.output).toBe('It is 4');
    expect(provider.batches).toHaveLength(2);
    expect(provider.direct).toEqual([]);
    expect(task.state.usage).toMatchObject({ costMicroUsd: 4000 });
    const { entries } = await readJournal(parts.ledger, { tenant, id });
    expect(entries.map(({ kind }) => kind)).toEqual(['definition', 'batch', 'model', 'tool', 'batch', 'model']);
    expect(provider.batches[1]?.lines[0]?.body.messages.at(-1)).toMatchObject({ role: 'tool', content: '4' });
  });

  it('asks for the format of its request in the batch too', async () => {
    provider.answer = () => ({ role: 'assistant', content: '{"city":"Ulm"}' });
    const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false };
    const request = { kind: 'completion' as const, format: { schema, name: 'place' } };
    const { id } = await acceptTask(parts, { tenant, agent: 'model', input: 'Where?', within: '24h', request });
    expect((await awaitEnd(parts, id, tenant)).output).toBe('{"city":"Ulm"}');
    expect(provider.batches[0]?.lines[0]?.body).toMatchObject({
      response_format: { type: 'json_schema', json_schema: { name: 'place', schema } },
    });
    expect(provider.direct).toEqual([]);
  });

  it('is as long as the configuration says at least', async () => {
    await expect(submit('hello', '1ms')).rejects.toMatchObject({ code: 'request.invalid' });
  });
});

describe('a budget', () => {
  it('reserves the price of a batch while a call waits for it, and counts what it cost', async () => {
    await limit(100_000_000);
    provider.isHolding = true;
    const id = await submit('hello');
    await waitFor(() => provider.batches.length === 1, { deadlineMs: 10_000, what: 'the batch' });
    const { spent, reserved } = await spending();
    expect(spent).toBe(0);
    // 4096 tokens out at most, at half of $3000 for a million, and a few in.
    expect(reserved).toBeGreaterThan(4096 * 1500);
    expect(reserved).toBeLessThan(4096 * 1500 + 100_000);
    provider.isHolding = false;
    await awaitEnd(parts, id, tenant);
    expect(await spending()).toEqual({ spent: 2000, reserved: 0 });
  });

  it('has a call that it has too little left for go directly, with a smaller bound', async () => {
    await limit(1_500_000);
    const id = await submit('hello');
    expect((await awaitEnd(parts, id, tenant)).output).toBe('Directly');
    expect((await answerOf(id)).reason).toContain('budget');
    expect(await spending()).toEqual({ spent: 4000, reserved: 0 });
  });

  it('is left what a call reserved that is cancelled before it is sent', async () => {
    await limit(100_000_000);
    provider.onRequest = (method) => (method === 'POST' ? 503 : undefined);
    const id = await submit('hello');
    await awaitTask(parts, { id, tenant }, (task) => task.state.status === 'suspended', 'the run to wait');
    await waitFor(async () => (await spending()).reserved > 0, { deadlineMs: 5000, what: 'the reservation' });
    await cancelTask(parts.ledger, { tenant, id, lane: null }, 'no more');
    await waitFor(async () => (await spending()).reserved === 0, { deadlineMs: 10_000, what: 'what it reserved' });
    expect(await spending()).toEqual({ spent: 0, reserved: 0 });
  });
});

describe('a cancel', () => {
  it('has a batch cancelled of which nobody waits for anything', async () => {
    provider.isHolding = true;
    const id = await submit('hello');
    await waitFor(() => provider.batches.length === 1, { deadlineMs: 10_000, what: 'the batch' });
    await cancelTask(parts.ledger, { tenant, id, lane: null }, 'no more');
    await waitFor(() => provider.batches[0]?.isCancelled, { deadlineMs: 10_000, what: 'the cancel' });
    expect(provider.direct).toEqual([]);
  });

  it('throws the answer of a call away that was sent with others, and counts what it cost', async () => {
    provider.isHolding = true;
    const [stopped, other] = [await submit('stopped'), await submit('other')];
    await waitFor(() => provider.batches.flatMap(({ lines }) => lines).length === 2, { deadlineMs: 10_000, what: 'the batch' });
    await cancelTask(parts.ledger, { tenant, id: stopped, lane: null }, 'no more');
    provider.isHolding = false;
    await awaitEnd(parts, other, tenant);
    await waitFor(async () => (await costOfDay()) === 4000, { deadlineMs: 10_000, what: 'the cost of both' });
    const task = await readTask(parts.ledger, tenant, stopped);
    expect(task?.state.status).toBe('cancelled');
    const { entries } = await readJournal(parts.ledger, { tenant, id: stopped });
    expect(entries.at(-1)).toMatchObject({ kind: 'batch', usage: { costMicroUsd: 2000 } });
  });
});
