import { expect, it } from 'vitest';
import { readTask } from '#shared/ledger/read-tasks.ts';
import { acceptTask } from '#shared/queue/accept-task.ts';
import { ticketId } from '#shared/queue/ticket.ts';
import { TicketAudit } from '../../../../services/worker/chores/ticket-audit.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { useParts } from '../../../support/use-parts.ts';

const TENANT = 'default';
const YEAR_MS = 365 * 86_400_000;
/** More than one page of what is looked at. */
const MANY = 520;

const parts = await useParts({ worker: { ticketAuditMs: 1000 } });

it('makes a new ticket for a task that lost its own, behind however many that wait for their time', async () => {
  const accept = async (inMs: number): Promise<string> => {
    const scheduledFor = new Date(Date.now() + inMs).toISOString();
    return (await acceptTask(parts, { tenant: TENANT, agent: 'echo', input: 'x', scheduledFor })).id;
  };
  for (let count = 0; count < MANY; count += 1) await accept(YEAR_MS);
  const id = await accept(YEAR_MS);
  await parts.relay.idle();
  const queue = parts.queues.get(0, 'tasks');
  expect(await queue.remove(ticketId(id, 1))).toBe(1);

  const audit = new TicketAudit(parts);
  const renewed = async (): Promise<boolean> => {
    await audit.run();
    await parts.relay.idle();
    return (await queue.getJobState(ticketId(id, 2))) === 'delayed';
  };
  await waitFor(renewed, { deadlineMs: 10_000, what: 'a new ticket' });
  expect((await readTask(parts.ledger, TENANT, id))?.state.ticket).toBe(2);
});
