import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, streamText } from 'ai';
import OpenAI, { RateLimitError } from 'openai';
import { describe, expect, it } from 'vitest';
import { waitFor } from '../../../support/wait-for.ts';
import { startApi } from '../support/start-api.ts';
import { useApi } from '../support/use-api.ts';
import { driveTasks } from '../support/drive-tasks.ts';
import { startFakeModel } from '../../../support/agents/fake-model.ts';
import { closeAfterTests } from '../../../support/close-after-tests.ts';
import { useWorker } from '../../../support/use-worker.ts';

const fake = closeAfterTests(await startFakeModel());
const agents = {
  echo: { kind: 'echo' },
  assistant: { kind: 'openai', model: 'gpt-test', baseUrl: fake.baseUrl, apiKey: 'k', system: 'Be kind.', maxOutputTokens: 500 },
  // No worker of this test runs it.
  idle: { kind: 'daemon' },
} as const;
const api = await useApi({ agents });
await useWorker(api.parts);
/** One call a minute of each key. */
const bounded = closeAfterTests(await startApi(api.parts.config.env.REDIS_URL, { limits: { httpPerMinute: 1 } }));
/** Its answers have their headers at once. */
const hasty = closeAfterTests(await startApi(api.parts.config.env.REDIS_URL, { agents, http: { awaitedHeadersMs: 50 } }));
const drive = driveTasks(api.parts);
const baseURL = `${api.url}/openai/v1`;
const client = new OpenAI({ baseURL, apiKey: api.key, maxRetries: 0 });
const say = (content: string): OpenAI.ChatCompletionMessageParam[] => [{ role: 'user', content }];

/** The tasks of the tenant, newest first. */
async function tasks(agent: string): Promise<{ id: string; input: string; system: string | null }[]> {
  return (await api.call('GET', `/v1/tasks?agent=${agent}`)).body.items;
}

const sendAgain = (headers: Record<string, string>, content: string): Promise<{ id: string }> =>
  client.chat.completions.create({ model: 'echo', messages: say(content) }, { headers }).then(({ id }) => ({ id }));

const failing = async (path: string, { key = api.key, body }: { key?: string | null; body?: unknown } = {}): Promise<unknown> => {
  const { status, body: answer, headers } = await api.call(body === undefined ? 'GET' : 'POST', `/openai/v1/${path}`, { key, body });
  return { status, ...answer.error, retry: headers.get('x-should-retry') };
};

async function readAll<Chunk>(chunks: AsyncIterable<Chunk>, use: (chunk: Chunk) => unknown = () => undefined): Promise<void> {
  for await (const chunk of chunks) use(chunk);
}

