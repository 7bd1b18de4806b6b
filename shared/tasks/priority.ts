import type { Source, TaskQueue } from '../config/settings.ts';
import { z } from 'zod';

export const PRIORITY_NAMES = { low: 1, normal: 5, high: 8, critical: 10 } as const;

/** 1 to 10, 10 first, or a name for one of them. */
export const prioritySchema = z.union([z.number().int().min(1).max(10), z.enum(['low', 'normal', 'high', 'critical'])]);
export type PriorityInput = z.infer<typeof prioritySchema>;

const BY_SOURCE: Readonly<Record<Source, number>> = { chat: 5, api: 5, proactive: 5, webhook: 5, schedule: 10, delegation: 4 };
/** Where a person sits and waits in front of the screen. */
const ATTENDED_CHANNELS = new Set(['desktop', 'cli', 'ide']);

export interface PriorityHints {
  source: Source;
  channel: string | null;
  /** Of the task that delegated this one. */
  parentPriority?: number;
}

/** The priority of a task that named none. */
export function defaultPriority({ source, channel, parentPriority }: PriorityHints): number {
  if (source === 'delegation' && parentPriority !== undefined) return Math.max(1, parentPriority - 1);
  if ((source === 'chat' || source === 'api') && channel !== null && ATTENDED_CHANNELS.has(channel)) return PRIORITY_NAMES.high;
  return BY_SOURCE[source];
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
