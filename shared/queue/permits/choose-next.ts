import type { TaskQueue } from '../../config/index.ts';
import { PRIORITY_NAMES } from '../../tasks/index.ts';
import type { PermitKind } from './lease-permits.ts';

/** Ranges of priorities, each with a share of the slots that several compete for. Critical tickets have a queue and rules of their own. */
export const BANDS = ['high', 'normal', 'low'] as const;
export type Band = (typeof BANDS)[number];

/** How a worker shares its slots. */
export interface SlotPolicy {
  /** Tickets that it runs at once. */
  slots: number;
  /** How many of them only critical tickets use. */
  reserved: number;
  /** Of each queue that it serves, at least 1: the slots that the queue is sure of while others compete for them. */
  weights: ReadonlyMap<TaskQueue, number>;
  /** Of each band, in percent of the slots. */
  shares: Readonly<Record<Band, number>>;
  /** A low ticket that waited for so long counts as a normal one, in ms. */
  lowAgeMs: number;
}

/** The next ticket of a queue. */
export interface WaitingTicket {
  queue: TaskQueue;
  /** 1 to 10, 10 first. */
  priority: number;
  /** Since when it waits, ms since the epoch. */
  madeAt: number;
  /** By priority, then by age; less goes first. */
  rank: string;
}

/** What a worker runs now. */
export interface RunningTickets {
  readonly queues: ReadonlyMap<TaskQueue, number>;
  /** Without critical tickets. */
  readonly bands: Readonly<Record<Band, number>>;
  /** Of these, slots whose tickets are being fetched: the queue of each may have more. */
  readonly fetching: number;
  /** Slots besides, for which the ledger chooses the next ticket now. */
  readonly handingOver?: number;
}

/** Priorities up to this one are low. */
export const MAX_LOW = 2;

/**
 * The ticket that gets the next free slot; null when none may have it now. Critical tickets go first. Else the band goes that is furthest below
 * its share, of it the queue that is furthest below its weight, and of that the best rank.
 */
export function chooseNext<Ticket extends WaitingTicket>(
  waiting: readonly Ticket[],
  running: RunningTickets,
  policy: SlotPolicy,
  now: number,
): Ticket | null {
  const critical = waiting.filter(({ queue }) => queue === 'critical');
  if (critical.length > 0) return roomFor('critical', running, policy) > 0 ? best(critical, ({ rank }) => [0, rank]) : null;
  if (roomFor('ordinary', running, policy) <= 0) return null;
  const byBand = Map.groupBy(waiting, (ticket) => bandOf(ticket, policy, now));
  const others = BANDS.filter((band) => band !== 'low' && byBand.has(band));
  const isLowApart = others.length === 0 && running.fetching === 0;
  const mayRunLow = isLowApart || running.bands.low < maxLowBesideOthers(policy);
  const band = best(byBand.has('low') && mayRunLow ? [...others, 'low' as const] : others, (each) => [
    (running.bands[each] + 1) / policy.shares[each],
    String(BANDS.indexOf(each)),
  ]);
  const ofBand = (band === null ? undefined : byBand.get(band)) ?? [];
  return best(ofBand, ({ queue, rank }) => [(running.queues.get(queue) ?? 0) / (policy.weights.get(queue) ?? 1), rank]);
}

/** How many more tickets of a kind the worker may run. */
export function roomFor(kind: PermitKind, { queues, bands, handingOver = 0 }: RunningTickets, { slots, reserved }: SlotPolicy): number {
  const ordinary = BANDS.reduce((sum, band) => sum + bands[band], handingOver);
  const free = slots - ordinary - (queues.get('critical') ?? 0);
  return Math.max(0, kind === 'critical' ? free : Math.min(free, slots - reserved - ordinary));
}

/** The band that a ticket counts in. */
export function bandOf({ priority, madeAt }: Pick<WaitingTicket, 'priority' | 'madeAt'>, { lowAgeMs }: SlotPolicy, now: number): Band {
  if (priority >= PRIORITY_NAMES.high) return 'high';
  return priority > MAX_LOW || now - madeAt >= lowAgeMs ? 'normal' : 'low';
}

/** Low tickets at once while others wait. */
export function maxLowBesideOthers({ slots, shares }: SlotPolicy): number {
  return Math.max(1, Math.floor((slots * shares.low) / 100));
}

/** The one with the least figure, and with the least text among equals. */
function best<Each>(all: readonly Each[], keyOf: (each: Each) => [figure: number, text: string]): Each | null {
  let found: { each: Each; key: [number, string] } | null = null;
  for (const each of all) {
    const key = keyOf(each);
    const isBetter = found === null || key[0] < found.key[0] || (key[0] === found.key[0] && key[1] < found.key[1]);
    if (isBetter) found = { each, key };
  }
  return found?.each ?? null;
}
