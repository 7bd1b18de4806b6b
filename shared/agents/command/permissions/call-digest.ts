import { createHash } from 'node:crypto';

// It is copied beside `permission-main.ts`, so it imports nothing but Node.

/** In the place of the attempt's folder. No path can have it. */
const FOLDER = '\u0000';

/**
 * Names the use of a tool with an input, in which the order of members does not count, nor where the attempt has its folder: the next attempt of a run has
 * another one.
 */
export function callDigest(tool: string, input: unknown, folder: string): string {
  return createHash('sha256')
    .update(JSON.stringify([tool, sorted(input, folder)]))
    .digest('hex');
}

function sorted(value: unknown, folder: string): unknown {
  if (typeof value === 'string') return value.replaceAll(folder, FOLDER);
  if (Array.isArray(value)) return value.map((each) => sorted(each, folder));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([name, each]) => [name, sorted(each, folder)]));
}
