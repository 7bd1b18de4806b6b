import { describe, expect, it } from 'vitest';
import { cancelTask, expireDeadline } from '#shared/ledger/change-task.ts';
import { claimTask } from '#shared/ledger/claim/claim-task.ts';
import { readDue } from '#shared/ledger/grants/due-times.ts';
import { promoteDue } from '#shared/ledger/grants/promote-tasks.ts';
import { DONE, limitsOf, retry, TENANT } from '../support/test-ledger.ts';
import { useCheckedLedger } from '../support/use-ledger.ts';
import { storedState } from '../support/stored-states.ts';

const test = await useCheckedLedger();
const LANE = { name: 'session:s', limit: 1 };
const HOUR_MS = 3_600_000;
const inAnHour = (): number => Date.now() + HOUR_MS;
/** In the record only: the due set keeps the old time. */
const setPast = async (id: string): Promise<void> => {
  const { states } = test.keys.tenant(TENANT);
  const { due } = test.keys.shard(0);
  await test.redis.hset(states, id, storedState({ ...(await test.state(id)), notBefore: 1 }));
  await test.redis.zadd(due, 1, `${TENANT}/${id}`);
};

describe('reading what is due', () => {
  it('answers how long nothing is due', async () => {
    expect(await readDue(test.ledger, 0, 10)).toEqual({ tasks: [], nextInMs: null });
    await test.accepted({ scheduledFor: Date.now() + 60_000 });
    await test.accepted({ scheduledFor: inAnHour() });
    const { tasks, nextInMs } = await readDue(test.ledger, 0, 10);
    expect(tasks).toEqual([]);
    expect(nextInMs).toBeGreaterThan(58_000);
    expect(nextInMs).toBeLessThanOrEqual(60_000);
  });

  it('finds what is due, at most `max`', async () => {
    const ids = [await test.accepted({ scheduledFor: inAnHour() }), await test.accepted({ scheduledFor: inAnHour() })];
    for (const id of ids) await setPast(id);
    const all = await readDue(test.ledger, 0, 10);
    expect(all.tasks.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    expect((await readDue(test.ledger, 0, 1)).tasks).toHaveLength(1);
    await promoteDue(test.ledger, TENANT, ids);
  });
});

describe('a task whose time has come', () => {
  it('gets a ticket, once, whoever brings it on', async () => {
    const id = await test.accepted({ scheduledFor: inAnHour() });
    await setPast(id);
    const answers = await Promise.all([promoteDue(test.ledger, TENANT, [id]), promoteDue(test.rival, TENANT, [id])]);
    expect(
      answers
        .flat()
        .map(({ kind }) => kind)
        .toSorted(),
    ).toEqual(['gone', 'promoted']);
    expect(test.granted.map(({ task, number }) => [task, number])).toEqual([[id, 1]]);
    expect(await test.state(id)).toMatchObject({ status: 'queued', granted: true });
  });

  it('is promoted before it by force', async () => {
    const id = await test.accepted({ scheduledFor: inAnHour() });
    expect(await promoteDue(test.ledger, TENANT, [id])).toEqual([{ kind: 'early' }]);
    expect(await promoteDue(test.ledger, TENANT, [id], true)).toEqual([{ kind: 'promoted' }]);
  });

  it('waits for its lane and its caps like any other', async () => {
    test.limits = limitsOf({ running: 1 });
    const holder = await test.accepted({ lane: LANE });
    const [inLane, free] = [
      await test.accepted({ lane: LANE, scheduledFor: inAnHour() }),
      await test.accepted({ scheduledFor: inAnHour() }),
    ];
    expect(await promoteDue(test.ledger, TENANT, [inLane, free], true)).toEqual([{ kind: 'promoted' }, { kind: 'promoted' }]);
    expect([(await test.state(inLane)).gate, (await test.state(free)).gate]).toEqual(['lane', 'cap']);
    await test.completed(holder);
    expect(test.granted).toHaveLength(1);
  });

  it('goes on in the lane that it kept over its backoff', async () => {
    const held = await test.claimed(await test.accepted({ lane: LANE }));
    const next = await test.accepted({ lane: LANE });
    await test.settle(held, retry(HOUR_MS));
    expect(await promoteDue(test.ledger, TENANT, [held.id], true)).toEqual([{ kind: 'promoted' }]);
    expect((await test.state(next)).gate).toBe('lane');
    expect((await test.claim(held.id)).kind).toBe('claimed');
  });

  it('has one winner when it is claimed and brought on at once', async () => {
    const held = await test.claimed(await test.accepted());
    await test.settle(held, retry(HOUR_MS));
    await setPast(held.id);
    const [claim] = await Promise.all([claimTask(test.rival, held, 'w2'), promoteDue(test.ledger, TENANT, [held.id])]);
    expect(['parked', 'claimed']).toContain(claim.kind);
    if (claim.kind === 'parked') await test.settle(await test.claimed(held.id), DONE);
  });

  it('is forgotten when it ends before', async () => {
    const [cancelled, stale] = [
      await test.accepted({ scheduledFor: inAnHour() }),
      await test.accepted({ scheduledFor: inAnHour(), deadline: inAnHour() + 1 }),
    ];
    await cancelTask(test.ledger, await test.place(cancelled), 'no more');
    await test.makeDue(stale, 'deadline');
    await expireDeadline(test.ledger, await test.place(stale));
    expect(await test.redis.zcard(test.keys.shard(0).due)).toBe(0);
  });

  it('is not kept waiting by one whose record cannot be read', async () => {
    const [broken, id] = [await test.accepted({ scheduledFor: inAnHour() }), await test.accepted({ scheduledFor: inAnHour() })];
    await setPast(id);
    const { states } = test.keys.tenant(TENANT);
    const kept = (await test.redis.hget(states, broken)) ?? '';
    await test.redis.hset(states, broken, '{');
    const [failed, promoted] = await promoteDue(test.ledger, TENANT, [broken, id]);
    expect([failed?.kind, promoted]).toEqual(['failed', { kind: 'promoted' }]);
    await test.redis.hset(states, broken, kept);
  });

  it('that is gone is taken out of the list', async () => {
    await test.redis.zadd(test.keys.shard(0).due, 1, `${TENANT}/nobody`);
    expect(await promoteDue(test.ledger, TENANT, ['nobody'])).toEqual([{ kind: 'gone' }]);
    expect(await test.redis.zcard(test.keys.shard(0).due)).toBe(0);
  });
});
