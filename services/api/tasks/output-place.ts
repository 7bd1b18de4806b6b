import { MusterError } from '#shared/errors/index.ts';
import { isEntryId } from '#shared/redis/index.ts';

/**
 * How far a reader of output has read, from what it sends as `Last-Event-ID`; null for nothing yet. Errors: `request.invalid`, before the
 * stream opens: a reader that is cut off instead comes back with the same id for ever.
 */
export function outputPlace(id: string | undefined): string | null {
  if (id === undefined || id === '') return null;
  if (isEntryId(id)) return id;
  throw new MusterError('request.invalid', 'Last-Event-ID: expected the id of an output event');
}
