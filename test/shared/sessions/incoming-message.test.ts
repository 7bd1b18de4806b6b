import { expect, it } from 'vitest';
import { answerOnce } from '#shared/sessions/incoming-message.ts';
import { closeAfterTests } from '../../support/close-after-tests.ts';
import { openTestParts } from '../../support/open-test-parts.ts';
import { useRedis } from '../../support/redis/use-redis.ts';
import { waitFor } from '../../support/wait-for.ts';

const { url } = await useRedis();
const parts = closeAfterTests(await openTestParts({ redisUrl: url }));
const message = { key: 'once', digest: 'd' };
const key = parts.keys.tenant('default').command('once');

it('a command whose lock was lost leaves the lock and the answer of the next one alone', async () => {
  const [first, second] = [Promise.withResolvers<string>(), Promise.withResolvers<string>()];
  const act = (by: PromiseWithResolvers<string>): Promise<string> => answerOnce(parts.ledger, 'default', message, () => by.promise);
  const isHeld = async (): Promise<boolean> => (await parts.redis.exists(key)) === 1;
  const one = act(first);
  one.catch(() => undefined);
  await waitFor(isHeld, { deadlineMs: 5000, what: 'the first lock' });
  await parts.redis.del(key);
  const other = act(second);
  await waitFor(isHeld, { deadlineMs: 5000, what: 'the second lock' });
  first.reject(new Error('frozen too long'));
  await expect(one).rejects.toThrow('frozen');
  expect(await isHeld()).toBe(true);
  second.resolve('Done by the second');
  expect(await other).toBe('Done by the second');
  expect(await answerOnce(parts.ledger, 'default', message, () => Promise.resolve('Again'))).toBe('Done by the second');
});

it('a command that takes longer than its lock runs once', async () => {
  const slow = Promise.withResolvers<string>();
  const own = { key: 'slow', digest: 'd' };
  const first = answerOnce(parts.ledger, 'default', own, () => slow.promise);
  const slowKey = parts.keys.tenant('default').command('slow');
  await waitFor(async () => (await parts.redis.pttl(slowKey)) > 0, { deadlineMs: 5000, what: 'the lock' });
  await parts.redis.pexpire(slowKey, 2500);
  await waitFor(async () => (await parts.redis.pttl(slowKey)) > 4000, { deadlineMs: 5000, what: 'the lock to be renewed' });
  const second = answerOnce(parts.ledger, 'default', own, () => Promise.resolve('Twice'));
  slow.resolve('Once');
  expect(await Promise.all([first, second])).toEqual(['Once', 'Once']);
});

it('a command that several processes get at the same moment runs in one of them', async () => {
  let runs = 0;
  const act = async (): Promise<string> => {
    runs += 1;
    return await Promise.resolve(`Run ${runs}`);
  };
  const own = { key: 'together', digest: 'd' };
  const answers = await Promise.all(Array.from({ length: 5 }, () => answerOnce(parts.ledger, 'default', own, act)));
  expect(answers).toEqual(answers.map(() => 'Run 1'));
  expect(runs).toBe(1);
});
