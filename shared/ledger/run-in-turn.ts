import type { Ledger } from './ledger.ts';

/** The last call of each line, by ledger. A line goes when its last call ended. */
const lines = new WeakMap<Ledger, Map<string, Promise<unknown>>>();

/** Runs calls of one name one after the other within this process, in the order they came. */
export async function runInTurn<Answer>(ledger: Ledger, name: string, call: () => Promise<Answer>): Promise<Answer> {
  const line = lines.get(ledger) ?? new Map<string, Promise<unknown>>();
  lines.set(ledger, line);
  const before = line.get(name) ?? Promise.resolve();
  // What became of the call before it is its own caller's.
  const own = before.then(call, call);
  line.set(name, own);
  try {
    return await own;
  } finally {
    if (line.get(name) === own) line.delete(name);
  }
}
