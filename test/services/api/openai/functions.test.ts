import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, isStepCount, streamText, tool } from 'ai';
import OpenAI from 'openai';
import type { ResponseStreamEvent } from 'openai/resources/responses/responses';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { startFakeModel } from '../../../support/agents/fake-model.ts';
import { closeAfterTests } from '../../../support/close-after-tests.ts';
import { useRedis } from '../../../support/redis/use-redis.ts';
import { useWorker } from '../../../support/use-worker.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { startApi } from '../support/start-api.ts';
import { useApi } from '../support/use-api.ts';

const fake = closeAfterTests(await startFakeModel());
const own = { kind: 'openai', model: 'gpt-test', baseUrl: fake.baseUrl, apiKey: 'k' } as const;
const looked: number[] = [];
const look = {
  description: 'Looks a town up.',
  input: z.object({ zip: z.number() }),
  run: ({ zip }: { zip: number }) => {
    looked.push(zip);
    return 'Bonn';
  },
};
const api = await useApi({ agents: { echo: { kind: 'echo' }, clerk: { ...own, tools: ['look'] }, plain: own }, tools: { look } });
await useWorker(api.parts);
/** Its runs wait for their callers for a second. */
const impatient = closeAfterTests(await startApi((await useRedis()).url, { agents: { hasty: own }, openai: { callerWaitMs: 1000 } }));
await useWorker(impatient.parts);
const client = new OpenAI({ baseURL: `${api.url}/openai/v1`, apiKey: api.key, maxRetries: 0 });

afterEach(() => {
  fake.mock.reset();
  looked.length = 0;
});

interface Call {
  name: string;
  input: object;
}

/** The model calls functions, a list for each of its steps, with a word before, and then says what it was given last. */
function script(...steps: Call[][]): void {
  fake.mock.on({ predicate: () => true }, ({ messages }) => {
    const step = messages.filter(({ role }) => role === 'assistant').length;
    const calls = (steps[step] ?? []).map(({ name, input }, at) => ({ name, id: `own-${step}-${at}`, arguments: JSON.stringify(input) }));
    if (calls.length > 0) return { content: `Step ${step + 1}.`, toolCalls: calls };
    const results = messages.filter(({ role }) => role === 'tool').map(({ content }) => (typeof content === 'string' ? content : ''));
    return { content: `So: ${results.join(', ')}` };
  });
}

const requests = (): { messages: { role: string; content: unknown }[]; tools?: object[]; tool_choice?: unknown }[] =>
  fake.mock.getRequests().map(({ body }) => body as never);

const weather = {
  name: 'weather',
  description: 'The weather of a town',
  parameters: { type: 'object', properties: { town: { type: 'string' } } },
};
const chatTools: OpenAI.ChatCompletionTool[] = [{ type: 'function', function: weather }];
const responseTools: OpenAI.Responses.FunctionTool[] = [{ type: 'function', ...weather, strict: false }];
const ask = { role: 'user', content: 'What about Bonn?' } as const;

const taskOf = (id: string): string => /[0-9A-Z]{26}/.exec(id)?.[0] ?? '';
const readTask = async (id: string): Promise<Record<string, unknown>> => (await api.call('GET', `/v1/tasks/${taskOf(id)}`)).body;
const countTasks = async (): Promise<number> => (await api.call('GET', '/v1/tasks?limit=200')).body.items.length;

