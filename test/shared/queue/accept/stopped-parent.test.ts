import { describe, expect, it } from 'vitest';
import { claimTask, readState } from '#shared/ledger/index.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { cancelTree } from '#shared/queue/index.ts';
import { useEmptyParts } from '../../../support/use-parts.ts';

const TENANT = 'default';

const parts = await useEmptyParts();

const submit = async (parentTaskId?: string, intake = parts): Promise<string> =>
  (await acceptTask(intake, { tenant: TENANT, agent: 'echo', input: 'x', ...(parentTaskId === undefined ? {} : { parentTaskId }) })).id;

const statusOf = async (id: string): Promise<string | undefined> => (await readState(parts.ledger, TENANT, id))?.status;

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

  it('takes a task with it that is accepted just as it is stopped', async () => {
    const parent = await submit();
    const intake = {
      ...parts,
      // It is asked after the parent was read, and before the acceptance.
      assertBudgets: async () => void (await cancelTree(parts.ledger, TENANT, parent, 'enough')),
    };
    const child = await submit(parent, intake);
    expect(await statusOf(child)).toBe('cancelled');
  });
});
