import { beforeEach, describe, expect, it } from 'vitest';
import { AlbumStore } from '../../../../services/chat/albums/album-store.ts';
import type { ChatMessage } from '../../../../services/chat/receive/chat-message.ts';
import { closeAfterTests } from '../../../support/close-after-tests.ts';
import { openTestParts } from '../../../support/open-test-parts.ts';
import { useRedis } from '../../../support/redis/use-redis.ts';

const { url } = await useRedis();
const { redis, keys } = closeAfterTests(await openTestParts({ redisUrl: url }));
const store = new AlbumStore({
  redis,
  keys: () => keys.tenant('default'),
  platform: 'telegram',
  waitMs: 60_000,
  maxParts: 3,
  keepMs: 60_000,
});
beforeEach(async () => void (await redis.flushall()));

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
});
const keysOf = (parts: readonly ChatMessage[] = []): string[] => parts.map(({ key }) => key).toSorted();

describe('the parts of an album', () => {
  it('are claimed when they are due or forced, and not before', async () => {
    expect(await store.claim('s', true)).toBeNull();
    await store.add(part(1), 'a', true);
    expect(await store.claim('s', false)).toBeNull();
    expect(keysOf((await store.claim('s', true))?.parts)).toEqual(['telegram:1']);
  });

  it('are due at once when there are as many as one message may have', async () => {
    for (const number of [1, 2, 3]) await store.add(part(number), 'a', true);
    expect(keysOf((await store.claim('s', false))?.parts)).toHaveLength(3);
  });

  it('are the same for two processes that claim them at once, whatever comes meanwhile, and are finished once', async () => {
    await store.add(part(1), 'a', true);
    const [one, other] = await Promise.all([store.claim('s', true), store.claim('s', true)]);
    await store.add(part(2), 'a', true);
    const third = await store.claim('s', true);
    expect(one).toEqual(other);
    expect(third).toEqual(one);
    if (one === null || other === null) throw new Error('expected parts');
    await Promise.all([store.finish(one, { a: 60_000 }), store.finish(other, { a: 60_000 })]);
    expect(keysOf((await store.claim('s', false))?.parts)).toEqual(['telegram:2']);
  });

  it('that are the next message by now are not finished by a process that is late with those before', async () => {
    await store.add(part(1), 'a', true);
    const late = await store.claim('s', true);
    if (late === null) throw new Error('expected parts');
    await store.finish(late, { a: 60_000 });
    await store.add(part(2), 'b', true);
    const next = await store.claim('s', true);
    await store.add(part(3), 'b', true);
    await store.finish(late, { a: 60_000 });
    expect(await store.claim('s', true)).toEqual(next);
  });

  it('are known when they come again, and late when their album was accepted without them', async () => {
    await store.add(part(1), 'a', true);
    const batch = await store.claim('s', true);
    if (batch === null) throw new Error('expected parts');
    await store.finish(batch, { a: 60_000 });
    expect(await store.add(part(1), 'a', true)).toBe('known');
    expect(await store.add(part(2), 'a', true)).toBe('late');
    expect(await store.add(part(2), 'a', false)).toBe('gathering');
    expect(await redis.exists(keys.tenant('default').albumBatch('s'))).toBe(0);
  });
});
