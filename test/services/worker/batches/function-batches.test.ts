import { generateText, isStepCount, streamText, tool } from 'ai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { readSpending } from '#shared/budgets/read-spending.ts';
import { budgetSchema } from '#shared/config/settings/budget-settings.ts';
import type { AgentFunction } from '#shared/config/define-config.ts';
import { cancelTask } from '#shared/ledger/change-task.ts';
import { readJournal } from '#shared/ledger/journal/read-journal.ts';
import type { Parts } from '#shared/lifecycle/open-parts.ts';
import type { Service } from '#shared/lifecycle/service.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
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
/** How often functions were begun. */
let runs = 0;

const redis = await useRedis();
const double = { description: 'Doubles.', input: z.object({ n: z.number() }), run: ({ n }: { n: number }) => n * 2 };

/** Functions under test, by the names of their agents. */
const functions = {
  asks: async ({ input }, { model, step }) => {
    runs += 1;
    const before = await step('before', () => `(${runs})`);
    const { text, usage } = await generateText({ model: model(), prompt: input });
    return `${before} ${text} ${usage.totalTokens}`;
  },
  streams: async ({ input }, { model, write }) => {
    for await (const piece of streamText({ model: model(), prompt: input }).textStream) write(piece);
  },
  together: async ({ input }, { model }) => {
    runs += 1;
    const texts = await Promise.all(input.split(' ').map(async (prompt) => (await generateText({ model: model(), prompt })).text));
    return texts.join(' ');
  },
  stepping: async ({ input }, { model, step }) =>
    await step('ask', async () => (await generateText({ model: model(), prompt: input })).text),
  looping: async ({ input }, { agent, write }) => write((await agent({ input, tools: { double } })).output ?? ''),
  tooling: async ({ input }, { model, step }) => {
    const tools = {
      double: tool({ description: 'Doubles.', inputSchema: z.object({ n: z.number() }), execute: ({ n }) => step('double', () => n * 2) }),
    };
    return (await generateText({ model: model(), prompt: input, tools, stopWhen: isStepCount(5) })).text;
  },
  changing: async (_task, { model }) => {
    runs += 1;
    return (await generateText({ model: model(), prompt: `run ${runs}` })).text;
  },
  drawing: async (_task, { model, now }) => (await generateText({ model: model(), prompt: `It is ${now()}` })).text,
} satisfies Record<string, AgentFunction>;

