import type { TaskState, TaskUsage, UsageRow } from '../../tasks/index.ts';
import { type AttemptRef, leaseMember } from '../claim/leases.ts';
import type { RunningUsage } from '../claim/report-usage.ts';
import { parseState } from '../codec/state.ts';
import { shardKeys } from '../context.ts';
import type { Ledger } from '../ledger.ts';
import type { AttemptEnd } from './attempt-end.ts';
import { type JournalProgress, readJournalProgress } from '../journal/read-journal.ts';
import { decideTransition } from './decide-transition.ts';
import { commitTransition, readSeen } from './settle-attempt.ts';
import type { Transition } from './transition.ts';

/** An attempt that was taken back: its task as it was while the attempt ran, how it ended, and what the ledger did. */
interface Expired {
  running: TaskState;
  end: AttemptEnd;
  transition: Transition;
}

interface Expiry {
  /** Decides what follows. */
  decide: (running: TaskState, journal: JournalProgress | null) => AttemptEnd;
  /** Whether the process is known to have ended, so that its lease does not count any more. */
  isGone: boolean;
}

/** A lost attempt changes by a cancel, and by what its process reports while it still can. */
const TRIES = 5;

/**
 * Settles an attempt from which nothing is heard any more, as `settleAttempt` does for the worker that has it. `held`: its lease stands. `gone`:
 * the task is not this attempt's any more.
 */
export async function settleExpired(ledger: Ledger, attempt: AttemptRef, { decide, isGone }: Expiry): Promise<Expired | 'held' | 'gone'> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const [seen, reported, journal] = await Promise.all([
      readSeen(ledger, attempt),
      readReported(ledger, attempt),
      readJournalProgress(ledger, attempt),
    ]);
    if (seen === null) return await forgetLease(ledger, attempt);
    const running = parseState(seen.stored, seen.first);
    const { version } = journal ?? {};
    const end: AttemptEnd = { ...decide(running, journal), usage: reported.usage, ...(version !== undefined && { version }) };
    const decided = decideTransition(attempt, end, seen);
    if (decided === null) return await forgetLease(ledger, attempt);
    const transition = { ...decided, usage: reported.rows, lost: { isGone, reported: reported.text } };
    const answer = await commitTransition(ledger, transition);
    if (answer === 'held') return answer;
    if (answer === 'settled') return { running, end, transition };
  }
  throw new Error(`The task ${attempt.id} kept changing while its attempt was taken back`);
}

interface Reported {
  /** As it is stored; empty for nothing. */
  text: string;
  usage: TaskUsage | null;
  /** What the day does not have yet. */
  rows: UsageRow[] | undefined;
}

/** What the attempt has used by its last report. */
async function readReported({ redis, keys }: Ledger, { tenant, id, token }: AttemptRef): Promise<Reported> {
  const text = await redis.hget(keys.tenant(tenant).runningUsage, `${id}:${token}`);
  return text === null ? { text: '', usage: null, rows: undefined } : { text, ...(JSON.parse(text) as RunningUsage) };
}

/** A token is never the task's again, so its lease may go whatever happens meanwhile. */
async function forgetLease(ledger: Ledger, attempt: AttemptRef): Promise<'gone'> {
  const { leases, signals } = shardKeys(ledger, attempt.tenant);
  const member = leaseMember(attempt);
  await Promise.all([ledger.redis.zrem(leases, member), ledger.redis.hdel(signals, member)]);
  return 'gone';
}
