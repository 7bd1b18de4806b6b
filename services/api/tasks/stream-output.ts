import type { EventStream } from '#shared/http/index.ts';
import { type Keys, pairs, type RedisClient, isEntryId } from '#shared/redis/index.ts';
import { MusterError } from '#shared/errors/index.ts';

/** Entries read at once. */
const PAGE = 200;

interface WriteOutputOptions {
  tenant: string;
  id: string;
  /** The entry that the reader saw last; null from the start. */
  after: string | null;
  /** The id of an entry's event. Defaults to that of the entry. */
  idOf?: (entryId: string) => string;
  /** Further fields of each event. */
  names?: Readonly<Record<string, string>>;
}

/** Writes the entries of a task's output after the last one as `output` events with their ids; returns the last one then. */
export async function writeOutput(
  { redis, keys }: { redis: RedisClient; keys: Keys },
  { tenant, id, after, names = {}, idOf = (entryId) => entryId }: WriteOutputOptions,
  stream: EventStream,
): Promise<string | null> {
  const key = keys.tenant(tenant).output(id);
  let last = after;
  for (;;) {
    const entries = await redis.xrange(key, last === null ? '-' : `(${last}`, '+', 'COUNT', PAGE);
    for (const [entryId, fields] of entries) {
      if (stream.signal.aborted) return last;
      await stream.send('output', { ...names, ...outputOf(fields) }, idOf(entryId));
      last = entryId;
    }
    if (entries.length < PAGE) return last;
  }
}

function outputOf(fields: readonly string[]): { attempt: number; seq: number; text: string } {
  const byName = new Map(pairs(fields));
  return { attempt: Number(byName.get('attempt')), seq: Number(byName.get('seq')), text: byName.get('text') ?? '' };
}

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
 * The place that a reader names. Errors: `request.invalid`, before the stream opens, because a reader that is cut off would repeat the same
 * id again and again.
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
