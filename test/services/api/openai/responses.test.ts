import { createOpenAI } from '@ai-sdk/openai';
import { generateText, type ModelMessage, streamText } from 'ai';
import OpenAI from 'openai';
import type { ResponseStreamEvent } from 'openai/resources/responses/responses';
import { describe, expect, it } from 'vitest';
import { startFakeModel } from '../../../support/agents/fake-model.ts';
import { closeAfterTests } from '../../../support/close-after-tests.ts';
import { useWorker } from '../../../support/use-worker.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { driveTasks } from '../support/drive-tasks.ts';
import { useApi } from '../support/use-api.ts';

const fake = closeAfterTests(await startFakeModel());
const api = await useApi({
  agents: {
    echo: { kind: 'echo' },
    assistant: { kind: 'openai', model: 'gpt-test', baseUrl: fake.baseUrl, apiKey: 'k', system: 'Be kind.' },
    // No worker of this test runs it.
    idle: { kind: 'daemon' },
  },
});
await useWorker(api.parts);
const drive = driveTasks(api.parts);
const baseURL = `${api.url}/openai/v1`;
const client = new OpenAI({ baseURL, apiKey: api.key, maxRetries: 0 });

const taskOf = (id: string): string => id.slice('resp_'.length, 'resp_'.length + 26);

async function readAll(stream: AsyncIterable<ResponseStreamEvent>): Promise<ResponseStreamEvent[]> {
  const events: ResponseStreamEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

/** What a model was called with last. */
function lastMessages(): { role: string; content: string }[] {
  const request = fake.mock.getLastRequest() as { body: unknown } | undefined;
  return (request?.body as { messages: { role: string; content: string }[] } | undefined)?.messages ?? [];
}

describe('a response', () => {
  it('is a task, with what it was requested with', async () => {
    const response = await client.responses.create({
      model: 'echo',
      input: 'one two',
      instructions: 'Be brief.',
      metadata: { order: '17' },
      max_output_tokens: 100,
    });
    expect(response).toMatchObject({
      object: 'response',
      status: 'completed',
      output_text: 'one two',
      instructions: 'Be brief.',
      metadata: { order: '17' },
      max_output_tokens: 100,
      error: null,
      output: [{ type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: 'one two' }] }],
    });
    expect((await api.call('GET', `/v1/tasks/${taskOf(response.id)}`)).body).toMatchObject({
      agent: 'echo',
      input: 'one two',
      system: 'Be brief.',
      metadata: { order: '17' },
      session: response.id,
    });
    expect(await client.responses.retrieve(response.id)).toEqual(response);
  });

  it('is made in the background for who asks for it, and for nobody else', async () => {
    const queued = await client.responses.create({ model: 'idle', input: 'later', background: true });
    expect(queued).toMatchObject({ status: 'queued', background: true, output: [], usage: null });
    await drive.complete(taskOf(queued.id), 'done');
    expect(await client.responses.retrieve(queued.id)).toMatchObject({ status: 'completed', output_text: 'done' });
    const streamed = await client.responses.create({ model: 'idle', input: 'now', stream: true });
    const reading = readAll(streamed);
    await waitFor(async () => (await api.call('GET', '/v1/tasks?agent=idle&status=queued')).body.items.length === 1, {
      deadlineMs: 5000,
      what: 'the task',
    });
    const [{ id }] = (await api.call('GET', '/v1/tasks?agent=idle&status=queued')).body.items;
    expect((await client.responses.retrieve(`resp_${id}`)).status).toBe('in_progress');
    await drive.complete(id, 'done');
    expect((await reading).map((event) => 'response' in event && event.response.status).filter(Boolean)).toEqual([
      'in_progress',
      'in_progress',
      'completed',
    ]);
  });

  it('that fails says why, also after its headers', async () => {
    const failing = client.responses.create({ model: 'idle', input: 'fails' });
    await waitFor(async () => (await api.call('GET', '/v1/tasks?agent=idle&status=queued')).body.items.length === 1, {
      deadlineMs: 5000,
      what: 'the task',
    });
    const [{ id }] = (await api.call('GET', '/v1/tasks?agent=idle&status=queued')).body.items;
    await drive.fail(id, null);
    expect(await failing).toMatchObject({ status: 'failed', output: [], error: { code: 'NETWORK_ERROR', message: 'the line was cut' } });
    await expect(readAll(await client.responses.retrieve(`resp_${id}`, { stream: true }))).resolves.toContainEqual(
      expect.objectContaining({ type: 'response.failed' }),
    );
  });

  it('can be cancelled, and removed', async () => {
    const { id } = await client.responses.create({ model: 'idle', input: 'stop', background: true });
    expect(await client.responses.cancel(id)).toMatchObject({ id, status: 'cancelled' });
    expect(await client.responses.cancel(id)).toMatchObject({ status: 'cancelled' });
    await client.responses.delete(id);
    await expect(client.responses.retrieve(id)).rejects.toMatchObject({ status: 404 });
    expect((await api.call('GET', `/v1/tasks/${taskOf(id)}`)).status).toBe(404);
    const open = await client.responses.create({ model: 'idle', input: 'stop', background: true });
    expect((await api.call('DELETE', `/openai/v1/responses/${open.id}`)).body).toEqual({ id: open.id, object: 'response', deleted: true });
  });

  it('is removed by its own key, and by those who operate', async () => {
    const { id } = await client.responses.create({ model: 'echo', input: 'mine' });
    const other = await api.keyOf('default', ['submit']);
    const remove = (key: string): Promise<unknown> =>
      api.call('DELETE', `/openai/v1/responses/${id}`, { key }).then(({ status }) => status);
    expect([await remove(other), await remove(api.key)]).toEqual([403, 200]);
  });

  it('that is not to be stored is found by nobody', async () => {
    const { id, output_text } = await client.responses.create({ model: 'echo', input: 'once', store: false });
    expect(output_text).toBe('once');
    await expect(client.responses.retrieve(id)).rejects.toMatchObject({ status: 404 });
    await expect(client.responses.create({ model: 'echo', input: 'x', previous_response_id: id })).rejects.toMatchObject({
      status: 400,
      param: 'previous_response_id',
    });
  });

  it('has its input as items, the last first', async () => {
    const { id } = await client.responses.create({
      model: 'echo',
      input: [
        { role: 'user', content: 'first' },
        { role: 'assistant', content: 'answer' },
        { role: 'user', content: [{ type: 'input_text', text: 'second' }] },
      ],
    });
    const texts: unknown[] = [];
    for await (const item of client.responses.inputItems.list(id, { limit: 2 })) if ('content' in item) texts.push(item.content);
    expect(texts).toMatchObject([[{ text: 'second' }], [{ text: 'answer' }], [{ text: 'first' }]]);
    const { data } = await client.responses.inputItems.list(id, { order: 'asc', limit: 1, include: ['reasoning.encrypted_content'] });
    expect(data).toMatchObject([{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'first' }] }]);
  });
});

