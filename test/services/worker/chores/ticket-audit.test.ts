import { expect, it } from 'vitest';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { ticketId } from '#shared/queue/tickets/ticket.ts';
import { TicketAudit } from '../../../../services/worker/chores/ticket-audit.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { useParts } from '../../../support/use-parts.ts';

const TENANT = 'default';
const YEAR_MS = 365 * 86_400_000;
/** More than one page of an audit. */
const MANY = 520;

const parts = await useParts({ worker: { ticketAuditMs: 1000 } });

const accept = async (inMs?: number): Promise<string> => {
  const scheduledFor = inMs === undefined ? {} : { scheduledFor: new Date(Date.now() + inMs).toISOString() };
  return (await acceptTask(parts, { tenant: TENANT, agent: 'echo', input: 'x', ...scheduledFor })).id;
};

it('makes a new ticket for a task that lost its own, behind however many that wait for theirs', async () => {
  for (let count = 0; count < MANY; count += 1) await accept();
  const id = await accept();
  await parts.relay.idle();
  const queue = parts.queues.get(0, 'tasks');
  expect(await queue.remove(ticketId(id, 1))).toBe(1);

  const audit = new TicketAudit(parts);
  const renewed = async (): Promise<boolean> => {
    await audit.run();
    await parts.relay.idle();
    return (await queue.getJobState(ticketId(id, 2))) === 'prioritized';
  };
  await waitFor(renewed, { deadlineMs: 10_000, what: 'a new ticket' });
  expect((await readTask(parts.ledger, TENANT, id))?.state.ticket).toBe(2);
});

it('brings on a task whose time is over and that is not listed for it any more, and no other', async () => {
  const [overdue, later] = [await accept(YEAR_MS), await accept(YEAR_MS)];
  const { states } = parts.keys.tenant(TENANT);
  const state = (await readTask(parts.ledger, TENANT, overdue))?.state;
  await parts.redis.hset(states, overdue, JSON.stringify({ ...state, notBefore: 1 }));
  await parts.redis.del(parts.keys.shard(0).due);
  await new TicketAudit(parts).run();
  const statuses = await Promise.all([overdue, later].map(async (id) => (await readTask(parts.ledger, TENANT, id))?.state.status));
  expect(statuses).toEqual(['queued', 'pending']);
});
