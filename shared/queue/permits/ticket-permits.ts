import type { TaskQueue } from '../../config/index.ts';
import type { TicketQueue } from '../queues.ts';
import { readNextTicket, wakePoller } from './next-ticket.ts';
import type { PermitRequest } from './permit-line.ts';
import type { SlotPool } from './slot-pool.ts';

/** Where the taker of a queue's tickets gets its slots and permits. */
export interface TicketPermits extends Omit<PermitRequest, 'signal'> {
  pool: SlotPool;
}

interface TakerParts {
  pool: SlotPool;
  tickets: TicketQueue;
}

/** Where the taker of this queue's tickets gets its slots and permits. */
export function permitsFor(queue: TaskQueue, { pool, tickets }: TakerParts): TicketPermits {
  return {
    pool,
    queue,
    taker: tickets.qualifiedName,
    readNext: () => readNextTicket(tickets, queue),
    // Without it the others poll after `consumers.pollMs`.
    wakeAnother: () => wakePoller(tickets).catch(() => undefined),
  };
}
