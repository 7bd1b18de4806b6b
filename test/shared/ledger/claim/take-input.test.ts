import { describe, expect, it } from 'vitest';
import { cancelTask } from '#shared/ledger/change-task.ts';
import { readInputs, takeInput } from '#shared/ledger/claim/take-input.ts';
import { settleAttempt } from '#shared/ledger/settle/settle-attempt.ts';
import type { Ledger } from '#shared/ledger/ledger.ts';
import { DONE, retry, TENANT, type Held, type TaskWish } from '../support/test-ledger.ts';
import { useCheckedLedger } from '../support/use-ledger.ts';

const LANE = { name: 'session:s', limit: 1 };
const STEER: TaskWish = { lane: LANE, takesInput: true, mode: 'steer' };
const COLLECT: TaskWish = { lane: LANE, mode: 'collect' };

const test = await useCheckedLedger({ routing: { queue: { collect: { debounceMs: 0, cap: 3 } } } });

const running = async (wish: TaskWish = STEER): Promise<Held> => await test.claimed(await test.accepted(wish));
const idsOf = (answer: Awaited<ReturnType<typeof takeInput>>): string[] =>
  answer.kind === 'taken' ? answer.inputs.map(({ id }) => id) : [];

describe('taking what was offered to a running task', () => {
  it('ends the messages as part of it, in order, and gives their texts', async () => {
    const held = await running();
    const ids = [
      await test.accepted({ ...STEER, input: 'one', user: null, callbackUrl: 'http://127.0.0.1/' }),
      await test.accepted({ ...STEER, input: 'two' }),
    ];
    const answer = await takeInput(test.ledger, held, 'steered', 10);
    expect(answer).toMatchObject({
      kind: 'taken',
      inputs: [
        { id: ids[0], text: 'one', user: null, how: 'steered' },
        { id: ids[1], text: 'two', user: null, how: 'steered' },
      ],
    });
    for (const id of ids) {
      expect(await test.state(id)).toMatchObject({ status: 'skipped', outcome: { kind: 'steered', taskId: held.id } });
      expect((await test.events(id)).at(-1)).toBe('task.skipped');
    }
    expect((await test.state(held.id)).inputs?.map(({ id }) => id)).toEqual(ids);
  });

  it('answers with the state that a settlement has to know', async () => {
    const held = await running();
    await test.accepted(STEER);
    const answer = await takeInput(test.ledger, held, 'steered', 10);
    const calls: string[] = [];
    const counting: Ledger = { ...test.ledger, run: (...call) => (calls.push(call[0]), test.ledger.run(...call)) };
    const stored = answer.kind === 'taken' ? answer.stored : '';
    const fresh: Ledger = { ...counting, batches: { add: async ({ run }, item) => (await run(fresh, [item], []))[0] as never } };
    expect(await settleAttempt(fresh, held, DONE, { stored, first: held.state, now: Date.now() })).toMatchObject({ status: 'completed' });
    expect(calls).toEqual(['settle-attempts']);
    expect((await test.state(held.id)).inputs).toHaveLength(1);
  });

  it('takes nothing where nothing was offered', async () => {
    const held = await running();
    await test.accepted({ lane: LANE });
    expect(await takeInput(test.ledger, held, 'steered', 10)).toMatchObject({ kind: 'taken', inputs: [] });
    const single = await running({ takesInput: true });
    expect(await takeInput(test.ledger, single, 'steered', 10)).toMatchObject({ kind: 'taken', inputs: [] });
  });

  it('takes those offered past others that wait, at most `max`, and the rest the next time', async () => {
    const held = await running();
    const other = await test.accepted({ lane: LANE });
    const ids = [await test.accepted(STEER), await test.accepted(STEER), await test.accepted(STEER)];
    expect(idsOf(await takeInput(test.ledger, held, 'steered', 2))).toEqual(ids.slice(0, 2));
    expect(idsOf(await takeInput(test.ledger, held, 'steered', 2))).toEqual(ids.slice(2));
    expect((await test.state(other)).gate).toBe('lane');
  });

  it('is refused under an old token, and to a task that ended', async () => {
    const old = await running();
    await test.settle(old, retry(0));
    const held = await test.claimed(old.id, 'w2');
    const id = await test.accepted(STEER);
    expect(await takeInput(test.ledger, old, 'steered', 10)).toEqual({ kind: 'lost' });
    expect((await test.state(id)).gate).toBe('steer');
    await test.settle(held, DONE);
    expect(await takeInput(test.ledger, held, 'steered', 10)).toEqual({ kind: 'lost' });
    expect(await takeInput(test.ledger, { ...held, id: 'nobody' }, 'steered', 10)).toEqual({ kind: 'lost' });
    expect(await takeInput(test.ledger, { ...held, tenant: 'other' }, 'steered', 10)).toEqual({ kind: 'lost' });
  });

  it('takes nothing for a task under a stop, so that it is the next turn', async () => {
    const held = await running();
    const id = await test.accepted(STEER);
    await cancelTask(test.ledger, held, 'no');
    expect(await takeInput(test.ledger, held, 'steered', 10)).toMatchObject({ kind: 'taken', inputs: [] });
    await test.settle(held, DONE);
    expect((await test.state(id)).status).toBe('queued');
  });

  it('gives a later attempt what an earlier one took, and what was not taken', async () => {
    const held = await running();
    await test.accepted({ ...STEER, input: 'one' });
    await takeInput(test.ledger, held, 'steered', 10);
    await test.accepted({ ...STEER, input: 'two' });
    await test.settle(held, retry(0));
    const again = await test.claimed(held.id, 'w2');
    expect((await readInputs(test.ledger, TENANT, again.state.inputs ?? [])).map(({ text }) => text)).toEqual(['one']);
    expect(await takeInput(test.ledger, again, 'steered', 10)).toMatchObject({ inputs: [{ text: 'two' }] });
  });

  it('answers the same to a call that the connection sends twice', async () => {
    const held = await running();
    const id = await test.accepted(STEER);
    const twice: Ledger = {
      ...test.ledger,
      run: async (...call) => {
        await test.ledger.run(...call);
        return await test.ledger.run(...call);
      },
    };
    expect(idsOf(await takeInput(twice, held, 'steered', 10))).toEqual([id]);
    expect((await test.state(held.id)).inputs).toHaveLength(1);
  });

  it('takes each once in a race, also against a cancel of it', async () => {
    for (let round = 0; round < 10; round += 1) {
      const held = await running();
      const ids = [await test.accepted(STEER), await test.accepted(STEER), await test.accepted(STEER)];
      const last = await test.place(ids[2] ?? '');
      const [one, two] = await Promise.all([
        takeInput(test.ledger, held, 'steered', 10),
        takeInput(test.rival, held, 'steered', 10),
        cancelTask(round % 2 ? test.ledger : test.rival, last, 'no'),
      ]);
      const taken = [...idsOf(one), ...idsOf(two)];
      expect(taken.toSorted()).toEqual([...new Set(taken)].toSorted());
      await test.settle(held, DONE);
      for (const id of ids) if ((await test.state(id)).status === 'queued') await test.completed(id);
      expect(await test.statuses(ids[0] ?? '', ids[1] ?? '')).toEqual(['skipped', 'skipped']);
    }
  });
});

