import { leaseMember, type AttemptRef } from './attempt-ref.ts';
import type { Ledger } from './ledger.ts';

export interface OutputEntry {
  /** Number of the attempt. */
  attempt: number;
  /** From 1 in each attempt; an attempt that was interrupted and ran again starts over. */
  seq: number;
  text: string;
}

/** Appends to a task's output stream. Returns false when the attempt lost its lease; nothing is written then. */
export async function appendOutput(ledger: Ledger, ref: AttemptRef, { attempt, seq, text }: OutputEntry): Promise<boolean> {
  const shard = ledger.keys.shard(ledger.keys.shardOf(ref.tenant));
  const { maxOutputEntries, outputRetentionMs } = ledger.settings.tasks;
  const written = await ledger.run(
    'append-output',
    [shard.leases, ledger.keys.tenant(ref.tenant).output(ref.id)],
    [leaseMember(ref), attempt, seq, text, maxOutputEntries, outputRetentionMs, shard.signal, `${ref.tenant}/${ref.id}/output`],
  );
  return written === 1;
}
