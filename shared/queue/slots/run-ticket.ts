import type { TaskQueue } from '../../config/index.ts';
import { type Ledger, reissueTicket, reviewTask, type TakenTicket, type TicketClaim } from '../../ledger/index.ts';
import type { Log } from '../../log/index.ts';
import type { TicketData } from '../queues.ts';
import type { TicketRelay } from '../tickets/ticket-relay.ts';
import { ticketJob, ticketOfState } from '../tickets/ticket.ts';
import type { TicketResult } from './ticket-result.ts';

/** Takes a ticket to its end. `how`: its task, where that was started with it. */
export type HandleTicket = (ticket: TicketData, how: TicketClaim, queue: TaskQueue) => Promise<TicketResult>;

interface RunTicketParts {
  ledger: Ledger;
  relay: Pick<TicketRelay, 'add'>;
  log: Log;
  handle: HandleTicket;
}

const NOTHING: TicketResult = { kind: 'done', note: 'nothing to do' };

/** Takes a ticket that a slot got to its end. Never rejects. `data`: of its job, when it was drawn from BullMQ. */
export async function runTicket(parts: RunTicketParts, taken: TakenTicket, data?: TicketData): Promise<TicketResult> {
  const { ticket, claimed, obstacle } = taken;
  const own = data ?? ticketJob(ticket).data;
  try {
    if (obstacle === 'gone' || obstacle === 'waits') return await review(parts, taken);
    const result = await parts.handle(own, claimed ? { claimed } : {}, ticket.queue);
    if (result.kind === 'returned') await standAgain(parts, taken);
    return result;
  } catch (error) {
    // A mistake of ours, or Redis is away; its lease, or the sweep of the outbox, brings the task back.
    parts.log.error({ err: error, task: ticket.task }, 'a ticket could not be handled');
    return NOTHING;
  }
}

/** What the task of a ticket waits for that did not start. */
async function review({ ledger }: RunTicketParts, { ticket }: TakenTicket): Promise<TicketResult> {
  const answer = await reviewTask(ledger, { tenant: ticket.tenant, id: ticket.task, lane: ticket.lane });
  return { kind: 'done', note: `did not start: ${answer === 'ready' ? 'it stands at a slot again' : answer.kind}` };
}

async function standAgain({ ledger, relay }: RunTicketParts, { ticket }: TakenTicket): Promise<void> {
  const state = await reissueTicket(ledger, ticket.tenant, ticket);
  if (state) relay.add(ticketOfState(ticket.tenant, ticket.task, state));
}