async function readEvents(stream: AsyncIterable<ResponseStreamEvent>): Promise<ResponseStreamEvent[]> {
  const events: ResponseStreamEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

const totalOf = ({ usage }: OpenAI.ChatCompletion): number => usage?.total_tokens ?? 0;

/** The message of a completion, and its call. */
function calledIn({ choices: [choice] }: OpenAI.ChatCompletion): { message: OpenAI.ChatCompletionAssistantMessageParam; id: string } {
  const message = choice?.message as OpenAI.ChatCompletionAssistantMessageParam;
  return { message, id: message.tool_calls?.[0]?.id ?? '' };
}

describe('functions of the caller, in a chat', () => {
  it('are called by the caller while its run waits, and the run goes on with what they gave', async () => {
    script(
      [
        { name: 'look', input: { zip: 53_111 } },
        { name: 'weather', input: { town: 'Bonn' } },
      ],
      [{ name: 'weather', input: { town: 'Ulm' } }],
    );
    const before = await countTasks();
    const messages: OpenAI.ChatCompletionMessageParam[] = [ask];
    const first = await client.chat.completions.create({ model: 'clerk', messages, tools: chatTools });
    const [choice] = first.choices;
    const called = calledIn(first);
    expect(choice).toMatchObject({ finish_reason: 'tool_calls', message: { content: 'Step 1.' } });
    // What the agent has itself stays inside.
    expect(called.message.tool_calls).toMatchObject([{ type: 'function', function: { name: 'weather', arguments: '{"town":"Bonn"}' } }]);
    expect(looked).toEqual([53_111]);
    expect(await readTask(first.id)).toMatchObject({ status: 'suspended', gate: 'caller' });
    const { reasons } = (await api.call('GET', `/v1/tasks/${taskOf(first.id)}/why`)).body;
    expect(reasons).toMatchObject([{ gate: 'caller', detail: expect.stringContaining('weather') }]);

    messages.push(called.message, { role: 'tool', tool_call_id: called.id, content: 'sunny' });
    const second = await client.chat.completions.create({ model: 'clerk', messages, tools: chatTools });
    expect(second.id).not.toBe(first.id);
    expect(second.choices).toMatchObject([{ finish_reason: 'tool_calls', message: { content: 'Step 2.' } }]);
    const more = calledIn(second);
    messages.push(more.message, { role: 'tool', tool_call_id: more.id, content: 'rain' });
    const third = await client.chat.completions.create({ model: 'clerk', messages, tools: chatTools });
    expect(third.choices).toMatchObject([{ finish_reason: 'stop', message: { content: 'So: Bonn, sunny, rain' } }]);
    expect(await countTasks()).toBe(before + 1);
    expect(requests()).toHaveLength(3);
    // Each has used what its part of the run used.
    expect([first, second, third].map((each) => totalOf(each) > 0)).toEqual([true, true, true]);
    const { usage } = await readTask(first.id);
    const total = [first, second, third].reduce((sum, each) => sum + totalOf(each), 0);
    expect(usage).toMatchObject({ inputTokens: expect.any(Number) });
    const { inputTokens, outputTokens } = usage as { inputTokens: number; outputTokens: number };
    expect(total).toBe(inputTokens + outputTokens);
  });

  it('work through the helper of the client, also streamed', async () => {
    script([{ name: 'weather', input: { town: 'Bonn' } }], [{ name: 'weather', input: { town: 'Ulm' } }]);
    const towns: string[] = [];
    const run = client.chat.completions.runTools({
      model: 'plain',
      stream: true,
      messages: [ask],
      tools: [
        {
          type: 'function',
          function: {
            ...weather,
            parse: JSON.parse,
            function: ({ town }: { town: string }) => {
              towns.push(town);
              return `sunny in ${town}`;
            },
          },
        },
      ],
    });
    expect(await run.finalContent()).toBe('So: sunny in Bonn, sunny in Ulm');
    expect(towns).toEqual(['Bonn', 'Ulm']);
    expect(requests()).toHaveLength(3);
  });

  it('are asked for once, and answered once: the same outputs again give the same answer, others another task', async () => {
    script([
      { name: 'weather', input: { town: 'Bonn' } },
      { name: 'weather', input: { town: 'Ulm' } },
    ]);
    const first = await client.chat.completions.create({ model: 'plain', messages: [ask], tools: chatTools });
    const message = first.choices[0]?.message as OpenAI.ChatCompletionAssistantMessageParam;
    const [one, two] = (message.tool_calls ?? []).map(({ id }) => id);
    const answer = (outputs: [id: string | undefined, content: string][]): Promise<OpenAI.ChatCompletion> =>
      client.chat.completions.create({
        model: 'plain',
        tools: chatTools,
        messages: [ask, message, ...outputs.map(([id = '', content]) => ({ role: 'tool', tool_call_id: id, content }) as const)],
      });
    await expect(answer([[one, 'sunny']])).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining(`No tool output found for function call ${two}`),
    });
    const pair = await answer([
      [two, 'rain'],
      [one, 'sunny'],
    ]);
    expect(pair.choices[0]?.message.content).toBe('So: sunny, rain');
    const again = await answer([
      [one, 'sunny'],
      [two, 'rain'],
    ]);
    expect(again).toEqual(pair);
    const other = await answer([
      [one, 'snow'],
      [two, 'rain'],
    ]);
    expect(taskOf(other.id)).not.toBe(taskOf(first.id));
    expect(other.choices[0]?.message.content).toBe('So: snow, rain');
  });

  it('may be demanded of the model, and forbidden', async () => {
    fake.mock.on({ predicate: () => true }, ({ tools = [] }) =>
      tools.length === 0 ? { content: 'none' } : { toolCalls: [{ name: 'weather', arguments: '{}', id: 'own' }] },
    );
    await client.chat.completions.create({ model: 'plain', messages: [ask], tools: chatTools, tool_choice: 'required' });
    await client.chat.completions.create({
      model: 'plain',
      messages: [ask],
      tools: chatTools,
      tool_choice: { type: 'function', function: { name: 'weather' } },
    });
    await client.chat.completions.create({ model: 'plain', messages: [ask], tools: chatTools, tool_choice: 'none' });
    expect(requests().map(({ tool_choice: choice, tools }) => [choice, tools?.length ?? 0])).toEqual([
      ['required', 1],
      [{ type: 'function', function: { name: 'weather' } }, 1],
      [undefined, 0],
    ]);
    fake.mock.reset();
    script();
    await expect(
      client.chat.completions.create({ model: 'plain', messages: [ask], tools: chatTools, tool_choice: 'required' }),
    ).rejects.toMatchObject({ code: 'NO_ANSWER', message: expect.stringContaining('did not call') });
    await expect(
      client.chat.completions.create({
        model: 'plain',
        messages: [ask],
        tools: chatTools,
        tool_choice: { type: 'function', function: { name: 'gone' } },
      }),
    ).rejects.toMatchObject({ status: 400, param: 'tool_choice' });
    await expect(client.responses.create({ model: 'plain', input: 'x', tools: [{ type: 'web_search' }] })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('not served here'),
    });
  });

  it('are no more than a part of the history where the agent is no model', async () => {
    const { choices } = await client.chat.completions.create({ model: 'echo', messages: [ask], tools: chatTools });
    expect(choices[0]?.message.content).toBe('What about Bonn?');
  });
});

