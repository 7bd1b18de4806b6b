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

const gathererFor = (accept: (message: ChatMessage) => Promise<void>): AlbumGatherer =>
  new AlbumGatherer({ store, waitMs: 60_000, lateMs: 60_000, keepMs: 60_000, accept, now: () => Promise.resolve(Date.now()), log });

it('keeps the parts of an album that cannot be accepted now, for whoever tries next', async () => {
  const failing = gathererFor(() => Promise.reject(new Error('Redis is away')));
  await failing.add({ ...part(1), session: 'kept' }, album);
  await expect(failing.flush('kept')).rejects.toThrow('Redis is away');
  await failing.stop(1000);
  const accepted: ChatMessage[] = [];
  const next = gathererFor((message) => Promise.resolve(void accepted.push(message)));
  await next.flush('kept');
  await next.flush('kept');
  expect(accepted.map(({ key }) => key)).toEqual(['telegram:1']);
});

it('makes a message of each person, though the platform names both their albums alike', async () => {
  const accepted: ChatMessage[] = [];
  const gatherer = gathererFor((message) => Promise.resolve(void accepted.push(message)));
  await gatherer.add({ ...part(1), session: 'two' }, album);
  await gatherer.add({ ...part(2), session: 'two', user: 'v' }, album);
  await gatherer.flush('two');
  await gatherer.stop(1000);
  expect(accepted.map(({ user, attachments }) => [user, attachments])).toEqual([
    ['u', ['file 1']],
    ['v', ['file 2']],
  ]);
});

it('accepts a part that comes while its album is accepted as a message that stops nothing', async () => {
  const accepted: ChatMessage[] = [];
  const gatherer: AlbumGatherer = gathererFor(async (message) => {
    accepted.push(message);
    if (accepted.length === 1) await gatherer.add(part(3), album);
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