/** Collected messages behind the first of them, which runs. */
const collected = async (...wishes: TaskWish[]): Promise<{ head: Held; ids: string[] }> => {
  const first = await running({ lane: LANE });
  const ids = [];
  for (const wish of [COLLECT, ...wishes]) ids.push(await test.accepted(wish));
  await test.settle(first, DONE);
  return { head: await test.claimed(ids[0] ?? ''), ids: ids.slice(1) };
};

describe('merging collected messages into one turn', () => {
  it('takes those behind it that are like it', async () => {
    const { head, ids } = await collected({ ...COLLECT, input: 'b' }, { ...COLLECT, input: 'c' });
    expect(await takeInput(test.ledger, head, 'merged', 10)).toMatchObject({
      inputs: [
        { id: ids[0], text: 'b', user: null, how: 'merged' },
        { id: ids[1], text: 'c', user: null, how: 'merged' },
      ],
    });
    expect(await test.state(ids[0] ?? '')).toMatchObject({ status: 'skipped', outcome: { kind: 'merged', taskId: head.id } });
  });

  it('ends at one that is not, and at `max`', async () => {
    const { head, ids } = await collected(COLLECT, { lane: LANE }, COLLECT);
    expect(idsOf(await takeInput(test.ledger, head, 'merged', 10))).toEqual(ids.slice(0, 1));
    expect(idsOf(await takeInput(test.ledger, head, 'merged', 10))).toEqual([]);
  });

  it.each([
    ['of another person', { user: 'ann' }],
    ['of a visitor', { visitor: 'key_1' }],
  ])('ends at one %s', async (_who, other) => {
    const { head } = await collected({ ...COLLECT, ...other }, COLLECT);
    expect(idsOf(await takeInput(test.ledger, head, 'merged', 10))).toEqual([]);
  });

  it('ends at one for another agent', async () => {
    const { head } = await collected({ ...COLLECT, agent: 'other' });
    expect(idsOf(await takeInput(test.ledger, head, 'merged', 10))).toEqual([]);
  });

  it('takes the notes about messages that were left out', async () => {
    const first = await running({ lane: LANE });
    await test.accepted({ ...COLLECT, input: 'gone' });
    const head = await test.accepted(COLLECT);
    for (let n = 0; n < 2; n += 1) await test.accepted(COLLECT);
    await test.settle(first, DONE);
    const held = await test.claimed(head);
    const answer = await takeInput(test.ledger, held, 'merged', 10);
    expect(idsOf(answer)).toHaveLength(2);
    expect((await test.state(head)).leftOut).toEqual(['gone']);
  });
});
