import { z } from 'zod';
import ipaddr from 'ipaddr.js';

export const SOURCES = ['chat', 'api', 'proactive', 'webhook', 'schedule', 'delegation'] as const;
export type Source = (typeof SOURCES)[number];

/** Queues that carry tasks; a task's `queue` is one of them. */
export const TASK_QUEUES = ['critical', 'chat', 'webhooks', 'schedules', 'tasks', 'background', 'remote'] as const;
export type TaskQueue = (typeof TASK_QUEUES)[number];

/** Caps and rates are counted per class; `user` is chat and API together. */
export const SOURCE_CLASSES = ['user', 'proactive', 'webhook', 'schedule', 'delegation'] as const;
export type SourceClass = (typeof SOURCE_CLASSES)[number];

/**
 * What becomes of a message that meets work of its session.
 *
 * - `queue`: goes into the running task if its agent takes input and nothing waits before it, else waits
 * - `steer`: goes into the running task if its agent takes input, also past what waits, else waits
 * - `interrupt`: aborts the running task and replaces what waits
 * - `collect`: waits, and becomes one turn together with what else waits
 * - `latest`: replaces what waits
 * - `reject`: is refused
 */
export const QUEUE_MODES = ['queue', 'interrupt', 'collect', 'steer', 'latest', 'reject'] as const;
export type QueueMode = (typeof QUEUE_MODES)[number];

/** A setting that is an integer of at least `min`. */
export const int = (fallback: number, min = 1): z.ZodDefault<z.ZodNumber> => z.number().int().min(min).default(fallback);

/** What an agent, a lane or a schedule of the configuration is called. */
export const nameSchema = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, 'expected lower-case letters, digits, ".", "_" or "-", at most 64');

/** How a task is executed, as the task itself and its agent may say it; what neither says, the configuration does. */
export const executionFields = {
  /** Longest run of one attempt, in milliseconds. */
  timeoutMs: z.number().int().min(1).max(86_400_000).optional(),
  /** Attempts allowed, the first one included. */
  maxAttempts: z.number().int().min(1).max(100).optional(),
  /** Before the second attempt; `retryBackoff` says how it grows. In milliseconds. */
  retryDelayMs: z.number().int().min(0).max(3_600_000).optional(),
  retryBackoff: z.enum(['exponential', 'linear']).optional(),
};

export type Network = [first: ipaddr.IPv4 | ipaddr.IPv6, bits: number];

/** A network as CIDR, or one address; null for what is neither. */
export function readNetwork(text: string): Network | null {
  if (ipaddr.isValidCIDR(text)) return ipaddr.parseCIDR(text);
  // The short forms of IPv4 ("10.1" is 10.0.0.1) are more often a typing error than meant.
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return [ipaddr.parse(text), 32];
  if (ipaddr.IPv6.isValid(text)) return [ipaddr.parse(text), 128];
  return null;
}
