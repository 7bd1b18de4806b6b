import type { TaskQueue } from '../../config/index.ts';
import { parseBody } from '../codec/body.ts';
import { parseState } from '../codec/state.ts';
import { windowOptions } from '../context.ts';
import { outboxEntry } from '../grants/outbox.ts';
import { type IssuedTicket, parseReadyTicket } from '../grants/tickets.ts';
import type { Ledger } from '../ledger.ts';
import { settleAttempts } from '../settle/settle-attempt.ts';
import type { ClaimedTask } from './claim-task.ts';

/** A task that was claimed in the step that took its ticket. */
export interface HandedOver extends ClaimedTask {
  /** When the call was sent, in monotonic milliseconds. */
  sentAt: number;
}

/** `outranked`: tickets are ready, and one that goes first is in BullMQ; `none`: nothing is ready, or the queue is paused. */
type ReadyAnswer = { kind: 'taken'; ticket: IssuedTicket; claimed?: HandedOver } | { kind: 'outranked' | 'none' };

/** A slot that is free now. */
export interface FreeSlot {
  shard: number;
  queue: TaskQueue;
  /** The key that has BullMQ's pause of the queue. */
  pauses: string;
  /** The worker that is to have the task at once; without it only the ticket is taken. */
  worker?: string | undefined;
  /** The member of the lease that the slot's last attempt had. */
  ended?: string | undefined;
}

/**
 * Takes the ready ticket whose turn it is for a slot that is free now, and claims its task, where nothing but its turn can hold it back. Of
 * any other task the entry stays in the outbox until the claim, so that the ticket goes to BullMQ should this process die.
 */
export async function takeReady(ledger: Ledger, slot: FreeSlot): Promise<ReadyAnswer> {
  const group = `${slot.pauses} ${slot.worker ?? ''}`;
  const answer = await ledger.batches.add({ ledger, run: takeTickets, group, after: settleAttempts }, slot);
  if (answer.kind === 'taken' && answer.claimed) ledger.pace.note(answer.ticket.queue);
  return answer;
}

/** Takes tickets of one queue for one worker. */
async function takeTickets(ledger: Ledger, slots: readonly FreeSlot[]): Promise<ReadyAnswer[]> {
  const { shard = 0, queue = '', pauses = '', worker = '' } = slots[0] ?? {};
  const { outbox, ready, window, turns, weights, leases, deadlines } = ledger.keys.shard(shard);
  const sentAt = performance.now();
  const reply = await ledger.run(
    'take-ready',
    [outbox, ready, window, turns, weights, leases, deadlines, pauses],
    [
      JSON.stringify({
        ...windowOptions(ledger),
        ...claimOptions(ledger, shard),
      }),
      queue,
      slots.length,
      mayClaim(ledger, worker) ? worker : '',
      ledger.settings.worker.leaseMs,
      ...slots.flatMap(({ ended }) => ended ?? []),
    ],
  );
  const [isOutranked, ...texts] = reply as [number, ...string[]];
  return slots.map((_, at) => {
    const [text, stored = '', body = ''] = texts.slice(at * 3, at * 3 + 3);
    if (text === undefined) return { kind: isOutranked === 1 ? 'outranked' : 'none' };
    const ticket = readTicket(text);
    return { kind: 'taken', ticket, ...(stored === '' ? {} : { claimed: { ...readClaimed(stored, body), sentAt } }) };
  });
}

/** Short states hold the worker's name as a word. */
function mayClaim({ boundedTenants }: Ledger, worker: string): boolean {
  return !/\s/.test(worker) && (boundedTenants?.() ?? null) !== null;
}

/** What claims have to know besides. */
function claimOptions(ledger: Ledger, shard: number): Record<string, unknown> {
  const { settings, keys } = ledger;
  return {
    channel: keys.shard(shard).signal,
    maxEvents: settings.events.maxPerTenant,
    maxTimelineBytes: settings.tasks.maxTimelineBytes,
    names: keys.tenantNames(shard),
    bounded: Object.fromEntries((ledger.boundedTenants?.() ?? []).map((id) => [id, 1])),
  };
}

function readTicket(text: string): IssuedTicket {
  const ticket = parseReadyTicket(text);
  return { ...ticket, isAhead: false, entry: outboxEntry(ticket.tenant, [ticket]) };
}

function readClaimed(stored: string, bodyText: string): ClaimedTask {
  const body = parseBody(bodyText);
  return { body, state: parseState(stored, body.first), stored };
}
