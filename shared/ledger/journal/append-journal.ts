import { type AttemptRef, leaseMember } from '../claim/leases.ts';
import { shardGroup } from '../context.ts';
import type { Ledger } from '../ledger.ts';
import { entryText, type NumberedEntry } from './entry.ts';

/** What an attempt writes into the journal of its task. */
interface JournalWrite {
  ref: AttemptRef;
  entries: readonly NumberedEntry[];
  /** It is sent at once: the process may end in what it begins. */
  isUrgent?: boolean;
}

/** Writes entries of a running attempt, with those of others at the same time. Returns false when it lost its lease; nothing is written then. */
export async function appendJournal(ledger: Ledger, write: JournalWrite): Promise<boolean> {
  const { ref, isUrgent = false } = write;
  return await ledger.batches.add({ ledger, run: appendAll, group: shardGroup(ledger, ref.tenant), isUrgent }, write);
}

async function appendAll(ledger: Ledger, writes: readonly JournalWrite[]): Promise<boolean[]> {
  const shard = ledger.keys.shardOf(writes[0]?.ref.tenant ?? '');
  const keys = writes.map(({ ref }) => ledger.keys.tenant(ref.tenant).journal(ref.id));
  const answers = await ledger.run(
    'append-journal',
    [ledger.keys.shard(shard).leases, ...keys],
    writes.flatMap((write) => argumentsOf(ledger, write)),
  );
  return (answers as number[]).map((answer) => answer === 1);
}

function argumentsOf({ seal }: Ledger, { ref, entries }: JournalWrite): (string | number)[] {
  const begun = entries.filter(hasBegun);
  const ended = entries.filter((entry) => !hasBegun(entry));
  const texts = [...begun, ...ended].flatMap((entry) => [entry.seq, entryText(seal, ref, entry)]);
  return [leaseMember(ref), begun.length, ended.length, ...texts];
}

/** What waits is one of several calls that its run makes together. */
function hasBegun({ status }: NumberedEntry): boolean {
  return status === 'started' || status === 'waiting';
}
