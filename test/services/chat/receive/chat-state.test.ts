import { expect, it } from 'vitest';
import { ChatState } from '../../../../services/chat/receive/chat-state.ts';
import { useParts } from '../../../support/use-parts.ts';

const { redis } = await useParts();
const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

it('what people wrote is kept for the time of the operator, whatever an adapter asks for', async () => {
  const logger = { ...silent, child: () => logger } as unknown as ConstructorParameters<typeof ChatState>[0]['logger'];
  const state = new ChatState({ redis, keyPrefix: 'chat', logger, retentionMs: 5000, calls: { read: (work) => work() } });
  await state.connect();
  await state.appendToList('msg-history:thread', { text: 'hello' }, { maxLength: 100, ttlMs: 7 * 86_400_000 });
  const [key = ''] = await redis.keys('*msg-history*');
  expect(await redis.pttl(key)).toBeGreaterThan(0);
  expect(await redis.pttl(key)).toBeLessThanOrEqual(5000);
});
