import { describe, expect, it } from 'vitest';
import { claimTask } from '#shared/ledger/claim/claim-task.ts';
import { DONE, retry, TENANT, type TaskWish } from '../support/test-ledger.ts';
import { useCheckedLedger } from '../support/use-ledger.ts';

const LANE = { name: 'session:s', limit: 1 };
const COLLECT: TaskWish = { lane: LANE, mode: 'collect' };
const DEBOUNCE_MS = 50_000;
const LONGEST_MS = 500_000;

const test = await useCheckedLedger({ routing: { queue: { collect: { debounceMs: DEBOUNCE_MS, longestWaitMs: LONGEST_MS } } } });

/** Lets time pass for a task that waits or was granted: writes when it came as that much earlier. */
const age = async (id: string, ms: number): Promise<void> => {
  const { states } = test.keys.tenant(TENANT);
  const state = await test.state(id);
  await test.redis.hset(states, id, JSON.stringify({ ...state, createdAt: state.createdAt - ms, notBefore: undefined }));
  await test.redis.zrem(test.keys.shard(0).due, `${TENANT}/${id}`);
};
const due = async (id: string): Promise<number> => {
  const answer = await test.claim(id);
  return answer.kind === 'parked' ? ((await test.state(id)).notBefore ?? 0) : 0;
};
/** Collected messages whose lane has just become free. */
const collected = async (...wishes: TaskWish[]): Promise<string[]> => {
  const first = await test.claimed(await test.accepted({ lane: LANE }));
  const ids = [];
  for (const wish of wishes) ids.push(await test.accepted(wish));
  await test.settle(first, DONE);
  return ids;
};

describe('the claim of a collected message', () => {
  it('is early until the newest of its turn is old enough, and answers when', async () => {
    const [head = '', second = ''] = await collected(COLLECT, COLLECT);
    await age(head, DEBOUNCE_MS * 2);
    expect(await due(head)).toBe((await test.state(second)).createdAt + DEBOUNCE_MS);
    expect(await test.state(head)).toMatchObject({ gate: 'debounce', status: 'queued' });
    await age(second, DEBOUNCE_MS);
    await age(head, 0);
    expect((await test.claim(head)).kind).toBe('claimed');
    expect((await test.state(head)).gate).toBeUndefined();
  });

  it('waits for a message that came meanwhile', async () => {
    const [head = ''] = await collected(COLLECT);
    await age(head, DEBOUNCE_MS);
    const late = await test.accepted(COLLECT);
    expect(await due(head)).toBe((await test.state(late)).createdAt + DEBOUNCE_MS);
  });

  it('waits no longer than allowed since its lane became free', async () => {
    const [head = ''] = await collected(COLLECT);
    await test.redis.zadd(test.keys.tenant(TENANT).laneHeld(LANE.name), Date.now() - LONGEST_MS, head);
    expect((await test.claim(head)).kind).toBe('claimed');
  });

  it('does not wait for messages that are not of its turn', async () => {
    const [head = ''] = await collected(COLLECT, { ...COLLECT, agent: 'other' });
    await age(head, DEBOUNCE_MS);
    expect((await test.claim(head)).kind).toBe('claimed');
  });

  it('is at once when it did not have to wait for its lane', async () => {
    expect((await test.claim(await test.accepted(COLLECT))).kind).toBe('claimed');
  });

  it('is at once for a retry', async () => {
    const [head = ''] = await collected(COLLECT);
    await age(head, DEBOUNCE_MS);
    await test.settle(await test.claimed(head), retry(0));
    await test.accepted(COLLECT);
    expect((await test.claim(head)).kind).toBe('claimed');
  });

  it('has one winner when it is due', async () => {
    const [head = ''] = await collected(COLLECT);
    await age(head, DEBOUNCE_MS);
    const place = await test.place(head);
    const answers = await Promise.all([claimTask(test.ledger, place, 'w1'), claimTask(test.rival, place, 'w2')]);
    expect(answers.map(({ kind }) => kind).toSorted()).toEqual(['busy', 'claimed']);
  });
});