describe('functions of the caller, in responses', () => {
  it('are items of the output, and what they gave begins the next response', async () => {
    script([{ name: 'weather', input: { town: 'Bonn' } }]);
    const first = await client.responses.create({ model: 'plain', input: 'Bonn?', tools: responseTools });
    expect(first).toMatchObject({ status: 'completed', output_text: 'Step 1.', tools: [{ name: 'weather' }] });
    const call = first.output.find((item) => item.type === 'function_call');
    expect(call).toMatchObject({ name: 'weather', arguments: '{"town":"Bonn"}', status: 'completed' });
    await expect(client.responses.create({ model: 'plain', input: 'And?', previous_response_id: first.id })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining(`No tool output found for function call ${call?.call_id}`),
    });
    const output = { type: 'function_call_output', call_id: call?.call_id ?? '', output: 'sunny' } as const;
    const stream = client.responses.stream({ model: 'plain', input: [output], previous_response_id: first.id, tools: responseTools });
    const second = await stream.finalResponse();
    expect(second).toMatchObject({ output_text: 'So: sunny', previous_response_id: first.id });
    expect(taskOf(second.id)).toBe(taskOf(first.id));
    expect(await client.responses.retrieve(first.id)).toEqual(first);
    expect(await client.responses.retrieve(second.id)).toMatchObject({ id: second.id, output_text: 'So: sunny', status: 'completed' });
    const { data } = await client.responses.inputItems.list(second.id);
    expect(data).toMatchObject([{ type: 'function_call_output', call_id: call?.call_id, output: 'sunny' }]);
    // Too late for other outputs.
    await expect(
      client.responses.create({ model: 'plain', input: [{ ...output, output: 'snow' }], previous_response_id: first.id }),
    ).rejects.toMatchObject({ status: 400, message: expect.stringContaining('no run waits') });
  });

  it('have events with the same numbers for each reader', async () => {
    script([
      { name: 'weather', input: { town: 'Bonn' } },
      { name: 'weather', input: { town: 'Ulm' } },
    ]);
    const first = await readEvents(await client.responses.create({ model: 'plain', input: 'Both?', tools: responseTools, stream: true }));
    const done = first.at(-1);
    if (done?.type !== 'response.completed') throw new Error(`It ended with ${done?.type}`);
    const calls = done.response.output.filter((item) => item.type === 'function_call');
    expect(first.filter(({ type }) => type === 'response.function_call_arguments.done')).toHaveLength(2);
    const input = calls.map(({ call_id: id, name }) => ({ type: 'function_call_output', call_id: id, output: `${name} ok` }) as const);
    const second = await readEvents(await client.responses.create({ model: 'plain', input, tools: responseTools, stream: true }));
    const last = second.at(-1);
    if (last?.type !== 'response.completed') throw new Error(`It ended with ${last?.type}`);
    for (const [id, events] of [
      [done.response.id, first],
      [last.response.id, second],
    ] as const) {
      expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_event, at) => at));
      expect(await readEvents(await client.responses.retrieve(id, { stream: true }))).toEqual(events);
      expect(await readEvents(await client.responses.retrieve(id, { stream: true, starting_after: 3 }))).toEqual(events.slice(4));
    }
  });

  it('go on in the background for who asks for it', async () => {
    script([{ name: 'weather', input: { town: 'Bonn' } }]);
    const first = await client.responses.create({ model: 'plain', input: 'Bonn?', tools: responseTools });
    const call = first.output.find((item) => item.type === 'function_call');
    const second = await client.responses.create({
      model: 'plain',
      background: true,
      input: [{ type: 'function_call_output', call_id: call?.call_id ?? '', output: 'sunny' }],
    });
    expect(['queued', 'in_progress', 'completed']).toContain(second.status);
    expect(second.background).toBe(true);
    await waitFor(async () => (await client.responses.retrieve(second.id)).output_text === 'So: sunny', {
      deadlineMs: 5000,
      what: 'the end',
    });
  });
});

