import { describe, expect, it } from 'vitest';
import { reopenTask } from '#shared/ledger/change-task.ts';
import { settleAttempt } from '#shared/ledger/settle/settle-attempt.ts';
import { taskRecord } from '#shared/tasks/task-record.ts';
import { DONE, FAILURE, retry, TENANT } from '../support/test-ledger.ts';
import { useCheckedLedger } from '../support/use-ledger.ts';

const test = await useCheckedLedger();
const INSTEAD = { model: 'b', notes: ['a: it failed; b was called instead'] };

/** Per attempt: the model that answered instead, and how many notes. */
const noted = async (id: string): Promise<unknown[]> =>
  (await test.read(id)).attempts.map(({ model = null, notes = [] }) => [model, notes.length]);

describe('how the answer of a model ended', () => {
  const usage = {
    inputTokens: 1,
    outputTokens: 2,
    costMicroUsd: null,
    byModel: { 'a b': { inputTokens: 1, outputTokens: 2, costMicroUsd: null } },
  };

  it.each([
    ['stop', false],
    ['length', true],
    ['content_filter', true],
    ['unknown', false],
  ] as const)('is %s in the record, whose isTruncated is %s, with usage and without', async (finishReason, isTruncated) => {
    for (const used of [usage, null]) {
      const held = await test.claimed(await test.accepted());
      const stored = (await test.redis.hget(test.keys.tenant(TENANT).states, held.id)) as string;
      const end = { kind: 'completed', output: 'done', result: null, usage: used, finishReason } as const;
      await settleAttempt(test.ledger, held, end, { stored, first: held.state, now: Date.now() });
      const { state, ...task } = await test.read(held.id);
      expect(taskRecord({ ...task, state })).toMatchObject({ status: 'completed', finishReason, isTruncated });
      expect(state.usage).toEqual(used ?? undefined);
    }
  });

  it('is null for an agent that does not say it', async () => {
    const id = await test.accepted();
    await test.completed(id);
    expect(taskRecord(await test.read(id))).toMatchObject({ finishReason: null, isTruncated: false });
  });
});

describe('a model that answered instead of another', () => {
  it('is known of the first attempt that completed, whose state is short without it', async () => {
    const held = await test.claimed(await test.accepted());
    const stored = (await test.redis.hget(test.keys.tenant(TENANT).states, held.id)) as string;
    await settleAttempt(test.ledger, held, { ...DONE, ...INSTEAD }, { stored, first: held.state, now: Date.now() });
    expect((await test.read(held.id)).attempts).toMatchObject([INSTEAD]);
  });

  it('is known of its own attempt only, also when the task is opened again', async () => {
    const id = await test.accepted();
    await test.settle(await test.claimed(id), { ...retry(0), ...INSTEAD });
    await test.settle(await test.claimed(id), { kind: 'failed', error: FAILURE, delayMs: 0, notes: INSTEAD.notes });
    await test.settle(await test.claimed(id), { kind: 'failed', error: FAILURE, delayMs: null, ...INSTEAD });
    const three = [
      ['b', 1],
      [null, 1],
      ['b', 1],
    ];
    expect(await noted(id)).toEqual(three);
    await reopenTask(test.ledger, await test.place(id));
    await test.settle(await test.claimed(id), DONE);
    expect(await noted(id)).toEqual([...three, [null, 0]]);
  });
});
