import { expect, it } from 'vitest';
import { cancelTask } from '#shared/ledger/change-task.ts';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { removeTickets, TicketAudit } from '../../../../services/worker/chores/audit-tickets.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { useParts } from '../../../support/use-parts.ts';
import { storedState } from '../../../shared/ledger/support/stored-states.ts';

const TENANT = 'default';
const YEAR_MS = 365 * 86_400_000;
/** More than one page of an audit. */
const MANY = 520;

const parts = await useParts({ worker: { ticketAuditMs: 1000 }, dispatch: { lookAhead: 1000 } });

const accept = async (inMs?: number): Promise<string> => {
  const scheduledFor = inMs === undefined ? {} : { scheduledFor: new Date(Date.now() + inMs).toISOString() };
  return (await acceptTask(parts, { tenant: TENANT, agent: 'echo', input: 'x', ...scheduledFor })).id;
};

it('removes a waiting ticket when its task has ended, or is gone with its tenant, and no other', async () => {
  const [waits, ends, goes] = [await accept(), await accept(), await accept()];
  await parts.relay.idle();
  await cancelTask(parts.ledger, { tenant: TENANT, id: ends, lane: null }, 'not any more');
  const { bodies, states } = parts.keys.tenant(TENANT);
  await Promise.all([parts.redis.hdel(bodies, goes), parts.redis.hdel(states, goes)]);
  await removeTickets(parts, new Map());
  const waiting = await parts.queues.get(0, 'tasks').getJobs(['delayed', 'prioritized', 'waiting']);
  expect(new Set(waiting.map(({ data }) => data.task))).toEqual(new Set([waits]));
});

it('makes a new ticket for a task that lost its own, behind however many that wait for theirs', async () => {
  for (let count = 0; count < MANY; count += 1) await accept();
  const id = await accept();
  await parts.relay.idle();
  const { ready } = parts.keys.shard(0);
  const textOf = async (name: string): Promise<string | undefined> =>
    (await parts.redis.zrange(ready, '0', '-1')).find((text) => text.includes(`/${name}/`));
  expect(await parts.redis.zrem(ready, (await textOf(`${id}.1`)) ?? '')).toBe(1);

  const audit = new TicketAudit(parts);
  const renewed = async (): Promise<boolean> => {
    await audit.run();
    await parts.relay.idle();
    return (await textOf(`${id}.2`)) !== undefined;
  };
  await waitFor(renewed, { deadlineMs: 10_000, what: 'a new ticket' });
  expect((await readTask(parts.ledger, TENANT, id))?.state.ticket).toBe(2);
});

it('promotes a task whose time has come and that is not listed as due any more, and no other', async () => {
  const [overdue, later] = [await accept(YEAR_MS), await accept(YEAR_MS)];
  const { states } = parts.keys.tenant(TENANT);
  const state = (await readTask(parts.ledger, TENANT, overdue))?.state;
  await parts.redis.hset(states, overdue, storedState({ ...state, notBefore: 1 }));
  await parts.redis.del(parts.keys.shard(0).due);
  await new TicketAudit(parts).run();
  const statuses = await Promise.all([overdue, later].map(async (id) => (await readTask(parts.ledger, TENANT, id))?.state.status));
  expect(statuses).toEqual(['queued', 'pending']);
});
