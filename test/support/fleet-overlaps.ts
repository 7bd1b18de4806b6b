import type { JournalEntry } from './fleet-journal.ts';

/**
 * What ran at the same time as another run of its session. A run that was cut short by a kill ended with its process, which
 * `killedAt` tells by process id, ms since the epoch.
 */
export function overlapsOf(journal: readonly JournalEntry[], killedAt: ReadonlyMap<number, number>): string[] {
  const found: string[] = [];
  const running = new Map<string, JournalEntry>();
  for (const entry of journal) {
    const session = entry.session ?? '';
    if (entry.event !== 'start') {
      if (running.get(session)?.task === entry.task) running.delete(session);
      continue;
    }
    const other = running.get(session);
    if (other && (killedAt.get(other.pid) ?? Infinity) > entry.at) found.push(`${entry.input} of ${session} began during ${other.input}`);
    running.set(session, entry);
  }
  return found;
}
