import { expect, it } from 'vitest';
import { AlbumGatherer } from '../../../../services/chat/albums/album-gatherer.ts';
import { AlbumStore } from '../../../../services/chat/albums/album-store.ts';
import type { ChatMessage } from '../../../../services/chat/receive/chat-message.ts';
import { closeAfterTests } from '../../../support/close-after-tests.ts';
import { openTestParts } from '../../../support/open-test-parts.ts';
import { useRedis } from '../../../support/redis/use-redis.ts';

const { url } = await useRedis();
const { redis, keys, log } = closeAfterTests(await openTestParts({ redisUrl: url }));
const store = new AlbumStore({
  redis,
  keys: () => keys.tenant('default'),
  platform: 'telegram',
  waitMs: 60_000,
  maxParts: 3,
  keepMs: 60_000,
});

const album = { name: 'a', isGuess: false };
const part = (number: number): ChatMessage => ({
  key: `telegram:${number}`,
  session: 's',
  thread: 't',
  channel: 'c',
  user: 'u',
  userName: 'Ada',
  text: '',
  attachments: [`file ${number}`],
  sequence: number,
  isAddressed: true,
  mode: 'interrupt',
  album,
});

it('accepts a part that comes while its album is accepted as a message that stops nothing', async () => {
  const accepted: ChatMessage[] = [];
  const gatherer: AlbumGatherer = new AlbumGatherer({
    store,
    waitMs: 60_000,
    lateMs: 60_000,
    keepMs: 60_000,
    accept: async (message) => {
      accepted.push(message);
      if (accepted.length === 1) await gatherer.add(part(3), album);
    },
    now: () => Promise.resolve(Date.now()),
    log,
  });
  await gatherer.add(part(1), album);
  await gatherer.add(part(2), album);
  await gatherer.flush('s');
  await gatherer.flush('s');
  await gatherer.stop(1000);
  expect(accepted.map(({ attachments, mode }) => [attachments, mode])).toEqual([
    [['file 1', 'file 2'], 'interrupt'],
    [['file 3'], 'queue'],
  ]);
});
