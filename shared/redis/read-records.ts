import { z } from 'zod';
import { hasCode, MusterError } from '../errors/index.ts';

/** A record that this process cannot read: another version wrote it, or a person did. */
export interface UnreadableRecord {
  id: string;
  /** For people. */
  reason: string;
}

/** What was read of a list, in its order, and what could not be. */
export interface ReadRecords<T> {
  items: T[];
  unreadable: UnreadableRecord[];
}

const MAX_REASON = 200;

/** Reads one record as it is stored. Errors: `record.unreadable`, `seal.key-lost`. */
export function readRecord<T>(id: string, text: string, read: (text: string) => T): T {
  try {
    return read(text);
  } catch (error) {
    throw unreadable(id, error);
  }
}

/** Reads the records of a list one by one, so that an unreadable record hides no other. */
export function readRecords<T>(
  stored: Iterable<readonly [id: string, text: string]>,
  read: (text: string, id: string) => T,
): ReadRecords<T> {
  const found: ReadRecords<T> = { items: [], unreadable: [] };
  for (const [id, text] of stored) {
    try {
      found.items.push(read(text, id));
    } catch (error) {
      found.unreadable.push({ id, reason: reasonOf(error) });
    }
  }
  return found;
}

export function unreadable(id: string, cause: unknown): MusterError {
  if (isKeyLost(cause)) return cause;
  return new MusterError('record.unreadable', `The record ${id} cannot be read here: ${reasonOf(cause)}`, { details: { id }, cause });
}

function isKeyLost(error: unknown): error is MusterError {
  return hasCode(error, 'seal.key-lost');
}

/** Names the fields that are not as expected, and nothing of their content. */
export function reasonOf(error: unknown): string {
  if (error instanceof z.ZodError) {
    const fields = error.issues.map(({ path, code }) => `${path.join('.') || 'record'}: ${code}`);
    return [...new Set(fields)].join(', ').slice(0, MAX_REASON);
  }
  return isKeyLost(error) ? error.message : 'not in a form that is known';
}

/** How lists return unreadable records: beside the items, which most callers read alone. */
export const unreadableSchema = z
  .array(z.strictObject({ id: z.string(), reason: z.string() }).meta({ id: 'UnreadableRecord' }))
  .optional()
  .meta({ description: 'Records that cannot be read by this version; absent when all can.' });

/** The field of a list's answer; nothing when all could be read. */
export function unreadableOf(records: readonly UnreadableRecord[]): { unreadable?: UnreadableRecord[] } {
  return records.length === 0 ? {} : { unreadable: [...records] };
}
