import type { Ledger } from '../ledger.ts';

/** A range of ids, each set in order of time: members `<prefix><id>` of a sorted set. */
export interface Lookup {
  key: string;
  prefix: string;
}

/** Which ids of a lookup. */
export interface IdRange {
  /** The smallest id; an empty text for no limit. */
  low: string;
  /** Only ids before this one; null for no limit. */
  before: string | null;
  max: number;
}

/** Behind every id. */
const NO_END = '\u00ff';

/**
 * How the index names one value of a property. A slash ends the value in a member and opens nothing else, or the tasks of session
 * `a/b` would stand among those of session `a`.
 */
export function lookupName(property: string, value: string): string {
  return `${property}=${value.replaceAll('%', '%25').replaceAll('/', '%2F')}`;
}

/** The value in a name of `lookupName`, whose property and `=` are left out. */
export function lookupValue(name: string): string {
  return name.replaceAll('%2F', '/').replaceAll('%25', '%');
}

/** The ids of a lookup, newest first. */
export async function readLookup(
  { redis }: Pick<Ledger, 'redis'>,
  { key, prefix }: Lookup,
  { low, before, max }: IdRange,
): Promise<string[]> {
  const members = await redis.zrevrangebylex(key, `(${prefix}${before ?? NO_END}`, `[${prefix}${low}`, 'LIMIT', 0, max);
  return members.map((member) => member.slice(prefix.length));
}

/** The ids of a lookup behind this one, oldest first. */
export async function readLookupAfter(
  { redis }: Pick<Ledger, 'redis'>,
  { key, prefix }: Lookup,
  after: string,
  max: number,
): Promise<string[]> {
  const members = await redis.zrangebylex(key, `(${prefix}${after}`, `(${prefix}${NO_END}`, 'LIMIT', 0, max);
  return members.map((member) => member.slice(prefix.length));
}