beforeAll(async () => {
  provider = await startBatchProvider();
  provider.model.mock.on({ predicate: () => true }, () => ({ content: 'Directly', usage: { prompt_tokens: 1, completion_tokens: 1 } }));
  const { baseUrl } = provider;
  parts = await openTestParts({
    redisUrl: redis.url,
    env: { OPENAI_BASE_URL: baseUrl, OPENAI_API_KEY: 'k', OPENAI_MODEL: 'small' },
    settings: {
      agents: {
        ...Object.fromEntries(Object.entries(functions).map(([name, run]) => [name, { kind: 'function', run }])),
        patient: { kind: 'function', run: functions.asks, within: '24h' },
      },
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
  runs = 0;
  provider.reset();
});

afterAll(async () => {
  await worker.stop(1000);
  await parts.close();
  await provider.close();
});

const submit = async (agent: string, input: string, within?: string): Promise<string> =>
  (await acceptTask(parts, { tenant, agent, input, ...(within !== undefined && { within }) })).id;

const kindsOf = async (id: string): Promise<string[]> => {
  const { entries } = await readJournal(parts.ledger, { tenant, id });
  return entries.map(({ kind }) => kind);
};

const linesSent = (): string[] => provider.batches.flatMap(({ lines }) => lines.map((line) => promptOf(line)));

describe('a call of a model by a function with `within`', () => {
  it('goes by a batch, at its price, and its function is replayed', async () => {
    const id = await submit('asks', 'hello', '24h');
    const task = await awaitEnd(parts, id, tenant);
    expect(task.state.error).toBeUndefined();
    expect(task.output).toBe(`(1) ${BATCH_ANSWER} 2`);
    expect(task.state).toMatchObject({ attempt: 1, usage: { inputTokens: 1, outputTokens: 1, costMicroUsd: 2000 } });
    expect(runs).toBe(2);
    expect(await kindsOf(id)).toEqual(['definition', 'step', 'batch', 'model']);
    expect(provider.batches[0]?.lines[0]).toMatchObject({
      custom_id: `${id}_3`,
      body: { model: 'small', messages: [{ role: 'user', content: 'hello' }] },
    });
    expect(provider.direct).toEqual([]);
  });

  it('goes so too where its agent has it, and directly without either', async () => {
    const [patient, plain] = [await submit('patient', 'one'), await submit('asks', 'two')];
    expect((await awaitEnd(parts, patient, tenant)).output).toContain(BATCH_ANSWER);
    expect((await awaitEnd(parts, plain, tenant)).output).toContain('Directly');
    expect([linesSent(), provider.direct]).toEqual([['one'], ['two']]);
  });

  it('is suspended at the gate `batch` meanwhile, and a budget reserves the price of the batch', async () => {
    const rule = { scope: 'tenant', per: 'total', hardMicroUsd: 100_000_000, atHard: 'deny' };
    await parts.budgets.put(tenant, 'all', budgetSchema.parse(rule));
    const spending = async (): Promise<object> => {
      const [budget] = await parts.budgets.of(tenant);
      if (!budget) throw new Error('There is no budget');
      const { spentMicroUsd, reservedMicroUsd } = await readSpending(parts, tenant, budget);
      return { spent: spentMicroUsd, reserved: reservedMicroUsd };
    };
    provider.isHolding = true;
    const id = await submit('asks', 'hello', '24h');
    const { state } = await awaitTask(parts, { id, tenant }, (task) => task.state.status === 'suspended', 'the run to wait');
    expect(state.hold).toEqual({ gate: 'batch', what: `${id}_3` });
    await waitFor(() => provider.batches.length === 1, { deadlineMs: 10_000, what: 'the batch' });
    // 4096 tokens out at most, at half of $3000 for a million, and ten in as they are estimated, at half of $1000.
    expect(await spending()).toEqual({ spent: 0, reserved: 4096 * 1500 + 10 * 500 });
    provider.isHolding = false;
    await awaitEnd(parts, id, tenant);
    expect(await spending()).toEqual({ spent: 2000, reserved: 0 });
  });

  it('is streamed as one piece', async () => {
    const id = await submit('streams', 'hello', '24h');
    expect((await awaitEnd(parts, id, tenant)).output).toBe(BATCH_ANSWER);
    expect(provider.direct).toEqual([]);
  });

  it('is made directly once, where the batch refuses it', async () => {
    provider.refuses = (prompt) => prompt === 'odd';
    const id = await submit('asks', 'odd', '24h');
    expect((await awaitEnd(parts, id, tenant)).output).toBe('(1) Directly 2');
    expect(provider.direct).toEqual(['odd']);
    expect(await kindsOf(id)).toEqual(['definition', 'step', 'batch', 'model']);
  });

  it('is made directly once its time is short', async () => {
    provider.isHolding = true;
    const id = await submit('asks', 'hello', '2s');
    const task = await awaitEnd(parts, id, tenant);
    expect(task.output).toBe('(1) Directly 2');
    expect(task.state.usage).toMatchObject({ costMicroUsd: 4000 });
  });

  it('is made directly within the work of a step', async () => {
    const id = await submit('stepping', 'hello', '24h');
    expect((await awaitEnd(parts, id, tenant)).output).toBe('Directly');
    expect(await kindsOf(id)).toEqual(['definition', 'step']);
  });

  it('has to be the same in each attempt', async () => {
    const task = await awaitEnd(parts, await submit('changing', 'x', '24h'), tenant);
    expect(task.state).toMatchObject({ status: 'permanently_failed', error: { code: 'JOURNAL_MISMATCH' } });
    expect(linesSent()).toEqual(['run 1']);
  });

  it('is that where it names the time that the run had there', async () => {
    expect((await awaitEnd(parts, await submit('drawing', 'x', '24h'), tenant)).output).toBe(BATCH_ANSWER);
    expect(linesSent()).toHaveLength(1);
  });
});

/** Calls `double` first. */
const doubles: BatchProvider['answer'] = ({ messages }) => {
  if (messages.some(({ role }) => role === 'tool')) return { role: 'assistant', content: 'It is 4' };
  const call = { id: 'c1', type: 'function', function: { name: 'double', arguments: '{"n":2}' } };
  return { role: 'assistant', content: null, tool_calls: [call] };
};

describe('a model with tools within a function with `within`', () => {
  it.each(['looping', 'tooling'])('has each of its calls go by a batch (%s)', async (agent) => {
    provider.answer = doubles;
    const id = await submit(agent, 'twice two', '24h');
    const task = await awaitEnd(parts, id, tenant);
    expect(task.output).toBe('It is 4');
    expect(task.state.usage).toMatchObject({ costMicroUsd: 4000 });
    expect(provider.batches).toHaveLength(2);
    expect(provider.direct).toEqual([]);
    const work = agent === 'looping' ? 'tool' : 'step';
    expect(await kindsOf(id)).toEqual(['definition', 'batch', 'model', work, 'batch', 'model']);
  });
});

describe('calls of a function at the same time', () => {
  it('go by batches together, and each gets its own answer', async () => {
    provider.answer = ({ messages }) => ({ role: 'assistant', content: `${String(messages.at(-1)?.content)}!` });
    const id = await submit('together', 'a b c b', '24h');
    const task = await awaitEnd(parts, id, tenant);
    expect(task.output).toBe('a! b! c! b!');
    expect(task.state.usage).toMatchObject({ inputTokens: 4, outputTokens: 4, costMicroUsd: 8000 });
    expect(linesSent().toSorted()).toEqual(['a', 'b', 'b', 'c']);
    expect(provider.batches).toHaveLength(1);
    expect(runs).toBe(2);
    expect(await kindsOf(id)).toEqual(['definition', 'batch', 'model', 'batch', 'model', 'batch', 'model', 'batch', 'model']);
  });

  it('are made directly alone where the batch refuses them', async () => {
    provider.refuses = (prompt) => prompt === 'odd';
    const id = await submit('together', 'a odd b', '24h');
    const task = await awaitEnd(parts, id, tenant);
    expect(task.output).toBe(`${BATCH_ANSWER} Directly ${BATCH_ANSWER}`);
    expect(provider.direct).toEqual(['odd']);
    expect(task.state.usage).toMatchObject({ costMicroUsd: 2000 + 4000 + 2000 });
    expect(runs).toBe(2);
  });

  it('are all made directly once their time is short', async () => {
    provider.isHolding = true;
    const id = await submit('together', 'a b', '2s');
    const task = await awaitEnd(parts, id, tenant);
    expect(task.output).toBe('Directly Directly');
    expect(provider.direct.toSorted()).toEqual(['a', 'b']);
    expect(task.state.usage).toMatchObject({ costMicroUsd: 8000 });
  });

  it('are left out where they are cancelled', async () => {
    provider.isHolding = true;
    const id = await submit('together', 'a b', '24h');
    await waitFor(() => provider.batches.length === 1, { deadlineMs: 10_000, what: 'the batch' });
    await cancelTask(parts.ledger, { tenant, id, lane: null }, 'no more');
    await waitFor(() => provider.batches[0]?.isCancelled, { deadlineMs: 10_000, what: 'the cancel' });
    expect(provider.direct).toEqual([]);
  });
});
