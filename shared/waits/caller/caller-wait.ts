import { z } from 'zod';
import { type Ledger, type NumberedEntry, readJournal } from '../../ledger/index.ts';
import { sumUsage, type TaskUsage } from '../../tasks/index.ts';

const callSchema = z.object({ id: z.string(), name: z.string(), arguments: z.string() });

/** What a run waits for: the calls of its caller's functions by a model, which of the run's waits for its caller it is, from 1, and where in its output it stands. */
const waitSchema = z.object({ part: z.int(), at: z.int(), calls: z.array(callSchema) });

/** What the caller sent: what each call gave, in their order, the digest of that, and whether nobody waits for what follows. */
const answerSchema = z.object({ outputs: z.array(z.string()), digest: z.string(), isBackground: z.boolean().optional() });

/** A run's wait for its caller. */
export interface CallerWait extends z.infer<typeof waitSchema> {
  /** Of its entry in the journal. */
  readonly seq: number;
  /** Whether the run still waits there. */
  readonly isOpen: boolean;
  /** What the caller sent; null for nothing, also where the time for it has passed. */
  readonly answer: CallerAnswer | null;
  /** When the run came to it, ms since the epoch. */
  readonly startedAt: number;
}

export type CallerAnswer = z.infer<typeof answerSchema>;

/** JSON of what a run waits for. */
export function callerWaitText(wait: z.infer<typeof waitSchema>): string {
  return JSON.stringify(wait);
}

/** JSON of what the caller sent. */
export function callerAnswerText(answer: CallerAnswer): string {
  return JSON.stringify(answer);
}

/** What a wait for its caller gave a run, in the order of the calls; null where nobody came. */
export function outputsOf(value: unknown): readonly string[] | null {
  return answerSchema.nullable().parse(value)?.outputs ?? null;
}

/** The wait of an entry; null for an entry of another kind, or one that cannot be opened here. */
export function callerWaitOf(entry: NumberedEntry | null): CallerWait | null {
  if (entry?.kind !== 'caller' || entry.wait === undefined) return null;
  const { seq, status, startedAt, value = 'null' } = entry;
  const answer = answerSchema.nullable().parse(JSON.parse(value));
  return { ...waitSchema.parse(JSON.parse(entry.wait)), seq, isOpen: status === 'waiting', answer, startedAt };
}

/** A run's wait for its caller, with what the run had written and used up to there. */
export interface ReachedWait {
  readonly wait: CallerWait;
  readonly text: string;
  /** Since the wait before it. */
  readonly usage: TaskUsage | null;
}

export interface ReachedWaits {
  /** First to last. */
  readonly waits: readonly ReachedWait[];
  /** What the run used behind the last of them. */
  readonly usage: TaskUsage | null;
}

/** A run's waits for its caller so far. */
export async function readCallerWaits(ledger: Ledger, task: { tenant: string; id: string }): Promise<ReachedWaits> {
  const { entries } = await readJournal(ledger, task);
  const inOrder = entries.filter(({ order }) => order !== undefined).toSorted((one, other) => (one.order ?? 0) - (other.order ?? 0));
  const waits: ReachedWait[] = [];
  let written = '';
  let usage: TaskUsage | null = null;
  for (const entry of inOrder) {
    // What an attempt wrote in a step that another one had to do again is written no more.
    if (entry.status === 'waiting' || entry.status === 'completed') written += entry.text ?? '';
    usage = sumUsage(usage, entry.usage ?? null);
    const wait = callerWaitOf(entry);
    if (!wait) continue;
    waits.push({ wait, text: written.slice(0, wait.at), usage });
    usage = null;
  }
  return { waits, usage };
}