describe('a chat completion', () => {
  it('is a task, whose output is the answer of the agent', async () => {
    const completion = await client.chat.completions.create({ model: 'echo', messages: say('one two three'), metadata: { order: '17' } });
    expect(completion).toMatchObject({
      object: 'chat.completion',
      model: 'echo',
      choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'one two three', refusal: null } }],
      usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
    });
    const { body: task } = await api.call('GET', `/v1/tasks/${completion.id.replace('chatcmpl-', '')}`);
    expect(task).toMatchObject({ agent: 'echo', input: 'one two three', channel: 'openai', source: 'api', metadata: { order: '17' } });
    expect(Math.abs(completion.created - Date.now() / 1000)).toBeLessThan(60);
  });

  it('is streamed word by word, with its usage where that is asked for', async () => {
    const stream = client.chat.completions.stream({
      model: 'echo',
      messages: say('one two three'),
      stream_options: { include_usage: true },
    });
    const pieces: string[] = [];
    stream.on('content', (delta) => pieces.push(delta));
    expect(await stream.finalContent()).toBe('one two three');
    expect(pieces.filter((piece) => piece !== '')).toEqual(['one ', 'two ', 'three']);
    expect(await stream.totalUsage()).toMatchObject({ total_tokens: 0 });
  });

  it('gives a model the whole conversation, the instructions of both and the lower bound of tokens', async () => {
    fake.mock.onMessage('and now?', { content: 'Four.' });
    const completion = await client.chat.completions.create({
      model: 'assistant',
      max_completion_tokens: 50,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'two and two?' },
        { role: 'assistant', content: null, tool_calls: [{ id: 'c1', type: 'function', function: { name: 'add', arguments: '{"a":2}' } }] },
        { role: 'tool', tool_call_id: 'c1', content: '4' },
        { role: 'assistant', content: 'That is 4.' },
        { role: 'user', content: [{ type: 'text', text: 'and now?' }] },
      ],
    });
    expect(completion.choices[0]?.message.content).toBe('Four.');
    expect(completion.usage?.total_tokens).toBeGreaterThan(0);
    const body = fake.mock.getLastRequest()?.body as { messages: unknown[]; max_tokens: number };
    expect(body.max_tokens).toBe(50);
    expect(body.messages).toEqual([
      { role: 'system', content: 'Be kind.\n\nBe brief.' },
      { role: 'user', content: 'two and two?' },
      expect.objectContaining({
        role: 'assistant',
        tool_calls: [expect.objectContaining({ id: 'c1', function: { name: 'add', arguments: '{"a":2}' } })],
      }),
      { role: 'tool', tool_call_id: 'c1', content: '4' },
      { role: 'assistant', content: 'That is 4.' },
      { role: 'user', content: 'and now?' },
    ]);
    const [task] = await tasks('assistant');
    expect(task).toMatchObject({ input: 'and now?', system: 'Be brief.' });
  });

  it('brings pictures as files of the task', async () => {
    fake.mock.onMessage('what is it?', { content: 'A dot.' });
    const dot = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    const { choices } = await client.chat.completions.create({
      model: 'assistant',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'what is it?' },
            { type: 'image_url', image_url: { url: `data:image/png;base64,${dot}` } },
          ],
        },
      ],
    });
    expect(choices[0]?.message.content).toBe('A dot.');
    expect(JSON.stringify(fake.mock.getLastRequest()?.body)).toContain(dot);
    const [task] = await tasks('assistant');
    expect(task).toMatchObject({ attachments: [{ name: 'image.png', mediaType: 'image/png' }] });
  });

  it('works through the AI SDK, by both of its providers', async () => {
    for (const model of [
      createOpenAI({ baseURL, apiKey: api.key }).chat('echo'),
      createOpenAICompatible({ name: 'muster', baseURL, apiKey: api.key, includeUsage: true })('echo'),
    ]) {
      const { text, finishReason } = await generateText({ model, prompt: 'one two' });
      expect({ text, finishReason }).toEqual({ text: 'one two', finishReason: 'stop' });
      const streamed = streamText({ model, prompt: 'one two three' });
      const parts: string[] = [];
      for await (const part of streamed.textStream) parts.push(part);
      expect(parts).toEqual(['one ', 'two ', 'three']);
    }
  });

  it('that waits has its headers soon, and blanks until the answer', async () => {
    const asked = fetch(`${hasty.url}/openai/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${api.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'idle', messages: say('later') }),
    });
    // Without the end of the task.
    const response = await asked;
    expect(response.status).toBe(200);
    const [task] = await tasks('idle');
    await drive.complete(task?.id ?? '', 'at last');
    const text = await response.text();
    expect(text.startsWith(' ')).toBe(true);
    expect(JSON.parse(text)).toMatchObject({ choices: [{ message: { content: 'at last' } }] });
  });

  it('that fails is an error of the client, with the code of the task', async () => {
    const failed = client.chat.completions.create({ model: 'idle', messages: say('fails') });
    await waitFor(async () => (await tasks('idle'))[0]?.input === 'fails', { deadlineMs: 5000, what: 'the task' });
    await drive.fail((await tasks('idle'))[0]?.id ?? '', null);
    await expect(failed).rejects.toMatchObject({ status: 500, code: 'NETWORK_ERROR', type: 'server_error' });
    const streamed = await client.chat.completions.create({ model: 'idle', messages: say('fails too'), stream: true });
    await waitFor(async () => (await tasks('idle'))[0]?.input === 'fails too', { deadlineMs: 5000, what: 'the task' });
    await drive.fail((await tasks('idle'))[0]?.id ?? '', null);
    await expect(readAll(streamed)).rejects.toMatchObject({ code: 'NETWORK_ERROR' });
  });

  it('that is begun again with other words is an error of its stream, and no second half', async () => {
    const streamed = await client.chat.completions.create({ model: 'idle', messages: say('twice'), stream: true });
    const pieces: (string | null | undefined)[] = [];
    const read = readAll(streamed, ({ choices }) => pieces.push(choices[0]?.delta.content));
    await waitFor(async () => (await tasks('idle'))[0]?.input === 'twice', { deadlineMs: 5000, what: 'the task' });
    const id = (await tasks('idle'))[0]?.id ?? '';
    const attempt = await drive.start(id);
    await drive.write(attempt, 1, 1, 'one two ');
    await waitFor(() => pieces.includes('one '), { deadlineMs: 5000, what: 'the first word' });
    await drive.write(attempt, 1, 1, 'another text');
    await expect(read).rejects.toMatchObject({ code: 'answer_restarted' });
  });
});

describe('a request that comes again', () => {
  it('without a key is found by what the client says, and makes no second task', async () => {
    const first = await sendAgain({}, 'the same');
    const second = await sendAgain({}, 'the same');
    expect(second.id).not.toBe(first.id);
    expect(await sendAgain({ 'x-stainless-retry-count': '1' }, 'the same')).toEqual(second);
    expect((await sendAgain({ 'x-stainless-retry-count': '1' }, 'another')).id).not.toBe(second.id);
  });

  it('under a key gets the answer of the first, and another body is refused', async () => {
    const headers = { 'Idempotency-Key': 'k-1' };
    const first = await sendAgain(headers, 'keyed');
    expect(await sendAgain(headers, 'keyed')).toEqual(first);
    await expect(sendAgain(headers, 'other')).rejects.toMatchObject({ status: 409, code: 'task.idempotency-conflict' });
  });
});

describe('errors', () => {
  it('have the form of OpenAI, whatever refuses', async () => {
    expect(await failing('models', { key: null })).toMatchObject({
      status: 401,
      code: 'invalid_api_key',
      type: 'invalid_request_error',
      retry: 'false',
    });
    expect(await failing('models', { key: 'wrong' })).toMatchObject({ status: 401, code: 'invalid_api_key' });
    expect(await failing('nothing')).toMatchObject({ status: 404, code: 'request.not-found' });
    expect(await failing('chat/completions')).toMatchObject({ status: 405 });
    expect(await failing('models/gone')).toMatchObject({ status: 404, code: 'model_not_found', param: 'model' });
    expect(await failing('chat/completions', { body: '{' })).toMatchObject({ status: 400, code: 'request.malformed' });
    expect(await failing('chat/completions', { body: { model: 'gone', messages: say('x') } })).toMatchObject({
      status: 404,
      code: 'model_not_found',
    });
    expect(await failing('chat/completions', { body: { model: 'echo', messages: [] } })).toMatchObject({ status: 400, param: 'messages' });
    expect(await failing('chat/completions', { body: { model: 'echo', messages: say(' ') } })).toMatchObject({
      status: 400,
      param: 'messages',
    });
    expect(await failing('chat/completions', { body: { model: 'echo', messages: say('x'), n: 2 } })).toMatchObject({
      status: 400,
      param: 'n',
    });
    expect(await failing('chat/completions', { body: { model: 'echo', messages: say('x'.repeat(300_000)) } })).toMatchObject({
      status: 413,
    });
    expect(await failing('chat/completions', { body: 'x'.repeat(40_000_000) })).toMatchObject({ status: 413, code: 'request.too-large' });
    const reader = await api.keyOf('default', ['read']);
    expect(await failing('chat/completions', { key: reader, body: { model: 'echo', messages: say('x') } })).toMatchObject({ status: 403 });
  });

  it('tell the client when to come again', async () => {
    const apiKey = await bounded.keyOf('default', ['read']);
    const once = new OpenAI({ baseURL: `${bounded.url}/openai/v1`, apiKey, maxRetries: 0 });
    expect((await once.models.list()).data.map(({ id }) => id)).toContain('echo');
    const error = await once.models.list().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(RateLimitError);
    expect(error).toMatchObject({ status: 429, code: 'rate_limit_exceeded', type: 'rate_limit_error' });
    expect(Number((error as RateLimitError).headers?.get('retry-after'))).toBeGreaterThan(0);
  });
});
