import { generateText, streamText } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import { type AgentContext, type AgentFunction, defineAgent, TaskFailure } from '#shared/config/define-config.ts';
import { runAgent } from '#shared/agents/testing/run-agent.ts';

const summarize = defineAgent({
  name: 'summarize',
  input: z.object({ text: z.string(), words: z.number().default(3) }),
  output: z.object({ summary: z.string(), at: z.string() }),
  run: async ({ text, words }, { model, now, log, progress, write }) => {
    progress('asking', 50);
    log.info({ words }, 'asked');
    const { textStream } = streamText({ model: model(), system: 'Be brief.', prompt: `${words} words: ${text}` });
    let summary = '';
    for await (const part of textStream) {
      write(part);
      summary += part;
    }
    return { summary, at: new Date(now()).toISOString() };
  },
});

const ask: AgentFunction = async ({ input }, { model }) => (await generateText({ model: model('fast'), prompt: input })).text;

const busy = (): never => {
  throw new TaskFailure('THROTTLED', 'Come later');
};

const callsTool: AgentFunction = async ({ input }, { model }) => {
  const { toolCalls } = await generateText({
    model: model(),
    prompt: input,
    tools: { weather: { description: 'The weather', inputSchema: z.object({ town: z.string() }) } },
  });
  return { result: toolCalls.map(({ toolName, input: given }) => [toolName, given]) };
};

const handsOn: AgentFunction = async (task, { attachments, attach, history, input, reportUsage }) => {
  const [file] = attachments;
  await attach('copy.txt', (await file?.read()) ?? '', 'text/plain');
  await attach('copy.txt', 'again', 'text/plain');
  reportUsage({ inputTokens: 1, outputTokens: 2, costMicroUsd: 3 });
  return {
    result: [task.session, task.attempt, await input(), await input(), await history()],
    output: 'done',
    finishReason: 'length',
  };
};

const read = (input: unknown): string => (input === 'a' ? 'A' : busy());

const asks: AgentFunction = async (_task, { delegate, delegateAll }) => ({
  result: [
    await delegate<number[]>('plan', { topic: 'tea' }),
    ...(await delegateAll([
      ['read', 'a'],
      ['read', 'b'],
    ])),
  ],
});

const endless: AgentFunction = async () => await Promise.resolve({ result: { share: 1 / 0 } });

