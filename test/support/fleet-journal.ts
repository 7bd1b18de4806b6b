import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * What an agent really did, written outside the fleet: the fleet's own records cannot hide a run that happened twice.
 *
 * - `start`: the agent was called
 * - `abort`: its signal aborted
 * - `end`: it came to its end and its effect is out
 * - `fail`: it threw by itself
 */
export interface JournalEntry {
  event: 'start' | 'abort' | 'end' | 'fail';
  task: string;
  session: string | null;
  input: string;
  attempt: number;
  /** The process that ran it. */
  pid: number;
  /** Wall time, ms since the epoch. */
  at: number;
}

const FILE = 'journal.ndjson';

/** One write to a file opened for appending, so that lines of many processes do not mix and survive a kill. */
export function appendToJournal(directory: string, entry: JournalEntry): void {
  appendFileSync(join(directory, FILE), `${JSON.stringify(entry)}\n`);
}

/** Everything in the order in which it was written. */
export function readJournal(directory: string): JournalEntry[] {
  const file = join(directory, FILE);
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as JournalEntry);
}
