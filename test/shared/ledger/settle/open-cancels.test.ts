import { describe, expect, it } from 'vitest';
import { cancelSubTask, cancelTask, type CancelAnswer } from '#shared/ledger/change-task.ts';
import { removeTask } from '#shared/ledger/ended-tasks.ts';
import { closeCancel, type OpenCancel, takeOpenCancel } from '#shared/ledger/settle/open-cancels.ts';
import { retry, TENANT } from '../support/test-ledger.ts';
import { useCheckedLedger } from '../support/use-ledger.ts';

const test = await useCheckedLedger();
const { openCancels } = test.keys.shard(0);

/** Later than any cancel of the test. */
const LATER = Date.now() + 3_600_000;

const childOf = async (parentTaskId: string): Promise<string> => await test.accepted({ parentTaskId, source: 'delegation' });
const cancel = async (id: string, reason = 'no', ledger = test.ledger): Promise<CancelAnswer> =>
  await cancelTask(ledger, await test.place(id), reason);
const entries = async (): Promise<string[]> => await test.redis.zrange(openCancels, '0', '-1');
const take = async (before = LATER, now = LATER + 1): Promise<OpenCancel | null> => await takeOpenCancel(test.ledger, 0, { before, now });

/** A task with a sub-task. */
async function parent(): Promise<string> {
  const id = await test.accepted();
  await childOf(id);
  return id;
}

describe('the cancel of a task', () => {
  it('stays open while it has sub-tasks that are to be cancelled with it', async () => {
    const id = await parent();
    expect(await cancel(id, 'a/b')).toEqual({ kind: 'cancelled', open: { tenant: TENANT, id, reason: 'a/b' } });
    expect(await entries()).toEqual([`${TENANT}/${id}/a/b`]);
    await closeCancel(test.ledger, { tenant: TENANT, id, reason: 'a/b' });
    expect(await entries()).toEqual([]);
  });

  it('stays open too while its worker has not obeyed yet', async () => {
    const id = await parent();
    await test.claimed(id);
    expect(await cancel(id)).toMatchObject({ kind: 'stopping', open: { id } });
    expect(await entries()).toHaveLength(1);
  });

  it('is done at once when it has none, also where another task has some', async () => {
    const [other, id] = [await parent(), await test.accepted()];
    expect([await cancel(id), await cancel(id)]).toMatchObject([{ open: null }, { open: null }]);
    expect(await entries()).toEqual([]);
    expect(await test.statuses(other)).toEqual(['queued']);
  });

  it('is open again when it is repeated, once', async () => {
    const id = await parent();
    const answers = [await cancel(id), await cancel(id), await cancel(id, 'no', test.rival)];
    expect(answers.map(({ kind, open }) => [kind, open?.id])).toEqual([
      ['cancelled', id],
      ['ended', id],
      ['ended', id],
    ]);
    expect(await entries()).toHaveLength(1);
  });

  it('is open once when two processes ask at once', async () => {
    const id = await parent();
    const answers = await Promise.all([cancel(id), cancel(id, 'no', test.rival)]);
    expect(answers.map(({ kind }) => kind).toSorted()).toEqual(['cancelled', 'ended']);
    expect(await entries()).toHaveLength(1);
  });

  it('leaves the sub-tasks of a task that ended otherwise', async () => {
    const id = await parent();
    await test.completed(id);
    expect(await cancel(id)).toEqual({ kind: 'ended', status: 'completed', open: null });
    expect(await entries()).toEqual([]);
  });

  it.each([
    ['completed', async (id: string) => await test.completed(id)],
    ['failed for good', async (id: string) => void (await test.settle(await test.claimed(id), retry(null)))],
    ['waits', async () => undefined],
  ])('goes on below one that %s when it comes from above', async (_how, become) => {
    const id = await parent();
    await become(id);
    const { open } = await cancelSubTask(test.ledger, await test.place(id), 'no');
    expect(open).toEqual({ tenant: TENANT, id, reason: 'no' });
    expect(await entries()).toHaveLength(1);
  });

  it('leaves nothing for a task that is not known', async () => {
    const id = await parent();
    expect(await cancelTask(test.ledger, { tenant: 'other', id, lane: null }, 'no')).toEqual({ kind: 'unknown', open: null });
    expect(await entries()).toEqual([]);
  });

  it('stays open when the record of its task is removed', async () => {
    const id = await parent();
    await cancel(id);
    expect(await removeTask(test.ledger, await test.read(id))).toBe(true);
    expect(await take()).toMatchObject({ id });
  });

  it('is open again when it is repeated while Redis has no memory for more', async () => {
    const id = await parent();
    await cancel(id);
    await test.redis.del(openCancels);
    await test.redis.config('SET', 'maxmemory', '1mb');
    const answer = await cancel(id).catch((error: unknown) => error);
    await test.redis.config('SET', 'maxmemory', '0');
    expect(answer).toMatchObject({ kind: 'ended', open: { id } });
    expect(await entries()).toHaveLength(1);
  });
});

describe('an open cancel', () => {
  it('is taken by age, and then left to who took it', async () => {
    const ids = [await parent(), await parent(), await parent()];
    for (const [age, id] of ids.entries()) {
      await cancel(id, 'a/b');
      await test.redis.zadd(openCancels, 1000 - age, `${TENANT}/${id}/a/b`);
    }
    const taken = [await take(999, 5000), await take(999, 5000), await take(999, 5000)];
    expect(taken).toEqual([{ tenant: TENANT, id: ids[2], reason: 'a/b' }, { tenant: TENANT, id: ids[1], reason: 'a/b' }, null]);
    const scores = await Promise.all(ids.map(async (id) => await test.redis.zscore(openCancels, `${TENANT}/${id}/a/b`)));
    expect(scores).toEqual(['1000', '5000', '5000']);
  });

  it('does not come back when it is closed as it is taken', async () => {
    const id = await parent();
    const { open } = await cancel(id);
    if (open === null) throw new Error('expected an open cancel');
    await Promise.all([take(), closeCancel(test.rival, open)]);
    expect(await entries()).toEqual([]);
  });

  it('is not taken before its time', async () => {
    await cancel(await parent());
    expect(await take(Date.now() - 60_000)).toBeNull();
  });
});
