import { expect, it } from 'vitest';
import { createWorkerService } from '../../../services/worker/create-worker-service.ts';
import type { FakePlatform, ShownFile } from '../../support/chat/fake-platform.ts';
import { closeAfterTests } from '../../support/close-after-tests.ts';
import { useRedis } from '../../support/redis/use-redis.ts';
import { waitFor } from '../../support/wait-for.ts';
import { environmentOf, startChat } from './running-chat.ts';
import { useFakePlatforms } from './use-chat.ts';

const redis = await useRedis();
const fakes = await useFakePlatforms();
const { telegram, slack, discord, whatsapp } = fakes;
const chat = closeAfterTests(
  await startChat(redis.url, environmentOf(fakes), {
    agents: {
      painter: {
        kind: 'function',
        run: async (_task, { attach }) => {
          await attach('cat.png', 'a painted cat', 'image/png');
          await attach('notes.txt', 'how I painted it', 'text/plain');
          return 'A cat.';
        },
      },
    },
    routing: { agent: 'painter' },
  }),
);
const worker = createWorkerService(chat.parts);
await worker.start();
closeAfterTests({ close: () => worker.stop(500) });

const waitForFiles = async ({ files }: FakePlatform, chatId: string, count: number): Promise<ShownFile[]> => {
  const find = (): ShownFile[] => files.filter((file) => file.chat === chatId);
  await waitFor(() => find().length === count, { deadlineMs: 20_000, what: `${count} files in the chat` });
  return find();
};

it('Telegram gets the files of an answer after its text: pictures as photos, others as documents', async () => {
  await chat.post('telegram', telegram.personWrites({ text: 'Paint a cat', number: 1 }));
  expect(await waitForFiles(telegram, '4001', 2)).toEqual([
    { method: 'sendPhoto', chat: '4001', name: 'cat.png', mediaType: 'image/png', text: 'a painted cat' },
    { method: 'sendDocument', chat: '4001', name: 'notes.txt', mediaType: 'text/plain', text: 'how I painted it' },
  ]);
  expect(telegram.shown.filter((message) => message.chat === '4001').map(({ text }) => text)).toEqual(['A cat.']);
  const methods = telegram.calls.map(({ path }) => path.replace(/.*\//, '')).filter((method) => method.startsWith('send'));
  expect(methods.filter((method) => method !== 'sendChatAction')).toEqual([expect.any(String), 'sendPhoto', 'sendDocument']);
});

it('Slack gets the files of an answer by an upload', async () => {
  await chat.post('slack', slack.personWrites({ text: 'Paint a cat', number: 2 }));
  const files = await waitForFiles(slack, 'D4001', 2);
  expect(files.map(({ name, text }) => [name, text])).toEqual([
    ['cat.png', 'a painted cat'],
    ['notes.txt', 'how I painted it'],
  ]);
});

it('WhatsApp gets the files of an answer as media', async () => {
  await chat.post('whatsapp', whatsapp.personWrites({ text: 'Paint a cat', number: 3 }));
  const files = await waitForFiles(whatsapp, '16505551234', 2);
  expect(files.map(({ method, name, text }) => [method, name, text])).toEqual([
    ['image', 'cat.png', 'a painted cat'],
    ['document', 'notes.txt', 'how I painted it'],
  ]);
});

it('Discord gets the files of an answer as attachments of messages', async () => {
  await chat.post('discord', discord.personWrites({ text: 'Paint a cat', number: 4 }));
  expect(await waitForFiles(discord, '4001', 2)).toEqual([
    { method: 'messages', chat: '4001', name: 'cat.png', mediaType: 'image/png', text: 'a painted cat' },
    { method: 'messages', chat: '4001', name: 'notes.txt', mediaType: 'text/plain', text: 'how I painted it' },
  ]);
  const form = discord.calls.find(({ body }) => body['files[0]'] !== undefined);
  expect(form).toMatchObject({ path: '/channels/4001/messages', headers: { authorization: 'Bot discord-bot-token' } });
  expect(discord.shown.map(({ text }) => text)).toEqual(['A cat.']);
});
