import { leaseMember, type AttemptRef } from '../attempt-ref.ts';
import type { Ledger } from '../ledger.ts';
import type { LogEntry } from './log-entry.ts';

/** Appends to a task's log, whose oldest entries go first. Returns false when the attempt lost its lease; nothing is written then. */
export async function appendLog(ledger: Ledger, ref: AttemptRef, entry: LogEntry): Promise<boolean> {
  const shard = ledger.keys.shard(ledger.keys.shardOf(ref.tenant));
  const { maxLogEntries, logRetentionMs } = ledger.settings.tasks;
  const written = await ledger.run(
    'append-log',
    [shard.leases, ledger.keys.tenant(ref.tenant).log(ref.id)],
    [leaseMember(ref), JSON.stringify(entry), maxLogEntries, logRetentionMs, shard.signal, `${ref.tenant}/${ref.id}/log`],
  );
  return written === 1;
}
