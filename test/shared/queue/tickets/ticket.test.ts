import { expect, it } from 'vitest';
import { claimTask } from '#shared/ledger/claim/claim-task.ts';
import { outboxEntry } from '#shared/ledger/index.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { reprioritizeTask } from '#shared/queue/tickets/change-waiting-task.ts';
import { readOwedTickets } from '#shared/queue/tickets/ticket.ts';
import { useEmptyParts } from '../../../support/use-parts.ts';

const TENANT = 'default';
const parts = await useEmptyParts();

it('only the newest ticket of a task is owed, and none once it runs', async () => {
  const { id } = await acceptTask(parts, { tenant: TENANT, agent: 'echo', input: 'x' });
  const entryOf = (number: number): string => outboxEntry(TENANT, [{ task: id, number }]);
  const owed = async (): Promise<number[]> => (await readOwedTickets(parts.ledger, [entryOf(1), entryOf(2)])).map(({ number }) => number);
  expect(await owed()).toEqual([1]);
  await reprioritizeTask(parts, TENANT, id, { priority: 'high' });
  expect(await owed()).toEqual([2]);
  await claimTask(parts.ledger, { tenant: TENANT, id, lane: null }, 'w1');
  expect(await owed()).toEqual([]);
});
