import { expect, it } from 'vitest';
import { createWorkerService } from '../../../services/worker/create-worker-service.ts';
import { discordAttachment, discordId, discordMessage } from '../../support/chat/fake-discord.ts';
import { telegramUpdate } from '../../support/chat/fake-telegram.ts';
import { closeAfterTests } from '../../support/close-after-tests.ts';
import { startFakeHttpEndpoint } from '../../support/fake-http-endpoint.ts';
import { useRedis } from '../../support/redis/use-redis.ts';
import { waitFor } from '../../support/wait-for.ts';
import { environmentOf, startChat } from './running-chat.ts';
import { useFakePlatforms } from './use-chat.ts';

const CHUNK = { id: 'x', object: 'chat.completion.chunk', created: 1, model: 'vision' };
const ANSWER = { ...CHUNK, choices: [{ index: 0, delta: { role: 'assistant', content: 'A cat.' }, finish_reason: 'stop' }] };

const model = closeAfterTests(
  await startFakeHttpEndpoint((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(`data: ${JSON.stringify(ANSWER)}\n\ndata: [DONE]\n\n`);
  }),
);
const redis = await useRedis();
const fakes = await useFakePlatforms();
const chat = closeAfterTests(
  await startChat(redis.url, environmentOf(fakes), {
    agents: { vision: { kind: 'openai', model: 'vision', baseUrl: `${model.url}/v1`, apiKey: 'k' } },
    routing: { agent: 'vision' },
    files: { maxFileBytes: 1000 },
  }),
);
const worker = createWorkerService(chat.parts);
await worker.start();
closeAfterTests({ close: () => worker.stop(500) });

/** As https://core.telegram.org/bots/api#message has it: a photo in several sizes, the largest last. */
const photo = (number: number, bytes: number): ReturnType<typeof telegramUpdate> =>
  telegramUpdate({
    update_id: 8000 + number,
    message: {
      message_id: number,
      date: 1_777_000_000,
      chat: { id: 4001, type: 'private', first_name: 'Ada' },
      from: { id: 4001, is_bot: false, first_name: 'Ada' },
      caption: `What is this? ${number}`,
      photo: [
        { file_id: 'small', file_unique_id: 's', width: 90, height: 90, file_size: 10 },
        { file_id: 'large', file_unique_id: 'l', width: 800, height: 800, file_size: bytes },
      ],
    },
  });

async function askedFor(text: string): Promise<unknown> {
  const find = (): string | undefined => model.requests.find(({ body }) => body.includes(text))?.body;
  await waitFor(() => find() !== undefined, { deadlineMs: 10_000, what: 'a call of the model' });
  const { messages } = JSON.parse(find() ?? '{}') as { messages: { role: string; content: unknown }[] };
  return messages.findLast(({ role }) => role === 'user')?.content;
}

it('a photo that a person sends reaches the model as a part of the prompt', async () => {
  expect((await chat.post('telegram', photo(1, 500))).status).toBe(200);
  const bytes = Buffer.from('bytes of photos/large.jpg').toString('base64');
  expect(await askedFor('What is this? 1')).toEqual([
    { type: 'text', text: 'What is this? 1\n[attached image: image/jpeg]' },
    { type: 'image_url', image_url: { url: `data:image/jpeg;base64,${bytes}` } },
  ]);
});

it.each(['discord', 'slack', 'whatsapp'] as const)('a picture that a person sends on %s reaches the model with its bytes', async (name) => {
  const text = `What is on ${name}?`;
  const picture = { name: 'cat.png', mediaType: 'image/png', text: `bytes of a cat on ${name}` };
  const sent = fakes[name].personSends?.({ text, number: 31 }, picture);
  if (sent === undefined) throw new Error('expected an update with a file');
  expect((await chat.post(name, sent)).status).toBe(200);
  // WhatsApp gathers pictures that are sent together.
  expect(await askedFor(text)).toEqual([
    { type: 'text', text: expect.stringContaining('[attached image: ') },
    { type: 'image_url', image_url: { url: `data:image/png;base64,${Buffer.from(picture.text).toString('base64')}` } },
  ]);
});

it.each([
  ['on this machine', () => `${model.url}/secret.png`],
  ['in a private network', () => 'https://10.1.2.3/secret.png'],
])('an attachment %s, which is not the platform’s, is named only', async (where, urlOf) => {
  const attachment = discordAttachment('1', urlOf(), { name: 'secret.png', mediaType: 'image/png', text: 'x' });
  const author = { id: '78', username: 'eve', bot: false };
  const content = `Fetch what is ${where}`;
  const id = discordId(40 + where.length);
  expect(
    (await chat.post('discord', discordMessage({ id, channel_id: '4002', channel_type: 1, content, author, attachments: [attachment] })))
      .status,
  ).toBe(200);
  expect(await askedFor(content)).toEqual(expect.stringMatching(/^Fetch what is .*\n\[attached image: /));
  expect(model.requests.filter(({ path }) => path.includes('secret'))).toEqual([]);
});

it('a photo that is too large is named only, and its message counts', async () => {
  expect((await chat.post('telegram', photo(2, 1001))).status).toBe(200);
  expect(await askedFor('What is this? 2')).toBe('What is this? 2\n[attached image: image/jpeg]');
});
