import { z } from 'zod';
import type { StepWork } from '../../config/index.ts';
import { TaskFailure } from '../../errors/index.ts';
import { type JournalEntry, type JournalKind, type Ledger, noteReplay, type NumberedEntry, openJournal } from '../../ledger/index.ts';
import { retryWhileAway } from '../../redis/index.ts';
import type { RunningAttempt } from '../attempt/running-attempt.ts';
import type { JournalInputs } from './journal-inputs.ts';

/** An entry that an attempt begins. */
export interface Begun {
  seq: number;
  kind: JournalKind;
  name: string;
  given?: string;
  startedAt: number;
  drawn?: number[];
}

/** What a run began with: the messages that were part of its prompt, the turns of its session that it had asked for, by id, and what its runner goes by. */
const definitionSchema = z.object({ given: z.array(z.string()), history: z.array(z.string()).optional(), run: z.unknown().optional() });
type Definition = z.infer<typeof definitionSchema>;

/** The definition of a run, as its first entry keeps it. */
export function definitionOf({ given, history, definition }: Pick<JournalInputs, 'given' | 'history' | 'definition'>): Definition {
  return { given: [...given], ...(history && { history: [...history] }), ...(definition !== undefined && { run: definition }) };
}

/** The first entry of a run. */
export function definitionEntry(
  {
    agent,
    version,
    attempt,
    number,
  }: { agent: string; version?: string | undefined; attempt: Pick<RunningAttempt, 'now'>; number: number },
  definition: Definition,
): NumberedEntry {
  const at = attempt.now();
  const value = JSON.stringify(definition);
  const named = { name: agent, ...(version !== undefined && { version }) };
  return { seq: 1, kind: 'definition', ...named, status: 'completed', attempt: number, startedAt: at, endedAt: at, value };
}

/** RecordedJournal is responsible for what earlier attempts of a run wrote into its journal. */
export class RecordedJournal {
  readonly #entries: ReadonlyMap<number, NumberedEntry>;
  readonly task: string;
  /** The number of the last entry; 0 without one. */
  readonly last: number;
  /** How often an entry ended so far. */
  readonly ends: number;
  /** The text that stays written, and the number of the last entry of the output that has some of it. */
  readonly output: { text: string; seq: number };
  /** Characters of that text up to the end of an entry, by its number. */
  readonly #written = new Map<number, number>();

  /** `entries`: by number, of this task. */
  constructor(entries: readonly NumberedEntry[] = [], task = '') {
    this.task = task;
    this.#entries = new Map(entries.map((entry) => [entry.seq, entry]));
    this.last = entries.at(-1)?.seq ?? 0;
    this.ends = Math.max(0, ...entries.map(({ order = 0 }) => order));
    const ended = entries
      .filter((entry) => entry.status === 'waiting' || this.#isFinal(entry))
      .toSorted((one, other) => (one.order ?? 0) - (other.order ?? 0));
    let text = '';
    for (const each of ended) {
      text += each.text ?? '';
      this.#written.set(each.seq, text.length);
    }
    this.output = { text, seq: Math.max(0, ...ended.map(({ output = 0 }) => output)) };
  }

  /** The messages that were part of the run's prompt when it began, by id; null for a run without a journal. */
  get given(): readonly string[] | null {
    return this.#definition?.given ?? null;
  }

  /** The turns of its session that the run asked for before its first step, by the ids of their tasks; null for none. */
  get history(): readonly string[] | null {
    return this.#definition?.history ?? null;
  }

  /** What its runner goes by; undefined for nothing. */
  get definition(): unknown {
    return this.#definition?.run;
  }

  get #definition(): Definition | undefined {
    const definition = this.at(1);
    return definition?.value === undefined ? undefined : definitionSchema.parse(valueOf(definition));
  }

  at(seq: number): NumberedEntry | undefined {
    return this.#entries.get(seq);
  }

  /** Entries with a higher number, in their order. */
  behind(seq: number): NumberedEntry[] {
    return [...this.#entries.values()].filter((entry) => entry.seq > seq);
  }

  /** Characters of the text that were written when the entry had ended. */
  writtenAt(seq: number): number {
    return this.#written.get(seq) ?? 0;
  }

  /** What ended here; null where it is to be done. Throws JOURNAL_MISMATCH where the run did something else. */
  finished({ seq, kind, name, given }: Begun): NumberedEntry | null {
    const known = this.at(seq);
    if (!known) return null;
    if (known.kind !== kind || known.name !== name || known.given !== given)
      throw mismatch({ task: this.task, known, now: { kind, name } });
    return this.#isFinal(known) ? known : null;
  }

  /** A failed entry is final once the run began another after it. */
  #isFinal({ status, followed = 0 }: NumberedEntry): boolean {
    return status === 'completed' || (status === 'failed' && this.last > followed);
  }
}

/** Reads what earlier attempts wrote, and notes that this one begins with it; null for nothing. */
export async function readRecorded(ledger: Ledger, attempt: RunningAttempt): Promise<RecordedJournal | null> {
  const signal = (): AbortSignal => attempt.signal;
  const { entries } = await retryWhileAway(() => openJournal(ledger, attempt.ref), { signal });
  if (entries.length === 0) return null;
  await retryWhileAway(() => noteReplay(ledger, attempt.ref, entries.at(-1)?.seq ?? 0), { signal });
  return new RecordedJournal(entries, attempt.ref.id);
}

/** What an entry gave. */
export function valueOf({ value }: { value?: string | undefined }): unknown {
  return value === undefined ? undefined : JSON.parse(value);
}

/** What a step gave, of its JSON: it came from the work that the agent gives it. */
export function resultOf<T>(value: string | undefined, _work: StepWork<T>): T {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- An attempt of the same code gave it.
  return valueOf({ value }) as T;
}

/** Two entries of which a run came to the second one where the first one is. `task`: its id. */
interface Mismatch {
  task: string;
  known: NumberedEntry;
  now: Pick<JournalEntry, 'kind' | 'name'>;
}

/** The failure of a run that did something else where an earlier attempt was: by its name, or with something else. Both ways on are in its message. */
export function mismatch({ task, known, now }: Mismatch): TaskFailure {
  const { seq } = known;
  const [was, is] = [known, now].map(({ kind, name }) => `the ${kind} "${name}"`);
  const other = was === is ? `${is} with something else` : is;
  const message = `Entry ${seq} of the journal is ${was}, and the run came to ${other} there, as its code has changed`;
  const again = `start it again (muster retry ${task}), or as a new task from step ${seq} (muster retry ${task} --from-step ${seq})`;
  return new TaskFailure('JOURNAL_MISMATCH', `${message}: ${again}`, { details: { step: seq } });
}
