import { z } from 'zod';

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
