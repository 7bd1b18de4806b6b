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

/** `outranked`: a ticket of the queue `by` goes first, and is in BullMQ; `none`: nothing is ready, or the queue is paused. */
type ReadyAnswer = { kind: 'taken'; ticket: IssuedTicket; claimed?: HandedOver } | { kind: 'outranked'; by: TaskQueue } | { kind: 'none' };

/** What runs in the slots that several queues share, without those that are free: bands and queues get their parts by it. */
export interface PoolFigures {
  /** Of the slots' permits. */
  kind: 'critical' | 'ordinary';
  queues: Record<string, { weight: number; running: number }>;
  bands: Record<string, { share: number; running: number }>;
  /** Slots whose tickets are not known yet. */
  fetching: number;
  /** Slots besides that may have tickets from BullMQ at once. */
  idle?: number;
  /** Low tickets at once beside others. */
  maxLow: number;
  /** Priorities from which tickets are high, and up to which they are low. */
  highFrom: number;
  lowTo: number;
  /** A low ticket that waited for so long counts as a normal one, ms. */
  lowAgeMs: number;
}

/** Slots that several queues share. */
export interface SharedSlots {
  /** Of the slots' permits. */
  readonly kind: PoolFigures['kind'];
  /** Read when the call is sent. */
  readonly figures: () => PoolFigures;
}

/** A slot that is free now. */
export interface FreeSlot {
  shard: number;
  /** The queues that may have it, each with the key that has BullMQ's pause of it; one without `pool`. Tasks of one with
   * `isClaimed: false` are not claimed.
   */
  queues: readonly { queue: TaskQueue; pauses: string; isClaimed?: boolean }[];
  pool?: SharedSlots | undefined;
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
  const group = [slot.pool?.kind, slot.worker, ...slot.queues.map(({ pauses }) => pauses)].join(' ');
  const answer = await ledger.batches.add({ ledger, run: takeTickets, group, after: settleAttempts }, slot);
  if (answer.kind === 'taken' && answer.claimed) ledger.pace.note(answer.ticket.queue);
  return answer;
}

/** Takes tickets of one queue, or of those that share their slots, for one worker. */
async function takeTickets(ledger: Ledger, slots: readonly FreeSlot[]): Promise<ReadyAnswer[]> {
  const { shard = 0, queues = [], worker = '' } = slots[0] ?? {};
  const { outbox, ready, window, turns, weights, leases, deadlines } = ledger.keys.shard(shard);
  const sentAt = performance.now();
  const reply = await ledger.run(
    'take-ready',
    [outbox, ready, window, turns, weights, leases, deadlines, ...queues.map(({ pauses }) => pauses)],
    [
      JSON.stringify({
        ...windowOptions(ledger),
        ...claimOptions(ledger, shard),
        // All of these slots are free for it.
        pool: slots[0]?.pool?.figures(),
        unclaimed: Object.fromEntries(queues.flatMap(({ queue, isClaimed }) => (isClaimed === false ? [[queue, 1]] : []))),
      }),
      queues.map(({ queue }) => queue).join(','),
      slots.length,
      mayClaim(ledger, worker) ? worker : '',
      ledger.settings.worker.leaseMs,
      ...slots.flatMap(({ ended }) => ended ?? []),
    ],
  );
  const [outranked, ...texts] = reply as string[];
  return slots.map((_, at) => {
    const [text, stored = '', body = ''] = texts.slice(at * 3, at * 3 + 3);
    if (text === undefined) return outranked ? { kind: 'outranked', by: outranked as TaskQueue } : { kind: 'none' };
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
    maxEvents: `${settings.events.maxPerTenant}`,
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
