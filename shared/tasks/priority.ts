import type { Source, TaskQueue } from '../config/index.ts';
import { z } from 'zod';

export const PRIORITY_NAMES = { low: 1, normal: 5, high: 8, critical: 10 } as const;

/** 1 to 10, 10 first, or a name for one of them. */
export const prioritySchema = z.union([z.number().int().min(1).max(10), z.enum(['low', 'normal', 'high', 'critical'])]);
export type PriorityInput = z.infer<typeof prioritySchema>;

const BY_SOURCE: Readonly<Record<Source, number>> = { chat: 5, api: 5, proactive: 5, webhook: 5, schedule: 10, delegation: 4 };
/** Where a person sits and waits in front of the screen. */
const ATTENDED_CHANNELS = new Set(['desktop', 'cli', 'ide']);
/** A deadline nearer than so many times what the task is taken to need makes it critical, or high, from the start. */
const CRITICAL_WITHIN = 1.5;
const HIGH_WITHIN = 3;

export interface PriorityHints {
  source: Source;
  channel: string | null;
  /** Of the task that delegated this one. */
  parentPriority?: number;
  /** What a webhook tells of, as its sender names it. */
  eventType?: string;
  /** Time to the deadline, in times of what the task is taken to need. */
  deadlineWithin?: number;
}

/** The priority of a task that named none. What people send is theirs to rank: their deadlines count when they become tight. */
export function defaultPriority({ source, channel, parentPriority, eventType, deadlineWithin = Infinity }: PriorityHints): PriorityInput {
  if (source === 'chat' || source === 'api') {
    return channel !== null && ATTENDED_CHANNELS.has(channel) ? PRIORITY_NAMES.high : BY_SOURCE[source];
  }
  if (deadlineWithin < CRITICAL_WITHIN) return 'critical';
  const usual = usualPriority(source, parentPriority, eventType);
  if (usual === 'critical' || deadlineWithin >= HIGH_WITHIN) return usual;
  return Math.max(priorityNumber(usual), PRIORITY_NAMES.high);
}

function usualPriority(source: Source, parentPriority: number | undefined, eventType: string | undefined): PriorityInput {
  if (source === 'delegation' && parentPriority !== undefined) return Math.max(1, parentPriority - 1);
  if (source === 'webhook' && eventType !== undefined) return eventPriority(eventType);
  return BY_SOURCE[source];
}

/** By the type of a webhook's event: what speaks of security is `critical`, of payment 8, and all else 5. */
export function eventPriority(eventType: string): PriorityInput {
  if (/security/i.test(eventType)) return 'critical';
  return /payment/i.test(eventType) ? PRIORITY_NAMES.high : BY_SOURCE.webhook;
}

/** A priority as a number. */
export function priorityNumber(priority: PriorityInput): number {
  return typeof priority === 'number' ? priority : PRIORITY_NAMES[priority];
}

const QUEUE_BY_SOURCE: Readonly<Record<Source, TaskQueue>> = {
  chat: 'chat',
  api: 'tasks',
  proactive: 'tasks',
  delegation: 'tasks',
  webhook: 'webhooks',
  schedule: 'schedules',
};

/**
 * The queue a task waits in. `critical` by name goes to its own reserved slots, priority 1 to `background`, and the rest by
 * source: 10 as a number is first within its own queue, so that a heartbeat is never late and never stands before a person.
 */
export function queueFor(source: Source, priority: PriorityInput): TaskQueue {
  if (priority === 'critical') return 'critical';
  if (priorityNumber(priority) === PRIORITY_NAMES.low) return 'background';
  return QUEUE_BY_SOURCE[source];
}
