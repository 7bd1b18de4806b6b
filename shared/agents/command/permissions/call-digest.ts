import { createHash } from 'node:crypto';

// It is copied beside `permission-main.ts`, so it imports nothing but Node.

/** Names the use of a tool with an input, in which the order of members does not count. */
export function callDigest(tool: string, input: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify([tool, sorted(input)]))
    .digest('hex');
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => sorted(each));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([name, each]) => [name, sorted(each)]));
}
