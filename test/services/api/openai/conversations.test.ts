import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { startFakeModel } from '../../../support/agents/fake-model.ts';
import { closeAfterTests } from '../../../support/close-after-tests.ts';
import { useWorker } from '../../../support/use-worker.ts';
import { useApi } from '../support/use-api.ts';

const fake = closeAfterTests(await startFakeModel());
const api = await useApi({
  agents: { echo: { kind: 'echo' }, assistant: { kind: 'openai', model: 'gpt-test', baseUrl: fake.baseUrl, apiKey: 'k' } },
  openai: { maxConversations: 3, maxConversationItems: 5 },
});
await useWorker(api.parts);
const client = new OpenAI({ baseURL: `${api.url}/openai/v1`, apiKey: api.key, maxRetries: 0 });

/** Texts of items, or what they are. */
const textsOf = (items: readonly unknown[]): unknown[] =>
  items.map((item) => {
    const { type, content } = item as { type: string; content?: { text: string }[] };
    return content === undefined ? type : content.map(({ text }) => text).join('|');
  });

describe('a conversation', () => {
  it('is a session whose turns know each other, and what was added to it', async () => {
    for (const [said, answered] of [
      ['I am Ada.', 'Hello Ada.'],
      ['Who am I?', 'You are Ada.'],
    ] as const)
      fake.mock.onMessage(said, { content: answered });
    const conversation = await client.conversations.create({
      metadata: { topic: 'names' },
      items: [
        { type: 'message', role: 'user', content: 'Good morning' },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'To you too.', annotations: [] }] },
      ] as OpenAI.Responses.ResponseInputItem[],
    });
    expect(conversation).toMatchObject({ object: 'conversation', metadata: { topic: 'names' } });
    const first = await client.responses.create({ model: 'assistant', input: 'I am Ada.', conversation: conversation.id });
    expect(first.conversation).toEqual({ id: conversation.id });
    await client.conversations.items.create(conversation.id, { items: [{ type: 'message', role: 'user', content: 'By the way.' }] });
    await client.responses.create({ model: 'assistant', input: 'Who am I?', conversation: { id: conversation.id } });
    const request = fake.mock.getLastRequest() as { body: unknown } | undefined;
    const { messages } = request === undefined ? { messages: [] } : (request.body as { messages: { content: string }[] });
    expect(messages.map(({ content }) => content)).toEqual([
      'Good morning',
      'To you too.',
      'I am Ada.',
      'Hello Ada.',
      'By the way.',
      'Who am I?',
    ]);
    expect((await api.call('GET', `/v1/tasks?session=${conversation.id}`)).body.items).toHaveLength(2);

    const all: unknown[] = [];
    for await (const item of client.conversations.items.list(conversation.id, { order: 'asc', limit: 2 })) all.push(item);
    expect(textsOf(all)).toEqual(['Good morning', 'To you too.', 'I am Ada.', 'Hello Ada.', 'By the way.', 'Who am I?', 'You are Ada.']);
    const newest = await client.conversations.items.list(conversation.id, { limit: 3 });
    expect(textsOf(newest.data)).toEqual(['You are Ada.', 'Who am I?', 'By the way.']);
    const { id } = newest.data[0] as { id: string };
    expect(await client.conversations.items.retrieve(id, { conversation_id: conversation.id })).toEqual(newest.data[0]);
    await expect(client.conversations.items.delete(id, { conversation_id: conversation.id })).rejects.toMatchObject({ status: 400 });
    const { id: added } = newest.data[2] as { id: string };
    expect(await client.conversations.items.delete(added, { conversation_id: conversation.id })).toMatchObject({ id: conversation.id });
    expect((await client.conversations.items.list(conversation.id)).data).toHaveLength(6);
  });

  it('is read, changed and forgotten', async () => {
    const { id } = await client.conversations.create();
    expect(await client.conversations.update(id, { metadata: { a: 'b' } })).toMatchObject({ id, metadata: { a: 'b' } });
    expect(await client.conversations.retrieve(id)).toMatchObject({ id, metadata: { a: 'b' } });
    expect(await client.conversations.delete(id)).toEqual({ id, object: 'conversation.deleted', deleted: true });
    await expect(client.conversations.retrieve(id)).rejects.toMatchObject({ status: 404 });
    await expect(client.responses.create({ model: 'echo', input: 'x', conversation: id })).rejects.toMatchObject({ status: 404 });
  });

  it('is bounded, and so is how many there are', async () => {
    const { id } = await client.conversations.create();
    const add = (count: number): Promise<unknown> =>
      client.conversations.items.create(id, {
        items: Array.from({ length: count }, () => ({ type: 'message' as const, role: 'user' as const, content: 'x' })),
      });
    await add(3);
    await expect(add(3)).rejects.toMatchObject({ status: 413 });
    await expect(add(21)).rejects.toMatchObject({ status: 400, param: 'items' });
    expect((await client.conversations.items.list(id)).data).toHaveLength(3);
    const others = [await client.conversations.create(), await client.conversations.create(), await client.conversations.create()];
    await expect(client.conversations.retrieve(id)).rejects.toMatchObject({ status: 404 });
    expect(await Promise.all(others.map(async (each) => (await client.conversations.retrieve(each.id)).id))).toEqual(
      others.map((each) => each.id),
    );
  });
});
