import { beforeEach, expect, it } from 'vitest';
import { assertInstallation, createKeys, type Keys } from '#shared/redis/keys.ts';
import { useRedisClient } from '../../support/redis/use-redis.ts';

const redis = await useRedisClient();
beforeEach(() => redis.flushall());

const assertWith = (keys: Keys): Promise<void> => assertInstallation({ redis, keys });

it('an empty Redis is taken, and found again', async () => {
  const keys = createKeys(4);
  await assertWith(keys);
  await assertWith(keys);
  expect(await redis.keys('*')).toEqual([keys.fleet.installation]);
});

it('another number of shards is refused, with the number that is right', async () => {
  await assertWith(createKeys(4));
  await expect(assertWith(createKeys(1))).rejects.toMatchObject({
    code: 'config.invalid',
    message: expect.stringContaining('Set SHARDS=4,'),
  });
  await assertWith(createKeys(4));
});

it('of two that come first at once with different numbers, one is refused', async () => {
  const ends = await Promise.allSettled([assertWith(createKeys(1)), assertWith(createKeys(2))]);
  expect(ends.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
});

it.each([
  ['99 1', 'a newer'],
  ['0 1', 'an older'],
  ['what?', 'an older'],
])('data of another form is refused: %s', async (written, age) => {
  const keys = createKeys(1);
  await redis.set(keys.fleet.installation, written);
  await expect(assertWith(keys)).rejects.toMatchObject({
    code: 'config.invalid',
    message: expect.stringContaining(`written by ${age} Muster`),
  });
  expect(await redis.get(keys.fleet.installation)).toBe(written);
});
