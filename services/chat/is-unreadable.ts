import { z } from 'zod';

/** What an adapter says of an id or a text that none of its platform's is. */
const NOT_THEIRS = z.object({ code: z.literal('VALIDATION_ERROR') });

/**
 * Whether an error says that an update is not what its platform's adapter reads: it would not be read the next time either. What has a
 * cause is about something else, such as a call to the platform that failed.
 */
export function isUnreadable(error: unknown): boolean {
  if (error instanceof z.ZodError || NOT_THEIRS.safeParse(error).success) return true;
  return (error instanceof TypeError || error instanceof RangeError) && error.cause === undefined;
}
