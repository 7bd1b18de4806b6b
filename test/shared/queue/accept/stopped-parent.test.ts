import { describe, expect, it } from 'vitest';
import { MusterError } from '#shared/errors/index.ts';
import { claimTask, parentLookup, readLookup, readState, settleAttempt } from '#shared/ledger/index.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { cancelTree } from '#shared/queue/index.ts';
import { useEmptyParts } from '../../../support/use-parts.ts';

const TENANT = 'default';

const parts = await useEmptyParts();

const submit = async (parentTaskId?: string, intake = parts): Promise<string> =>
  (await acceptTask(intake, { tenant: TENANT, agent: 'echo', input: 'x', ...(parentTaskId === undefined ? {} : { parentTaskId }) })).id;

const statusOf = async (id: string): Promise<string | undefined> => (await readState(parts.ledger, TENANT, id))?.status;

const idsBelow = async (id: string): Promise<string[]> =>
  await readLookup(parts.ledger, parentLookup(parts.ledger, TENANT, id), { low: '', before: null, max: 100 });

async function complete(id: string): Promise<void> {
  const claim = await claimTask(parts.ledger, { tenant: TENANT, id, lane: null }, 'w1');
  if (claim.kind !== 'claimed') throw new Error(`The task was not claimed: ${claim.kind}`);
  const attempt = { tenant: TENANT, id, lane: null, token: claim.state.token };
  await settleAttempt(parts.ledger, attempt, { kind: 'completed', output: 'x', result: null, usage: null });
}

/** Delegates again and again, until the task is stopped. */
async function delegateUntilRefused(parent: string): Promise<string[]> {
  const ids: string[] = [];
  for (;;) {
    try {
      ids.push(await submit(parent));
    } catch (error) {
      if (error instanceof MusterError && error.code === 'task.wrong-state') return ids;
      throw error;
    }
  }
}

describe('a task that was stopped', () => {
  it('delegates no more while its worker has not obeyed yet', async () => {
    const parent = await submit();
    await claimTask(parts.ledger, { tenant: TENANT, id: parent, lane: null }, 'w1');
    expect((await cancelTree(parts.ledger, TENANT, parent, 'enough')).answer).toMatchObject({ kind: 'stopping' });
    await expect(submit(parent)).rejects.toMatchObject({ code: 'task.wrong-state', message: `The parent task ${parent} was stopped` });
  });

  it('delegates no more once it has ended as cancelled', async () => {
    const parent = await submit();
    await cancelTree(parts.ledger, TENANT, parent, 'enough');
    await expect(submit(parent)).rejects.toMatchObject({ code: 'task.wrong-state', details: { status: 'cancelled' } });
  });

  it('delegates no more once the request was read, whatever becomes of the process that accepts', async () => {
    const parent = await submit();
    const intake = {
      ...parts,
      // It is asked after the parent was read, and before the acceptance.
      assertBudgets: async () => void (await cancelTree(parts.ledger, TENANT, parent, 'enough')),
    };
    await expect(submit(parent, intake)).rejects.toMatchObject({ code: 'task.wrong-state', details: { status: 'cancelled' } });
    expect(await idsBelow(parent)).toEqual([]);
    expect(await parts.redis.hget(parts.keys.tenant(TENANT).taskTree(parent), 'tasks')).toBe('0');
  });

  it('refuses also what a task below it delegates that had ended', async () => {
    const parent = await submit();
    const child = await submit(parent);
    await complete(child);
    await cancelTree(parts.ledger, TENANT, parent, 'enough');
    await expect(submit(child)).rejects.toMatchObject({
      code: 'task.wrong-state',
      message: `The parent task ${child} was stopped with task ${parent}, which it descends from`,
    });
  });

  it('takes every task with it that is accepted while its tree is paged through', async () => {
    const parent = await submit();
    const children = await Promise.all(Array.from({ length: 8 }, async () => await submit(parent)));
    const late: Promise<string[]>[] = children.concat(parent).map(delegateUntilRefused);
    await cancelTree(parts.ledger, TENANT, parent, 'enough');
    const ids = (await Promise.all(late)).flat();
    const statuses = await Promise.all([parent, ...children, ...ids].map(statusOf));
    expect(new Set(statuses)).toEqual(new Set(['cancelled']));
  });
});
