import { parseKnownState } from '../codec/state.ts';
import { entryText, isOpenCall, type NumberedEntry, readEntryText } from '../journal/entry.ts';
import { readEntry, readJournal } from '../journal/read-journal.ts';
import type { Ledger } from '../ledger.ts';
import { answerRuns } from './promote-tasks.ts';

interface AnsweredCall {
  tenant: string;
  /** The task. */
  id: string;
  /** What the entry of the call becomes. */
  entry: NumberedEntry;
}

/** A suspended task changes by hand only, and by the answers of its other calls. */
const MAX_TRIES = 20;

/**
 * Answers a call that a suspended run makes together with others: the last answer resumes the run. `gone`: it waits for the call no more.
 * Repeated, it changes nothing.
 */
export async function answerCall(ledger: Ledger, call: AnsweredCall): Promise<'answered' | 'gone'> {
  const written = await writeAnswer(ledger, call);
  const awaited = await findAwaited(ledger, call);
  if (awaited === null || (await hasOpenCalls(ledger, call))) return written;
  const [resumed] = await answerRuns(ledger, call.tenant, [{ id: call.id, entry: awaited }]);
  if (resumed?.kind === 'failed') throw new Error(`The answers of ${call.id} could not be recorded: ${resumed.why}`);
  return written;
}

async function writeAnswer(ledger: Ledger, { tenant, id, entry }: AnsweredCall): Promise<'answered' | 'gone'> {
  const keys = ledger.keys.tenant(tenant);
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const [seen, written] = await Promise.all([ledger.redis.hget(keys.states, id), ledger.redis.hget(keys.journal(id), `${entry.seq}`)]);
    const awaited = seen === null ? null : awaitedCall(seen);
    if (seen === null || written === null || awaited === null) return 'gone';
    if (!isOpenCall(readEntryText(ledger.seal, { tenant, id }, entry.seq, written))) return 'gone';
    const ended = entryText(ledger.seal, { tenant, id }, entry);
    const args = [id, entry.seq, seen, written, ended, entry.seq === awaited ? 0 : 1];
    if ((await ledger.run('answer-call', [keys.states, keys.journal(id)], args)) === 'written') return 'answered';
  }
  throw new Error(`Call ${entry.seq} of ${id} could not be answered: its task changes again and again`);
}

/** The number of the call that a run is suspended at; null for any other task. */
function awaitedCall(state: string): number | null {
  const { suspended, hold } = parseKnownState(state);
  return hold?.gate === 'batch' ? (suspended?.entry ?? null) : null;
}

/** The entry of that call. */
async function findAwaited(ledger: Ledger, { tenant, id }: AnsweredCall): Promise<NumberedEntry | null> {
  const seen = await ledger.redis.hget(ledger.keys.tenant(tenant).states, id);
  const seq = seen === null ? null : awaitedCall(seen);
  return seq === null ? null : await readEntry(ledger, { tenant, id }, seq);
}

async function hasOpenCalls(ledger: Ledger, { tenant, id }: AnsweredCall): Promise<boolean> {
  return (await readJournal(ledger, { tenant, id })).entries.some((entry) => isOpenCall(entry));
}