describe('a stream of a response', () => {
  it('has the events of the protocol in their order, which the helper of the client checks', async () => {
    const stream = client.responses.stream({ model: 'echo', input: 'one two' });
    const events: ResponseStreamEvent[] = [];
    for await (const event of stream) events.push(event);
    expect(events.map(({ type }) => type)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ]);
    expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_event, at) => at));
    expect((await stream.finalResponse()).output_text).toBe('one two');
  });

  it('has the same numbers for who reads along, comes later, or comes when only the record is kept', async () => {
    const { id } = await client.responses.create({ model: 'idle', input: 'x', background: true });
    const along = readAll(await client.responses.retrieve(id, { stream: true }));
    const attempt = await drive.start(taskOf(id));
    await drive.write(attempt, 1, 1, 'one two ');
    await drive.write(attempt, 1, 2, 'three');
    await drive.end(attempt, 'one two three');
    const first = await along;
    const last = first.at(-1);
    expect(last).toMatchObject({
      type: 'response.completed',
      response: { output: [{ content: [{ text: 'one two three' }] }] },
    });
    expect(await readAll(await client.responses.retrieve(id, { stream: true }))).toEqual(first);
    await api.parts.redis.del(api.parts.keys.tenant('default').output(taskOf(id)));
    expect(await readAll(await client.responses.retrieve(id, { stream: true }))).toEqual(first);
    expect(await readAll(await client.responses.retrieve(id, { stream: true, starting_after: 5 }))).toEqual(first.slice(6));
    const resumed = client.responses.stream({ response_id: id, starting_after: 5 });
    const numbers: number[] = [];
    for await (const { sequence_number: number } of resumed) numbers.push(number);
    expect(numbers).toEqual(first.slice(6).map(({ sequence_number: number }) => number));
    expect((await resumed.finalResponse()).output_text).toBe('one two three');
  });

  it('begins another message where an attempt begins again with other words', async () => {
    const { id } = await client.responses.create({ model: 'idle', input: 'x', background: true });
    const attempt = await drive.start(taskOf(id));
    await drive.write(attempt, 1, 1, 'one two ');
    const along = client.responses.stream({ response_id: id });
    const texts: string[] = [];
    along.on('response.output_text.delta', ({ delta }) => texts.push(delta));
    await waitFor(() => texts.length > 0, { deadlineMs: 5000, what: 'the first word' });
    await drive.write(attempt, 1, 1, 'another answer');
    await drive.end(attempt, 'another answer');
    const final = await along.finalResponse();
    expect(final.output_text).toBe('another answer');
    const again = await readAll(await client.responses.retrieve(id, { stream: true }));
    const items = again.filter((event) => event.type === 'response.output_item.done').map(({ item }) => item);
    expect(items).toMatchObject([{ status: 'incomplete' }, { status: 'completed', content: [{ text: 'another answer' }] }]);
    expect(new Set(items.map((item) => item.id)).size).toBe(2);
  });

  it('of a cancelled response fails', async () => {
    const { id } = await client.responses.create({ model: 'idle', input: 'x', background: true });
    const along = readAll(await client.responses.retrieve(id, { stream: true }));
    await client.responses.cancel(id);
    expect((await along).at(-1)).toMatchObject({ type: 'response.failed', response: { status: 'cancelled' } });
  });
});

