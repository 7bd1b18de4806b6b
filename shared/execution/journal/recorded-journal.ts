import { z } from 'zod';
import type { StepWork } from '../../config/index.ts';
import { TaskFailure } from '../../errors/index.ts';
import type { JournalEntry, JournalKind, NumberedEntry } from '../../ledger/index.ts';
import type { RunningAttempt } from '../attempt/running-attempt.ts';

/** An entry that an attempt begins. */
export interface Begun {
  seq: number;
  kind: JournalKind;
  name: string;
  startedAt: number;
  drawn?: number[];
}

/** What a run began with: the messages that were part of its prompt, and the turns of its session that it had asked for, by id. */
const definitionSchema = z.object({ given: z.array(z.string()), history: z.array(z.string()).optional() });
type Definition = z.infer<typeof definitionSchema>;

/** The definition of a run, as its first entry keeps it. */
export function definitionOf({ given, history }: { given: readonly string[]; history: readonly string[] | null }): Definition {
  return { given: [...given], ...(history && { history: [...history] }) };
}

/** The first entry of a run. */
export function definitionEntry(
  { agent, attempt, number }: { agent: string; attempt: Pick<RunningAttempt, 'now'>; number: number },
  definition: Definition,
): NumberedEntry {
  const at = attempt.now();
  const value = JSON.stringify(definition);
  return { seq: 1, kind: 'definition', name: agent, status: 'completed', attempt: number, startedAt: at, endedAt: at, value };
}

/** RecordedJournal is responsible for what earlier attempts of a run wrote into its journal. */
export class RecordedJournal {
  readonly #entries: ReadonlyMap<number, NumberedEntry>;
  /** The number of the last entry; 0 without one. */
  readonly last: number;
  /** How often an entry ended so far. */
  readonly ends: number;
  /** The text that stays written, and the number of the last entry of the output that has some of it. */
  readonly output: { text: string; seq: number };
  /** Characters of that text up to the end of an entry, by its number. */
  readonly #written = new Map<number, number>();

  /** `entries`: by number. */
  constructor(entries: readonly NumberedEntry[] = []) {
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

  get #definition(): Definition | undefined {
    const definition = this.at(1);
    return definition?.value === undefined ? undefined : definitionSchema.parse(valueOf(definition));
  }

  at(seq: number): NumberedEntry | undefined {
    return this.#entries.get(seq);
  }

  /** Characters of the text that were written when the entry had ended. */
  writtenAt(seq: number): number {
    return this.#written.get(seq) ?? 0;
  }

  /** What ended here; null where it is to be done. Throws JOURNAL_MISMATCH where the run did something else. */
  finished({ seq, kind, name }: Begun): NumberedEntry | null {
    const known = this.at(seq);
    if (!known) return null;
    if (known.kind !== kind || known.name !== name) throw mismatch(seq, known, { kind, name });
    return this.#isFinal(known) ? known : null;
  }

  /** A failed entry is final once the run began another after it. */
  #isFinal({ status, followed = 0 }: NumberedEntry): boolean {
    return status === 'completed' || (status === 'failed' && this.last > followed);
  }
}

/** What an entry gave. */
export function valueOf({ value }: JournalEntry): unknown {
  return value === undefined ? undefined : JSON.parse(value);
}

/** What a step gave: it came from the work that the agent gives it. */
export function resultOf<T>(entry: JournalEntry, _work: StepWork<T>): T {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- An attempt of the same code gave it.
  return valueOf(entry) as T;
}

function mismatch(seq: number, known: JournalEntry, now: { kind: string; name: string }): TaskFailure {
  const [was, is] = [known, now].map(({ kind, name }) => `the ${kind} "${name}"`);
  const message = `Entry ${seq} of the journal is ${was}, and the run came to ${is} there, as its code has changed. Run it again as a new task`;
  return new TaskFailure('JOURNAL_MISMATCH', message);
}

/** The failure of a run that waits for something else than it did where an earlier attempt was. */
export function changedWait({ seq, kind, name }: NumberedEntry): TaskFailure {
  const message = `Entry ${seq} of the journal is the ${kind} "${name}", and the run came to another ${kind} of this name, as its code has changed`;
  return new TaskFailure('JOURNAL_MISMATCH', `${message}. Run it again as a new task`);
}