describe('functions of a caller who does not come back', () => {
  it('end the run with what it said, and their outputs are another task with all that was said before', async () => {
    script([{ name: 'weather', input: { town: 'Bonn' } }]);
    const hasty = new OpenAI({ baseURL: `${impatient.url}/openai/v1`, apiKey: impatient.key, maxRetries: 0 });
    const first = await hasty.chat.completions.create({ model: 'hasty', messages: [ask], tools: chatTools });
    const read = async (): Promise<Record<string, unknown>> => (await impatient.call('GET', `/v1/tasks/${taskOf(first.id)}`)).body;
    await waitFor(async () => (await read())['status'] === 'completed', { deadlineMs: 10_000, what: 'the end of the run' });
    expect(await read()).toMatchObject({ output: 'Step 1.', finishReason: 'tool_calls', error: null });
    const { message, id } = calledIn(first);
    const late = await hasty.chat.completions.create({
      model: 'hasty',
      messages: [ask, message, { role: 'tool', tool_call_id: id, content: 'sunny' }],
    });
    expect(late.choices[0]?.message.content).toBe('So: sunny');
    expect(taskOf(late.id)).not.toBe(taskOf(first.id));
  });
});

describe('the AI SDK', () => {
  const baseURL = `${api.url}/openai/v1`;
  const provider = createOpenAI({ baseURL, apiKey: api.key });
  const models = {
    responses: provider.responses('plain'),
    chat: provider.chat('plain'),
    compatible: createOpenAICompatible({ name: 'muster', baseURL, apiKey: api.key })('plain'),
  };

  it.each(Object.entries(models))('calls its tools in a loop, by %s', async (_name, model) => {
    const tools = {
      weather: tool({
        description: 'The weather of a town',
        inputSchema: z.object({ town: z.string() }),
        execute: ({ town }) => `sunny in ${town}`,
      }),
    };
    for (const isStreamed of [false, true]) {
      fake.mock.reset();
      script([{ name: 'weather', input: { town: 'Bonn' } }], [{ name: 'weather', input: { town: 'Ulm' } }]);
      const before = await countTasks();
      const options = { model, tools, prompt: 'Both?', stopWhen: isStepCount(5) };
      const text = isStreamed ? await streamText(options).text : (await generateText(options)).text;
      expect(text).toBe('So: sunny in Bonn, sunny in Ulm');
      expect(await countTasks()).toBe(before + 1);
      expect(requests()).toHaveLength(3);
    }
  });
});
