import { afterEach, describe, expect, it } from 'vitest';
import { cancelTask, expireDeadline } from '#shared/ledger/change-task.ts';
import { endedMember, acknowledgeEnded, listEnded } from '#shared/ledger/ended-tasks.ts';
import { expireLease } from '#shared/execution/leases/expire-lease.ts';
import { takeInput } from '#shared/ledger/claim/take-input.ts';
import { DONE, retry, TENANT, type TaskWish } from './support/test-ledger.ts';
import { useLedger } from './support/use-ledger.ts';

const LANE = { name: 'session:s', limit: 1 };
const SUBSCRIBED: TaskWish = {
  reply: { platform: 'telegram', thread: '{}' },
  callbackUrl: 'http://127.0.0.1/',
  scheduleId: 'daily',
  parentWaits: true,
};

const test = await useLedger();
afterEach(async () => {
  // What was removed here would be missing in the data.
  await test.reset();
});

/** Each brings a task of this kind to an end by its own path, and returns its id. */
const ENDINGS: Record<string, (wish: TaskWish) => Promise<string>> = {
  'a result': async (wish) => {
    const id = await test.accepted(wish);
    await test.completed(id);
    return id;
  },
  'its last failure': async (wish) => {
    const held = await test.claimed(await test.accepted(wish));
    await test.settle(held, retry(null));
    return held.id;
  },
  'a cancel': async (wish) => {
    const id = await test.accepted(wish);
    await cancelTask(test.ledger, await test.place(id), 'no');
    return id;
  },
  'a worker that is gone': async (wish) => {
    const held = await test.claimed(await test.accepted({ ...wish, maxAttempts: 1 }));
    await test.endLease(held);
    await expireLease(test.ledger, held, { blame: 'guilty' });
    return held.id;
  },
  'a deadline that the watch saw': async (wish) => {
    const id = await test.accepted({ ...wish, deadline: Date.now() + 60_000 });
    await test.makeDue(id, 'deadline');
    await expireDeadline(test.ledger, await test.place(id));
    return id;
  },
  'a deadline that its claim saw': async (wish) => {
    const id = await test.accepted({ ...wish, deadline: Date.now() + 60_000 });
    await test.makeDue(id, 'deadline');
    await test.claim(id);
    return id;
  },
  'a message that took its place': async (wish) => {
    const id = await test.accepted({ ...wish, lane: LANE });
    await test.accepted({ lane: LANE, mode: 'interrupt' });
    return id;
  },
  'a lane that was taken': async (wish) => {
    await test.accepted({ lane: LANE });
    return await test.accepted({ ...wish, lane: LANE, mode: 'reject' });
  },
  'a run that took it': async (wish) => {
    const held = await test.claimed(await test.accepted({ lane: LANE, takesInput: true }));
    const id = await test.accepted({ ...wish, lane: LANE, takesInput: true, mode: 'steer' });
    await takeInput(test.ledger, held, 'steered', 1);
    return id;
  },
  'never having been wanted': async (wish) => await test.accepted({ ...wish, skip: 'the last one still runs' }),
};

describe.each(Object.entries(ENDINGS))('a task that ended by %s', (_how, end) => {
  it('goes to each subscriber, until it is acknowledged', async () => {
    const id = await end(SUBSCRIBED);
    for (const kind of ['reply', 'callback', 'run', 'parent'] as const) {
      const ended = await listEnded(test.ledger, 0, kind, 10);
      expect(ended).toMatchObject([{ tenant: TENANT, task: id }]);
      const at = ended[0]?.endedAt ?? 0;
      expect(at).toBe((await test.state(id)).completedAt);
      expect(ended[0]?.member).toBe(endedMember(kind, at, TENANT, id));
      if (kind !== 'run') await acknowledgeEnded(test.ledger, 0, [ended[0]?.member ?? '']);
    }
    expect(await listEnded(test.ledger, 0, 'callback', 10)).toEqual([]);
    expect(await listEnded(test.ledger, 0, 'run', 10)).toHaveLength(1);
  });

  it('has no notice without a subscriber', async () => {
    await end({});
    expect(await test.redis.exists(test.keys.shard(0).ended)).toBe(0);
  });
});

describe('ends with subscribers', () => {
  it('are listed by time, at most `limit`', async () => {
    const ids = [];
    for (let n = 0; n < 3; n += 1) ids.push(await ENDINGS['a result']?.(SUBSCRIBED));
    const listed = await listEnded(test.ledger, 0, 'reply', 2);
    expect(listed.map(({ task }) => task)).toEqual(ids.slice(0, 2));
  });

  it('are dropped once, and dropping none does nothing', async () => {
    await ENDINGS['a result']?.(SUBSCRIBED);
    const members = (await listEnded(test.ledger, 0, 'reply', 2)).map(({ member }) => member);
    await acknowledgeEnded(test.ledger, 0, members);
    await acknowledgeEnded(test.ledger, 0, members);
    await acknowledgeEnded(test.ledger, 0, []);
    expect(await listEnded(test.ledger, 0, 'reply', 2)).toEqual([]);
  });

  it('are none while a task goes on', async () => {
    const held = await test.claimed(await test.accepted(SUBSCRIBED));
    await test.settle(held, retry(0));
    expect(await test.redis.exists(test.keys.shard(0).ended)).toBe(0);
    await test.settle(await test.claimed(held.id), DONE);
    expect(await listEnded(test.ledger, 0, 'reply', 2)).toHaveLength(1);
  });
});
