import type { JobsOptions } from 'bullmq';
import {
  type IssuedTicket,
  type Ledger,
  type NewTask,
  outboxEntry,
  type OutboxTicket,
  parseOutboxEntry,
  readStates,
} from '../../ledger/index.ts';
import { hasAttempt, knownUser, type TaskState } from '../../tasks/index.ts';
import type { TicketData } from '../queues.ts';

/** A ticket to add: the BullMQ job that brings a task's id to a worker. It is never the truth about the task. */
export type Ticket = IssuedTicket;

/** BullMQ's id of a ticket: the task's own id for the first ticket, with a number for later ones. */
export function ticketId(task: string, number: number): string {
  return number === 1 ? task : `${task}.${number}`;
}

/** Between the id of a ticket and its tenant: the ledger finds a ticket by both. */
const SEPARATOR = '@';

/** The id under which the board shows a ticket that BullMQ does not have. */
export function ledgerJobId(ticket: string, tenant: string): string {
  return `${ticket}${SEPARATOR}${tenant}`;
}

/** The parts of such an id; no tenant for the id of a job of BullMQ. */
export function parseLedgerJobId(id: string): { ticket: string; tenant: string | undefined } {
  const [ticket = '', tenant] = id.split(SEPARATOR);
  return { ticket, tenant };
}

/** The id that BullMQ knows a ticket by once it is out. */
export function bullJobId(id: string): string {
  return parseLedgerJobId(id).ticket;
}

/** The priority as BullMQ counts it: 1 first. Ours is 10 first. */
export function bullPriority(priority: number): number {
  return 11 - priority;
}

/** The task's priority, of a ticket that BullMQ has with this one. */
export function taskPriority(priority: number): number {
  return 11 - priority;
}

/** The BullMQ job of a ticket. Its worker decides how many ended jobs are kept. */
export function ticketJob(ticket: Ticket): { name: string; data: TicketData; opts: JobsOptions } {
  return {
    name: ticket.agent,
    data: {
      tenant: ticket.tenant,
      task: ticket.task,
      ...(ticket.lane === null ? {} : { lane: ticket.lane }),
      ...(ticket.needs ? { needs: ticket.needs } : {}),
    },
    opts: {
      jobId: ticketId(ticket.task, ticket.number),
      priority: bullPriority(ticket.priority),
      attempts: ticket.maxAttempts,
      // A ticket that waited for its turn is as old as its task.
      ...(ticket.acceptedAt === undefined ? {} : { timestamp: ticket.acceptedAt }),
    },
  };
}

/** The first ticket of an accepted task, under its entry in the outbox. */
export function firstTicket({ body, priority, queue, lane }: NewTask, entry: string): Ticket {
  const { agent, requirements } = body;
  return {
    tenant: body.tenant,
    task: body.id,
    number: 1,
    entry,
    agent,
    lane: lane?.name ?? null,
    queue,
    priority,
    maxAttempts: body.execution.maxAttempts,
    ...(queue === 'remote' ? { needs: { agent, requirements, user: knownUser(body) } } : {}),
  };
}

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
export function parseTicketId(id: string): OutboxTicket {
  const [task = '', number = '1'] = id.split('.');
  return { task, number: Number(number) };
}

/** The tickets that these entries of an outbox name and that are still owed, under their own numbers. */
export async function readOwedTickets(ledger: Ledger, entries: readonly string[]): Promise<Ticket[]> {
  const owed = entries.flatMap((entry) => {
    const { tenant, tickets } = parseOutboxEntry(entry);
    return tickets.map((ticket) => ({ entry, tenant, ticket }));
  });
  const found = [...Map.groupBy(owed, ({ tenant }) => tenant)].map(async ([tenant, own]) => {
    const ids = own.map(({ ticket }) => ticket.task);
    const states = await readStates(ledger, tenant, ids);
    return own.flatMap(({ entry, ticket: { task, number } }, position) => {
      const state = states[position];
      const isOwed = state?.granted === true && !hasAttempt(state.status) && state.ticket === number;
      return isOwed ? [{ ...ticketOfState(tenant, task, state), entry }] : [];
    });
  });
  return (await Promise.all(found)).flat();
}
