import type { z } from 'zod';
import type { Accepted } from '#shared/queue/index.ts';
import type { acceptedViewSchema } from './task-view.ts';

/** What accepting answered, as callers see it. */
export function acceptedView({ id, status, position, estimatedStartMs, pressure }: Accepted): z.infer<typeof acceptedViewSchema> {
  return { id, status, position, estimatedStartMs, pressure };
}
