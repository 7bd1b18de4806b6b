import { expect, it } from 'vitest';
import { createWorkerService } from '../../../services/worker/create-worker-service.ts';
import { closeAfterTests } from '../../support/close-after-tests.ts';
import { useRedis } from '../../support/redis/use-redis.ts';
import { waitFor } from '../../support/wait-for.ts';
import { environmentOf, startChat } from './running-chat.ts';
import { useFakePlatforms } from './use-chat.ts';

const redis = await useRedis();
const { telegram, ...others } = await useFakePlatforms();
const chat = closeAfterTests(
  await startChat(redis.url, environmentOf({ telegram, ...others }), {
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

const waitForFiles = async (chatId: string, count: number): Promise<unknown[]> => {
  const find = (): unknown[] => telegram.files.filter((file) => file.chat === chatId);
  await waitFor(() => find().length === count, { deadlineMs: 20_000, what: `${count} files in the chat` });
  return find();
};

it('Telegram gets the files of an answer after its text: pictures as photos, others as documents', async () => {
  await chat.post('telegram', telegram.personWrites({ text: 'Paint a cat', number: 1 }));
  expect(await waitForFiles('4001', 2)).toEqual([
    { method: 'sendPhoto', chat: '4001', name: 'cat.png', mediaType: 'image/png', text: 'a painted cat' },
    { method: 'sendDocument', chat: '4001', name: 'notes.txt', mediaType: 'text/plain', text: 'how I painted it' },
  ]);
  expect(telegram.shown.filter((message) => message.chat === '4001').map(({ text }) => text)).toEqual(['A cat.']);
  const methods = telegram.calls.map(({ path }) => path.replace(/.*\//, '')).filter((method) => method.startsWith('send'));
  expect(methods.filter((method) => method !== 'sendChatAction')).toEqual([expect.any(String), 'sendPhoto', 'sendDocument']);
});