describe('runAgent', () => {
  it('gives sub-tasks what the test says, by agent', async () => {
    const { result } = await runAgent(asks, { input: 'x', delegates: { plan: (input) => [input], read } });
    expect(result).toEqual([
      { status: 'completed', output: '', result: [{ topic: 'tea' }], error: null },
      { status: 'completed', output: 'A', result: null, error: null },
      { status: 'permanently_failed', output: null, result: null, error: { code: 'THROTTLED', message: 'Come later' } },
    ]);
    const unknown = runAgent(asks, { input: 'x', delegates: { read } });
    await expect(unknown).rejects.toMatchObject({
      code: 'RESOURCE_NOT_FOUND',
      message: expect.stringContaining('expected it in delegates of runAgent, got read'),
    });
  });

  it('runs an agent with a clock and a model of the test, and says what it did', async () => {
    const ran = await runAgent(summarize, {
      input: { text: 'A long story' },
      clock: { now: () => 0 },
      models: { default: ({ prompt, system }) => ({ text: `${system} ${prompt}`, usage: { inputTokens: 5, outputTokens: 7 } }) },
    });
    expectTypeOf(ran.result).toEqualTypeOf<{ summary: string; at: string }>();
    expect(ran).toEqual({
      result: { summary: 'Be brief. 3 words: A long story', at: '1970-01-01T00:00:00.000Z' },
      output: 'Be brief. 3 words: A long story',
      written: ['Be brief. 3 word', 's: A long story'],
      progress: [{ note: 'asking', percent: 50 }],
      log: [{ level: 'info', at: '1970-01-01T00:00:00.000Z', message: 'asked', fields: { words: 3 } }],
      artifacts: [],
      usage: { inputTokens: 5, outputTokens: 7 },
      finishReason: null,
    });
  });

  it('takes models of the AI SDK, which can fail', async () => {
    const usage = { inputTokens: { total: 2, noCache: 2, cacheRead: 0, cacheWrite: 0 }, outputTokens: { total: 1, text: 1, reasoning: 0 } };
    const fast = new MockLanguageModelV4({
      doGenerate: { content: [{ type: 'text', text: 'yes' }], finishReason: { unified: 'stop', raw: 'stop' }, usage, warnings: [] },
    });
    expect(await runAgent(ask, { input: 'ok?', models: { fast } })).toMatchObject({
      output: 'yes',
      result: null,
      usage: { inputTokens: 2 },
    });
    await expect(runAgent(ask, { input: 'ok?', models: { fast: busy } })).rejects.toMatchObject({ code: 'THROTTLED' });
    await expect(runAgent(ask, { input: 'ok?' })).rejects.toThrow('asks for the model "fast": expected it in models of runAgent, got none');
  });

  it('answers a call of a tool for a model', async () => {
    const { result } = await runAgent(callsTool, {
      input: 'Rome',
      models: { default: ({ tools, prompt }) => ({ toolCalls: [{ name: tools[0] ?? '', input: { town: prompt } }] }) },
    });
    expect(result).toEqual([['weather', { town: 'Rome' }]]);
  });

  it('gives the task, files, messages and earlier turns, and keeps what it attaches', async () => {
    const ran = await runAgent(handsOn, {
      input: 'go',
      task: { session: 's', attempt: 2 },
      attachments: [{ name: 'a.txt', data: 'abc' }],
      messages: [['one', 'two']],
      history: [{ input: 'hi', output: 'hello' }],
    });
    expect(ran.result).toEqual([
      's',
      2,
      [
        { id: 'message-1', text: 'one', user: null, attachments: [] },
        { id: 'message-2', text: 'two', user: null, attachments: [] },
      ],
      [],
      [{ taskId: 'turn-1', input: 'hi', output: 'hello' }],
    ]);
    expect(ran.artifacts).toEqual([{ name: 'copy.txt', mediaType: 'text/plain', data: Buffer.from('again') }]);
    expect(ran).toMatchObject({ output: 'done', finishReason: 'length', usage: { inputTokens: 1, outputTokens: 2, costMicroUsd: 3 } });
  });

  it('refuses an input that its schema refuses, and a result that is no JSON', async () => {
    await expect(runAgent(summarize, { input: { text: 1 as never } })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: 'input.text: Invalid input: expected string, received number',
    });
    await expect(runAgent(endless, { input: 'x' })).rejects.toThrow('"share", which is no number in JSON');
  });

  it('ends with the reason of its signal, whatever the agent does', async () => {
    const stop = new AbortController();
    const running = runAgent(async () => await new Promise<never>(() => undefined), { input: 'x', signal: stop.signal });
    stop.abort(new Error('cancelled'));
    await expect(running).rejects.toThrow('cancelled');
  });
});

it('runs steps once, again where they have tries left, and gives what they return as JSON', async () => {
  let calls = 0;
  const agent = {
    run: async (_task: unknown, { step, once }: Pick<AgentContext, 'step' | 'once'>) => {
      const given = await step(
        'ask',
        () => {
          calls += 1;
          if (calls === 1) throw new Error('not yet');
          return { at: new Date(0), key: once('call') };
        },
        { retries: 1 },
      );
      return { result: given };
    },
  };
  const { result } = await runAgent(agent, { input: 'x' });
  expect({ result, calls }).toEqual({ result: { at: '1970-01-01T00:00:00.000Z', key: 'ask:call' }, calls: 2 });
});

const asking: AgentFunction = async (_task, context) => ({
  result: [
    await context.ask({ question: 'Go?', choices: ['yes', 'no'] }),
    await context.ask({ question: 'When?', schema: z.object({ at: z.string().transform((day) => `${day} 12:00`) }) }),
    await context.ask({ question: 'Why?', default: 'because' }),
    await context.ask({ question: 'Sure?' }),
  ],
});
const askingWrongly: AgentFunction = async (_task, context) => void (await context.ask({ question: 'Go?', choices: ['yes', 'yes'] }));

it('gives the answers of the test to its questions, by their choices and schemas, and their default where none is left', async () => {
  const ran = await runAgent(asking, { input: '', answers: ['yes', { at: '2026-05-01' }] });
  expect(ran.result).toEqual(['yes', { at: '2026-05-01 12:00' }, 'because', null]);
  await expect(runAgent(asking, { input: '', answers: ['maybe'] })).rejects.toThrow('expected one of yes, no');
  await expect(runAgent(askingWrongly, { input: '' })).rejects.toMatchObject({ code: 'AGENT_ERROR', isFinal: true });
});
