import { z } from 'zod';
import type { Source, SourceClass, TaskQueue } from '../config/index.ts';

export const PRIORITY_NAMES = { low: 1, normal: 5, high: 8, critical: 10 } as const;

/** 1 to 10, 10 first, or a name for one of them. */
export const prioritySchema = z.union([z.number().int().min(1).max(10), z.enum(['low', 'normal', 'high', 'critical'])]);
export type PriorityInput = z.infer<typeof prioritySchema>;

const BY_SOURCE: Readonly<Record<Source, number>> = { chat: 5, api: 5, proactive: 5, webhook: 5, schedule: 10, delegation: 4 };
/** Channels on which a person waits in front of the screen. */
const ATTENDED_CHANNELS = new Set(['desktop', 'cli', 'ide']);
/** A deadline nearer than so many times the task's estimate makes it critical, or high, from the start. */
const CRITICAL_WITHIN = 1.5;
const HIGH_WITHIN = 3;

export interface PriorityHints {
  source: Source;
  channel: string | null;
  /** Of the task that delegated this one. */
  parentPriority?: number;
  /** The type of a webhook's event, as its sender names it. */
  eventType?: string;
  /** Time to the deadline as a multiple of the task's estimate. */
  deadlineWithin?: number;
}

/** The priority of a task that named none. A deadline raises what no person sent; a person's task is escalated once its deadline is tight. */
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

/** By the type of a webhook's event: security is `critical`, payment 8, and all else 5. */
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
 * The queue a task waits in: `remote` for one that needs a daemon or a worker with certain capabilities, whatever its priority. Else `critical`
 * by name goes to its own reserved slots, priority 1 to `background`, and the rest by source: 10 as a number is first within its own queue, so
 * that a heartbeat is never late and never ahead of a person.
 */
export function queueFor(source: Source, priority: PriorityInput, isRemote: boolean): TaskQueue {
  if (isRemote) return 'remote';
  if (priority === 'critical') return 'critical';
  if (priorityNumber(priority) === PRIORITY_NAMES.low) return 'background';
  return QUEUE_BY_SOURCE[source];
}

export const PRIORITY_BANDS = ['critical', 'high', 'normal', 'low'] as const;
export type PriorityBand = (typeof PRIORITY_BANDS)[number];

/** From 8 on a priority is high. */
const HIGH_FROM = 8;
/** To this one a priority is low. */
export const MAX_LOW_PRIORITY = 2;

/** The band of a priority. `critical` is the queue of that name; 10 as a number is high. */
export function priorityBand(queue: TaskQueue, priority: number): PriorityBand {
  if (queue === 'critical') return 'critical';
  if (priority >= HIGH_FROM) return 'high';
  return priority <= MAX_LOW_PRIORITY ? 'low' : 'normal';
}

/** The class by which a source's tasks are counted, for caps and rates. */
export const CLASS_OF: Readonly<Record<Source, SourceClass>> = {
  chat: 'user',
  api: 'user',
  proactive: 'proactive',
  webhook: 'webhook',
  schedule: 'schedule',
  delegation: 'delegation',
};

/** Letters of the source classes, as grants and caps are counted by them. */
export const CLASS_LETTERS = { delegation: 'd', proactive: 'p', schedule: 's', user: 'u', webhook: 'w' } as const satisfies Record<
  SourceClass,
  string
>;

/** What a task counts as for caps: the letter of its source class, and 0 for low priority, else 1. */
export function capClass(source: Source, priority: number): string {
  return `${CLASS_LETTERS[CLASS_OF[source]]}${priority === PRIORITY_NAMES.low ? 0 : 1}`;
}
