import { expect, it } from 'vitest';
import { cancelTask } from '#shared/ledger/change-task.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { removeTickets } from '../../../../services/worker/chores/remove-tickets.ts';
import { useParts } from '../../../support/use-parts.ts';

const TENANT = 'default';

const parts = await useParts();

async function accept(): Promise<string> {
  return (await acceptTask(parts, { tenant: TENANT, agent: 'echo', input: 'hello' })).id;
}

it('a ticket that waits goes when its task has ended, or is gone with its tenant, and stays when it has not', async () => {
  const [waits, ends, goes] = [await accept(), await accept(), await accept()];
  await parts.relay.idle();
  await cancelTask(parts.ledger, { tenant: TENANT, id: ends, lane: null }, 'not any more');
  const { bodies, states } = parts.keys.tenant(TENANT);
  await Promise.all([parts.redis.hdel(bodies, goes), parts.redis.hdel(states, goes)]);
  await removeTickets(parts, new Map());
  const waiting = await parts.queues.get(0, 'tasks').getJobs(['delayed', 'prioritized', 'waiting']);
  expect(new Set(waiting.map(({ data }) => data.task))).toEqual(new Set([waits]));
});
