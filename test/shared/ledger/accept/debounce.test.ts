import { describe, expect, it } from 'vitest';
import { claimTask } from '#shared/ledger/claim/claim-task.ts';
import { takeInput } from '#shared/ledger/claim/take-input.ts';
import { DONE, retry, TENANT, type TaskWish } from '../support/test-ledger.ts';
import { useCheckedLedger } from '../support/use-ledger.ts';
import { storedState } from '../support/stored-states.ts';

const LANE = { name: 'session:s', limit: 1 };
const COLLECT: TaskWish = { lane: LANE, mode: 'collect' };
const DEBOUNCE_MS = 50_000;
const LONGEST_MS = 500_000;

const test = await useCheckedLedger({ routing: { queue: { collect: { debounceMs: DEBOUNCE_MS, longestWaitMs: LONGEST_MS } } } });

/** Lets time pass for a task that waits or was granted: writes when it came as that much earlier. */
const age = async (id: string, ms: number): Promise<void> => {
  const { states } = test.keys.tenant(TENANT);
  const state = await test.state(id);
  await test.redis.hset(states, id, storedState({ ...state, createdAt: state.createdAt - ms, notBefore: undefined }));
  const { due: dueKey, ready } = test.keys.shard(0);
  await test.redis.zrem(dueKey, `${TENANT}/${id}`);
  for (const text of await test.redis.zrange(ready, '0', '-1')) {
    if (!text.includes(`/${id}.`)) continue;
    await test.redis.zrem(ready, text);
    const createdAt = String(state.createdAt - ms).padStart(15, '0');
    await test.redis.zadd(ready, 0, text.replace(/\/\d{15}\//, `/${createdAt}/`));
  }
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

const ARRIVAL = { debounceMs: DEBOUNCE_MS, lateAfterMs: 600_000 };
const CHAT: TaskWish = { lane: LANE, mode: 'interrupt', arrival: ARRIVAL };
/** A chat's message that its person wrote so long ago. */
const written = (agoMs: number, wish: TaskWish = {}): TaskWish => ({
  ...CHAT,
  arrival: { ...ARRIVAL, sentAt: Date.now() - agoMs },
  ...wish,
});
/** A chat's message that runs, and was accepted longer ago than it waited. */
const runningChat = async (wish: TaskWish = CHAT): Promise<Awaited<ReturnType<typeof test.claimed>>> => {
  const id = await test.accepted(wish);
  await age(id, DEBOUNCE_MS * 2);
  return await test.claimed(id);
};
const outcomes = async (ids: readonly string[]): Promise<unknown[]> =>
  await Promise.all(ids.map(async (id) => (await test.state(id)).outcome ?? null));

describe('a chat’s message in mode interrupt', () => {
  it('waits for another before it begins, and becomes one turn with it', async () => {
    const head = await test.accepted(CHAT);
    expect(await due(head)).toBe((await test.state(head)).createdAt + DEBOUNCE_MS);
    const second = await test.accepted(CHAT);
    await age(head, 0);
    expect(await due(head)).toBe((await test.state(second)).createdAt + DEBOUNCE_MS);
    expect(await outcomes([head, second])).toEqual([null, null]);
    await age(second, DEBOUNCE_MS);
    await age(head, DEBOUNCE_MS);
    const held = await test.claimed(head);
    expect(await takeInput(test.ledger, held, 'merged', 19)).toMatchObject({ kind: 'taken', inputs: [{ id: second }] });
  });

  it('becomes one turn also when the one sent after it came first', async () => {
    const later = await test.accepted({ ...CHAT, lane: { ...LANE, order: 2 } });
    const earlier = await test.accepted({ ...CHAT, lane: { ...LANE, order: 1 } });
    expect(await outcomes([later, earlier])).toEqual([null, null]);
  });

  it('stops what runs, and gathers what comes while that is stopped', async () => {
    const held = await runningChat();
    const ids = [await test.accepted(written(0)), await test.accepted(written(0)), await test.accepted(CHAT)];
    expect((await test.state(held.id)).cancel).toMatchObject({ by: ids[0] });
    expect(await outcomes(ids)).toEqual([null, null, null]);
  });

  it.each<[string, () => TaskWish]>([
    ['is at once without a debounce', () => ({ ...CHAT, arrival: { ...ARRIVAL, debounceMs: 0 } })],
    ['is at once by the API', () => ({ lane: LANE, mode: 'interrupt' })],
  ])('%s', async (_what, wish) => {
    expect((await test.claim(await test.accepted(wish()))).kind).toBe('claimed');
  });

  it.each<[string, TaskWish]>([
    ['another person', { user: 'bob' }],
    ['another agent', { agent: 'other' }],
  ])('replaces a waiting message of %s, as without a debounce', async (_who, wish) => {
    const first = await test.accepted({ ...CHAT, ...wish });
    const id = await test.accepted(CHAT);
    expect(await outcomes([first, id])).toMatchObject([{ kind: 'superseded', taskId: id }, null]);
  });
});

describe('a chat’s message that comes late', () => {
  it.each<[string, number, boolean]>([
    ['written now', 0, true],
    ['written before what runs came', DEBOUNCE_MS * 2 + 5000, false],
    ['written longer ago than the bound', ARRIVAL.lateAfterMs + 1000, false],
    ['of a week ago, which Meta still sends', 7 * 86_400_000, false],
    ['with a time that no platform keeps a message for', 200 * 86_400_000, true],
    ['with a time to come', -60_000, true],
  ])('%s: what runs is stopped only when it was meant for it', async (_when, agoMs, isStopped) => {
    const held = await runningChat();
    const id = await test.accepted(written(agoMs));
    expect((await test.state(held.id)).cancel?.by).toBe(isStopped ? id : undefined);
    expect(await outcomes([id])).toEqual([null]);
  });

  it('stops what runs when nobody knows its time', async () => {
    const held = await runningChat();
    const id = await test.accepted(CHAT);
    expect((await test.state(held.id)).cancel?.by).toBe(id);
  });

  it('is one turn with the other fifteen, and none of them stops or replaces anything', async () => {
    const held = await runningChat();
    const ids = [];
    for (let number = 16; number > 0; number -= 1) ids.push(await test.accepted(written(3_600_000 + number * 1000)));
    expect((await test.state(held.id)).cancel).toBeUndefined();
    expect(await outcomes(ids)).toEqual(ids.map(() => null));
    await test.settle(held, DONE);
    const [head = '', ...others] = ids;
    for (const id of others) await age(id, DEBOUNCE_MS);
    await age(head, DEBOUNCE_MS);
    const answer = await takeInput(test.ledger, await test.claimed(head), 'merged', 19);
    expect(answer.kind === 'taken' && answer.inputs.map(({ id }) => id)).toEqual(others);
  });

  it('replaces nobody else’s waiting message', async () => {
    await runningChat();
    const others = await test.accepted(written(3_600_000, { user: 'bob' }));
    await test.accepted(written(3_600_000));
    expect(await outcomes([others])).toEqual([null]);
  });

  it('is dropped over the cap of a turn, with a line about it', async () => {
    await runningChat();
    const ids = [];
    for (let number = 0; number < 21; number += 1) ids.push(await test.accepted(written(3_600_000)));
    expect(await outcomes(ids.slice(0, 2))).toMatchObject([{ kind: 'dropped' }, null]);
    expect((await test.state(ids[1] ?? '')).leftOut).toEqual(['hello']);
  });
});
