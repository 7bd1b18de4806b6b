import { answerRuns, askWhileRunning, type Ledger, type NumberedEntry, readEntry } from '../../ledger/index.ts';
import { retryWhileAway } from '../../redis/index.ts';
import { wait } from '../../time/index.ts';
import type { RunningAttempt } from '../attempt/running-attempt.ts';

interface AskPorts {
  attempt: RunningAttempt;
  ledger: Ledger;
}

export interface AwaitOptions {
  /** How long an answer is waited for, unless the signal aborts before. */
  ms: number;
  signal: AbortSignal;
  /** Lets people know. */
  onAsked: (entry: number) => Promise<void>;
}

interface OpenQuestion extends AwaitOptions {
  /** Where the run asks. */
  entry: NumberedEntry;
  /** The id of the question. */
  question: string;
  /** JSON of what nobody's answer is. */
  expired: string;
}

/** Between two looks whether people have answered, ms. */
const LOOK_MS = 250;

/**
 * Opens a question, and waits for the answer. Resolves with JSON of that, also of nobody's in time; null where there is none after `ms`, or once the
 * signal aborts.
 */
export async function awaitAnswer(ports: AskPorts, open: OpenQuestion): Promise<string | null> {
  const { attempt, ledger } = ports;
  const { entry, ms, signal } = open;
  await askPeople(ports, open);
  const endsAt = attempt.now() + ms;
  while (!signal.aborted) {
    const known = await retryWhileAway(() => readEntry(ledger, attempt.ref, entry.seq), { signal: () => attempt.signal });
    if (known?.status === 'completed') return known.value ?? 'null';
    const now = attempt.now();
    if ((entry.until ?? Infinity) <= now) return await expire(ports, open);
    if (endsAt <= now) return null;
    await wait(Math.min(LOOK_MS, endsAt - now), AbortSignal.any([signal, attempt.signal]));
    attempt.throwIfStopped();
  }
  return null;
}

async function askPeople({ attempt, ledger }: AskPorts, { entry, question, onAsked }: OpenQuestion): Promise<void> {
  const asked = await retryWhileAway(() => askWhileRunning(ledger, attempt.ref, { entry, question }), { signal: () => attempt.signal });
  if (asked.kind === 'lost') attempt.stop({ kind: 'lease-lost' });
  else attempt.changed(asked.stored);
  attempt.throwIfStopped();
  // Another process does so where this one cannot.
  await onAsked(entry.seq).catch(() => undefined);
}

async function expire(ports: AskPorts, { entry, expired }: OpenQuestion): Promise<string> {
  const ended = await endQuestion(ports, { ...entry, status: 'completed', endedAt: ports.attempt.now(), value: expired });
  return ended.value ?? 'null';
}

/** Ends a question that nobody answered in time. Gives its entry: an answer may have come at the last moment. */
export async function endQuestion({ attempt, ledger }: AskPorts, ended: NumberedEntry): Promise<NumberedEntry> {
  const { tenant, id } = attempt.ref;
  const signal = (): AbortSignal => attempt.signal;
  await retryWhileAway(() => answerRuns(ledger, tenant, [{ id, entry: ended }]), { signal });
  const known = await retryWhileAway(() => readEntry(ledger, attempt.ref, ended.seq), { signal });
  attempt.throwIfStopped();
  return known?.status === 'completed' ? known : ended;
}
