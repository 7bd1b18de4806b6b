import type { NumberedEntry } from '../../ledger/index.ts';
import { type Begun, mismatch, type RecordedJournal } from './recorded-journal.ts';

/** A call of a model that may go by a batch, where its run comes to it. */
export interface CallPlace {
  name: string;
  /** What names it among the calls of its run; without it they come in the same order in each attempt. */
  given?: string | undefined;
  /** Whether it goes by a batch where no earlier attempt made it. */
  mayBegin: boolean;
}

/** The entry of the wait for its batch. What the call gives has the number behind it. */
export interface RecordedCall {
  begun: Begun;
  /** Whether no earlier attempt was here. */
  isNew: boolean;
}

/**
 * RecordedCalls is responsible for the entries that calls of models had in earlier attempts. Calls that are made at the same time come in any order: each is
 * known by what it is made with.
 */
export class RecordedCalls {
  readonly #recorded: RecordedJournal;
  readonly #taken = new Set<number>();

  constructor(recorded: RecordedJournal) {
    this.#recorded = recorded;
  }

  /**
   * The number of a call, behind the entry that the run began last. Null where it is to be made directly: it has no time, or an earlier attempt did something else
   * there. Throws JOURNAL_MISMATCH where that was another call.
   */
  place(call: CallPlace, behind: number): { at: number; isNew: boolean } | null {
    const known = this.#take(call, behind);
    if (known) return { at: known.seq, isNew: false };
    const before = call.mayBegin ? this.#room(call, behind) : null;
    return before === null ? null : { at: before + 1, isNew: true };
  }

  /** The entry of a call, once. */
  #take({ given }: CallPlace, behind: number): NumberedEntry | undefined {
    const next = this.#recorded.at(behind + 1);
    const known = given === undefined ? (next?.kind === 'batch' ? next : undefined) : this.left.find((entry) => entry.given === given);
    if (known) this.#taken.add(known.seq);
    return known;
  }

  /** The number before that of a call that no earlier attempt made. */
  #room({ name, given }: CallPlace, behind: number): number | null {
    const ahead = this.#recorded.behind(behind);
    const [next] = ahead;
    // It was begun here, and not written.
    if (next?.seq !== behind + 1) return next === undefined || given !== undefined ? behind : null;
    if (given === undefined || !this.#isOfCall(next)) return null;
    // Another that is made at the same time.
    if (ahead.every((entry) => this.#isOfCall(entry))) return this.#last(ahead);
    throw mismatch({ task: this.#recorded.task, known: next, now: { kind: 'batch', name } });
  }

  /** Whether an earlier attempt wrote the entry. */
  has({ seq }: NumberedEntry): boolean {
    return this.#recorded.at(seq) !== undefined;
  }

  /** Entries of calls that this attempt has not come to. */
  get left(): NumberedEntry[] {
    return this.#recorded.behind(0).filter((entry) => isNamed(entry) && !this.#taken.has(entry.seq));
  }

  #last(ahead: readonly NumberedEntry[]): number {
    return Math.max(...ahead.map((entry) => (isNamed(entry) ? entry.seq + 1 : entry.seq)));
  }

  #isOfCall(entry: NumberedEntry): boolean {
    const before = this.#recorded.at(entry.seq - 1);
    return isNamed(entry) || (entry.kind === 'model' && before !== undefined && isNamed(before));
  }
}

function isNamed({ kind, given }: NumberedEntry): boolean {
  return kind === 'batch' && given !== undefined;
}
