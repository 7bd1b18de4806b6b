import type { TaskQueue } from '../../config/index.ts';
import { PRIORITY_NAMES } from '../../tasks/index.ts';

/** Ranges of priorities, each with a share of the slots that several compete for. Critical tickets have a queue and rules of their own. */
export const BANDS = ['high', 'normal', 'low'] as const;
export type Band = (typeof BANDS)[number];

/** How a worker shares its slots. */
export interface SlotPolicy {
  /** Tickets that it runs at once. */
  slots: number;
  /** How many of them only critical tickets use. */
  reserved: number;
  /** How many more only people use who wait: chats, and up to half of them tasks that a key waits for, one for each key. */
  people: number;
  /** Of each queue that it serves, at least 1: the slots that the queue is sure of while others compete for them. */
  weights: ReadonlyMap<TaskQueue, number>;
  /** Of each band, in percent of the slots. */
  shares: Readonly<Record<Band, number>>;
  /** A low ticket that waited for so long counts as a normal one, in ms. */
  lowAgeMs: number;
}

/** Of a worker's slots, people have one in so many at most. */
const SLOTS_PER_PERSON = 8;

/** Slots that only people use of so many that a worker has, which serves `chat` beside other queues. */
export function peopleSlots(slots: number, peopleShare: number): number {
  return Math.min(peopleShare, Math.floor(slots / SLOTS_PER_PERSON));
}

/** Priorities up to this one are low. */
export const MAX_LOW = 2;

/** The band that a ticket counts in, which was accepted then, ms since the epoch. */
export function bandOf(
  { priority, acceptedAt }: { priority: number; acceptedAt: number },
  { lowAgeMs }: Pick<SlotPolicy, 'lowAgeMs'>,
  now: number,
): Band {
  if (priority >= PRIORITY_NAMES.high) return 'high';
  return priority > MAX_LOW || now - acceptedAt >= lowAgeMs ? 'normal' : 'low';
}

/** Low tickets at once while others wait. */
export function maxLowBesideOthers({ slots, shares }: Pick<SlotPolicy, 'slots' | 'shares'>): number {
  return Math.max(1, Math.floor((slots * shares.low) / 100));
}

/** Slots kept for people that tasks may have which a key waits for. */
export function maxAwaited({ people }: Pick<SlotPolicy, 'people'>): number {
  return Math.floor(people / 2);
}
