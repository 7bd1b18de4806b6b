import { MusterError } from '#shared/errors/index.ts';
import { isEntryId } from '#shared/redis/index.ts';

/** How far a reader of a task has read: the last entry of its output and of its log; null for none. */
export interface StreamPlace {
  readonly output: string | null;
  readonly log: string | null;
}

const SEPARATOR = '.';
const NOTHING = '0-0';

/** As a reader gets it with an event, and sends it back as `Last-Event-ID`. Without a log it is the id of the output's entry. */
export function streamId({ output, log }: StreamPlace): string {
  return log === null ? (output ?? NOTHING) : `${output ?? NOTHING}${SEPARATOR}${log}`;
}

/**
 * The place that a reader names. Errors: `request.invalid`, before the stream opens: a reader that is cut off instead comes back with the
 * same id again and again.
 */
export function parseStreamPlace(id: string | undefined): StreamPlace {
  if (id === undefined || id === '') return { output: null, log: null };
  const [output = '', log, ...others] = id.split(SEPARATOR);
  if (!isEntryId(output) || (log !== undefined && !isEntryId(log)) || others.length > 0) {
    throw new MusterError('request.invalid', 'Last-Event-ID: expected the id of an event');
  }
  return { output: output === NOTHING ? null : output, log: log ?? null };
}

/** The place of a reader of output alone; null for nothing yet. Errors: `request.invalid`, before the stream opens. */
export function parseOutputPlace(id: string | undefined): string | null {
  if (id === undefined || id === '') return null;
  if (isEntryId(id)) return id;
  throw new MusterError('request.invalid', 'Last-Event-ID: expected the id of an output event');
}