describe('responses that follow each other', () => {
  it('are turns of one session, and each knows those that lead to it', async () => {
    for (const [said, answered] of [
      ['I am Ada.', 'Hello Ada.'],
      ['Who am I?', 'You are Ada.'],
      ['And how old?', 'I do not know.'],
    ] as const)
      fake.mock.onMessage(said, { content: answered });
    const first = await client.responses.create({ model: 'assistant', input: 'I am Ada.' });
    const second = await client.responses.create({
      model: 'assistant',
      input: 'Who am I?',
      previous_response_id: first.id,
      instructions: 'In one sentence.',
    });
    expect(second).toMatchObject({ output_text: 'You are Ada.', previous_response_id: first.id });
    expect(lastMessages()).toEqual([
      { role: 'system', content: 'Be kind.\n\nIn one sentence.' },
      { role: 'user', content: 'I am Ada.' },
      { role: 'assistant', content: 'Hello Ada.' },
      { role: 'user', content: 'Who am I?' },
    ]);
    // From the first again: the second is no part of it, nor are its instructions.
    await client.responses.create({ model: 'assistant', input: 'And how old?', previous_response_id: first.id });
    expect(lastMessages().map(({ content }) => content)).toEqual(['Be kind.', 'I am Ada.', 'Hello Ada.', 'And how old?']);
    const { body } = await api.call('GET', `/v1/tasks?session=${first.id}`);
    expect(body.items).toHaveLength(3);
  });

  it('run one after the other', async () => {
    const first = await client.responses.create({ model: 'idle', input: 'a', background: true });
    const second = await client.responses.create({ model: 'echo', input: 'b', background: true, previous_response_id: first.id });
    expect((await api.call('GET', `/v1/tasks/${taskOf(second.id)}/why`)).body.reasons).toMatchObject([
      { gate: 'lane', taskId: taskOf(first.id) },
    ]);
    await drive.complete(taskOf(first.id), 'done');
    await waitFor(async () => (await client.responses.retrieve(second.id)).status === 'completed', {
      deadlineMs: 5000,
      what: 'the second',
    });
  });
});

describe('the AI SDK', () => {
  const model = createOpenAI({ baseURL, apiKey: api.key }).responses('assistant');

  it('generates, streams and refers to what was said before', async () => {
    fake.mock.onMessage('hello', { content: 'Hi there.' });
    fake.mock.onMessage('again', { content: 'Hi again.' });
    const messages: ModelMessage[] = [{ role: 'user', content: 'hello' }];
    const { text, response } = await generateText({ model, messages, instructions: 'Be brief.' });
    expect(text).toBe('Hi there.');
    messages.push(...response.messages, { role: 'user', content: 'again' });
    const streamed = streamText({ model, messages });
    expect(await streamed.text).toBe('Hi again.');
    expect(await streamed.finishReason).toBe('stop');
    expect(lastMessages()).toEqual([
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: 'hello' },
      { role: 'assistant', content: 'Hi there.' },
      { role: 'user', content: 'again' },
    ]);
  });

  it('brings pictures and files', async () => {
    fake.mock.onMessage('what are they?', { content: 'A dot and a note.' });
    const dot = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    const { text } = await generateText({
      model,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'what are they?' },
            { type: 'file', data: Buffer.from(dot, 'base64'), mediaType: 'image/png' },
            { type: 'file', data: Buffer.from('%PDF-1.4 a note'), mediaType: 'application/pdf', filename: 'note.pdf' },
          ],
        },
      ],
    });
    expect(text).toBe('A dot and a note.');
    const [task] = (await api.call('GET', '/v1/tasks?agent=assistant&limit=1')).body.items;
    expect(task.attachments).toMatchObject([
      { name: 'image.png', mediaType: 'image/png' },
      { name: 'note.pdf', mediaType: 'application/pdf' },
    ]);
  });
});
