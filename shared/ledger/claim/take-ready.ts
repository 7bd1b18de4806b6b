import type { TaskQueue } from '../../config/index.ts';
import { windowOptions } from '../context.ts';
import { type IssuedTicket, parseTickets } from '../grants/tickets.ts';
import type { Ledger } from '../ledger.ts';

/** `outranked`: tickets are ready, and one that goes first is in BullMQ; `none`: nothing is ready, or the queue is paused. */
type ReadyAnswer = { kind: 'taken'; ticket: IssuedTicket } | { kind: 'outranked' | 'none' };

/** The queue of a shard, and the key that has BullMQ's pause of it. */
interface ReadyQueue {
  shard: number;
  queue: TaskQueue;
  pauses: string;
}

/**
 * Takes the ready ticket whose turn it is for a slot that is free now. Its entry stays in the outbox until the task is claimed under it, so
 * that the ticket goes to BullMQ should this process die.
 */
export async function takeReady(ledger: Ledger, queue: ReadyQueue): Promise<ReadyAnswer> {
  return await ledger.batches.add({ ledger, run: takeTickets, group: queue.pauses }, queue);
}

/** Takes tickets of one queue. */
async function takeTickets(ledger: Ledger, slots: readonly ReadyQueue[]): Promise<ReadyAnswer[]> {
  const { shard = 0, queue = '', pauses = '' } = slots[0] ?? {};
  const { outbox, ready, window, turns, weights } = ledger.keys.shard(shard);
  const args = [JSON.stringify(windowOptions(ledger)), queue, slots.length];
  const reply = await ledger.run('dispatch-ready', [outbox, ready, window, turns, weights, pauses], args);
  const [texts, isOutranked] = reply as [string[], number];
  const tickets = parseTickets(texts);
  return slots.map((_, at) => {
    const ticket = tickets[at];
    return ticket ? { kind: 'taken', ticket } : { kind: isOutranked === 1 ? 'outranked' : 'none' };
  });
}
