import { describe, expect, it } from 'vitest';
import { reopenTask } from '#shared/ledger/change-task.ts';
import { settleAttempt } from '#shared/ledger/settle/settle-attempt.ts';
import { DONE, FAILURE, retry, TENANT } from '../support/test-ledger.ts';
import { useCheckedLedger } from '../support/use-ledger.ts';

const test = await useCheckedLedger();
const INSTEAD = { model: 'b', notes: ['a: it failed; b was called instead'] };

/** Per attempt: the model that answered instead, and how many notes. */
const noted = async (id: string): Promise<unknown[]> =>
  (await test.read(id)).attempts.map(({ model = null, notes = [] }) => [model, notes.length]);

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
