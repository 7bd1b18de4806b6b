import { outboxEntry, type OwedTicket } from '../ledger/index.ts';
import type { Ticket } from './ticket.ts';
import type { TaskState } from '../tasks/index.ts';

/** The newest ticket of a task, from its state. */
export function ticketOfState(tenant: string, task: string, state: TaskState): Ticket {
  return {
    tenant,
    task,
    number: state.ticket,
    entry: outboxEntry(tenant, [{ task, number: state.ticket }]),
    agent: state.agent,
    lane: state.lane ?? null,
    queue: state.queue,
    priority: state.priority,
    maxAttempts: state.maxAttempts,
  };
}

/** The ticket that BullMQ knows by this id. */
export function parseTicketId(id: string): OwedTicket {
  const [task = '', number = '1'] = id.split('.');
  return { task, number: Number(number) };
}
