import { AsyncLocalStorage } from 'node:async_hooks';
import type { StepOptions, StepWork } from '../../config/index.ts';
import { TaskFailure } from '../../errors/index.ts';
import {
  assertMaySuspend,
  type JournalEntry,
  type JournalKind,
  type Ledger,
  noteReplay,
  type NumberedEntry,
  readJournal,
} from '../../ledger/index.ts';
import { retryWhileAway } from '../../redis/index.ts';
import { sumUsage, type TaskUsage } from '../../tasks/index.ts';
import { wait } from '../../time/index.ts';
import type { AttemptOutput } from '../attempt/attempt-output.ts';
import type { RunningAttempt } from '../attempt/running-attempt.ts';
import { DrawnValues } from './drawn-values.ts';
import { JournalInputs } from './journal-inputs.ts';
import { JournalWriter } from './journal-writer.ts';
import { RunWaits, type RunWaitSpec } from './run-waits.ts';
import { type Begun, changedWait, definitionEntry, definitionOf, RecordedJournal, resultOf } from './recorded-journal.ts';
import { journalError, onceKey, stepJson, tryStep } from './try-step.ts';

export interface AttemptJournalOptions {
  ledger: Ledger;
  attempt: RunningAttempt;
  output: AttemptOutput;
  /** The attempt's number. */
  number: number;
  agent: string;
  /** Whether it has the journal of another task from its start on. */
  isContinued: boolean;
  /** Whether a process was lost under the task: what a step begins is written before it begins. */
  isSuspect: boolean;
}

const MAX_NAME = 200;

const NOTHING_RECORDED = new RecordedJournal();

/** The number of the step that code runs in. */
const current = new AsyncLocalStorage<number>();

/**
 * AttemptJournal is responsible for what a run keeps of its steps: an attempt gets what earlier ones finished without doing it again. Entries
 * are numbered in the order in which they begin, which has to be the same in each attempt. A step has its result only once that is written.
 */
export class AttemptJournal {
  readonly #options: AttemptJournalOptions;
  readonly #writer: JournalWriter;
  #recorded = NOTHING_RECORDED;
  readonly #drawn = new DrawnValues();
  /** What steps under way have used, by their number. */
  readonly #used = new Map<number, TaskUsage>();
  #begun = 0;
  #ends = 0;
  /** Steps under way. */
  readonly #running = new Set<Promise<unknown>>();
  #holdLaneMs = 0;
  #isSuspending = false;
  /** The input that began, and of which nothing is written yet. */
  #input: Begun | null = null;
  readonly waits: RunWaits;
  readonly inputs: JournalInputs;

  constructor(options: AttemptJournalOptions) {
    this.#options = options;
    this.#writer = new JournalWriter(options.ledger, options.attempt);
    this.waits = new RunWaits(this, options);
    this.inputs = new JournalInputs(this);
  }

  /** Whether an earlier attempt, or another task's, may have written a journal. */
  get mayBeContinued(): boolean {
    return this.#options.attempt.ref.token > 1 || this.#options.isContinued;
  }

  /** Goes on behind all entries, for a run that does not take them again. Returns JSON of what the last one gave; null for nothing. */
  skipToEnd(): string | null {
    this.#begun = Math.max(this.#begun, this.#recorded.last);
    this.#options.output.skipTo(this.#recorded.output.text.length);
    return this.#recorded.at(this.#recorded.last)?.value ?? null;
  }

  /** Reads what earlier attempts wrote. */
  async open(): Promise<void> {
    const { ledger, attempt, output } = this.#options;
    if (!this.mayBeContinued) return;
    const signal = (): AbortSignal => attempt.signal;
    const { entries } = await retryWhileAway(() => readJournal(ledger, attempt.ref), { signal });
    if (entries.length === 0) return;
    await retryWhileAway(() => noteReplay(ledger, attempt.ref, entries.at(-1)?.seq ?? 0), { signal });
    this.#recorded = new RecordedJournal(entries);
    this.#ends = this.#recorded.ends;
    this.inputs.firstHistory = this.#recorded.history;
    output.replay(this.#recorded.output);
  }

  /** The messages that were part of the run's prompt when it began, by id; null for a run without a journal. */
  get given(): readonly string[] | null {
    return this.#recorded.given;
  }

  /** `given`: messages that are part of the prompt of this attempt, by id. `holdLaneMs`: how long a run that waits keeps its lane. */
  begin(given: readonly string[], { holdLaneMs }: { holdLaneMs: number }): void {
    this.inputs.given = given;
    this.#holdLaneMs = holdLaneMs;
  }

  /** See `AgentContext.step`. */
  async step<T>(name: string, work: StepWork<T>, options: StepOptions = {}): Promise<T> {
    const step = this.#step(name, work, options);
    this.#running.add(step);
    try {
      return await step;
    } finally {
      this.#running.delete(step);
    }
  }

  async #step<T>(name: string, work: StepWork<T>, options: StepOptions): Promise<T> {
    const { attempt, number, isSuspect } = this.#options;
    const begun = this.#begin('step', name);
    const known = this.#replay(begun);
    if (known) return resultOf(known, work);
    this.#writer.write({ ...begun, status: 'started', attempt: number }, isSuspect);
    try {
      const value = await current.run(begun.seq, () => tryStep({ ...options, name, attempt }, work));
      return resultOf(await this.#end(begun, { value: stepJson(name, value, this.#options.ledger.settings.journal.maxEntryBytes) }), work);
    } catch (error) {
      // The next attempt does it again.
      if (attempt.stopped) throw error;
      await this.#end(begun, { error: journalError(error) });
      throw error;
    }
  }

  get hasBegun(): boolean {
    return this.#begun > 0;
  }

  get next(): NumberedEntry | undefined {
    return this.#recorded.at(this.#begun + 1);
  }

  /** The entry that followed first, behind the definition. */
  get #following(): NumberedEntry | undefined {
    return this.#recorded.at(Math.max(1, this.#begun) + 1);
  }

  replayInput(name: string): NumberedEntry | null {
    this.#input = this.#begin('input', name);
    return this.#replay(this.#input);
  }

  async writeInput(name: string, value: string): Promise<void> {
    const begun = this.#input?.name === name ? this.#input : this.#begin('input', name);
    this.#input = null;
    await this.#end(begun, { value });
  }

  /** Adds what was used to the step in whose work this is called. */
  addUsage(used: TaskUsage): void {
    const step = current.getStore();
    if (step !== undefined) this.#used.set(step, sumUsage(this.#used.get(step), used));
  }

  /** See `AgentContext.once`. */
  readonly once = (key: string): string => onceKey(this.#options.attempt.ref, current.getStore() ?? 0, key);

  /** See `AgentContext.now`. */
  readonly now = (): number => this.#drawn.draw(this.#options.attempt.now(), this.#following);

  /** See `AgentContext.random`. */
  readonly random = (): number => this.#drawn.draw(Math.random(), this.#following);

  /**
   * Comes to a wait. Returns its entry once that has ended; else the run is suspended, and this never settles. Errors: TOO_MANY_SUSPENDED;
   * AGENT_ERROR while it waits for something else.
   */
  async wait(spec: RunWaitSpec): Promise<NumberedEntry> {
    const { attempt } = this.#options;
    const begun = this.#begin(spec.kind, spec.name);
    const ended = this.#replay(begun);
    const entry = ended ?? this.#waiting(begun, spec);
    if (spec.isSame?.(entry) === false) throw changedWait(entry);
    if (ended) return ended;
    const leftMs = entry.until === undefined ? Infinity : entry.until - attempt.now();
    if (leftMs > (spec.shortMs ?? 0)) return await this.#suspend(entry, spec);
    if (leftMs > 0) await attempt.untilStopped(wait(leftMs));
    return await this.#endWait(entry, spec.expired?.(entry));
  }

  /** The entry of a wait that has not ended, which an earlier attempt may have begun. */
  #waiting(begun: Begun, spec: RunWaitSpec): NumberedEntry {
    const { attempt, number, output } = this.#options;
    const known = this.#recorded.at(begun.seq);
    if (known) output.skipTo(this.#recorded.writtenAt(begun.seq));
    return known ?? { ...begun, status: 'waiting', attempt: number, ...spec.begin(attempt.now(), begun) };
  }

  /** Ends the attempt as suspended, once steps under way have ended. Never resolves. */
  async #suspend(entry: NumberedEntry, spec: RunWaitSpec): Promise<never> {
    const { attempt, ledger } = this.#options;
    if (this.#isSuspending)
      throw new TaskFailure('AGENT_ERROR', `A run waits for one thing at a time, and comes to "${spec.name}" while it waits`, {
        isFinal: true,
      });
    this.#isSuspending = true;
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
    await this.#writer.flushed();
    attempt.throwIfStopped();
    await retryWhileAway(() => assertMaySuspend(ledger, attempt.ref.tenant), { signal: () => attempt.signal });
    const waiting = entry.order === undefined ? this.#marked(entry) : entry;
    const until = waiting.until ?? null;
    const reason = spec.reason(waiting);
    attempt.stop({ kind: 'suspended', reason, wait: { hold: spec.hold(waiting), entry: waiting, until, holdLaneMs: this.#holdLaneMs } });
    return await new Promise<never>(() => undefined);
  }

  async #endWait(entry: NumberedEntry, value: string | undefined): Promise<NumberedEntry> {
    const { attempt } = this.#options;
    const ended: NumberedEntry = {
      ...(entry.order === undefined ? this.#marked(entry) : entry),
      status: 'completed',
      endedAt: attempt.now(),
      ...(value !== undefined && { value }),
    };
    this.#writer.write(ended);
    await this.#writer.flushed();
    attempt.throwIfStopped();
    return ended;
  }

  /** The entry with its place among the ends, and what was written up to there. */
  #marked(entry: NumberedEntry): NumberedEntry {
    this.#ends += 1;
    return { ...entry, ...this.#options.output.mark(), order: this.#ends, followed: this.#begun };
  }

  /** Resolves once all is written. */
  async flushed(): Promise<void> {
    await this.#writer.flushed();
  }

  /** Takes the next number. The first entry of a run is its definition. Throws JOURNAL_FULL. */
  #begin(kind: JournalKind, name: string): Begun {
    const { attempt, ledger } = this.#options;
    attempt.throwIfStopped();
    if (name === '' || name.length > MAX_NAME)
      throw new TaskFailure('AGENT_ERROR', `A step has a name of 1 to ${MAX_NAME} characters, not of ${name.length}`);
    if (this.#begun === 0) this.#define();
    this.#begun += 1;
    const max = ledger.settings.journal.maxEntries;
    if (this.#begun > max)
      throw new TaskFailure('JOURNAL_FULL', `The run has more than ${max} entries in its journal (journal.maxEntries)`);
    return { seq: this.#begun, kind, name, startedAt: attempt.now(), ...this.#drawn.take() };
  }

  #define(): void {
    this.#begun = 1;
    if (!this.#recorded.at(1)) this.#writer.write(definitionEntry(this.#options, definitionOf(this.inputs)));
  }

  /**
   * What an earlier attempt finished here; null where this one has to do it. Throws JOURNAL_MISMATCH where it did something else, and the failure
   * of an entry that failed.
   */
  #replay(begun: Begun): NumberedEntry | null {
    const known = this.#recorded.finished(begun);
    if (!known) return null;
    this.#options.output.skipTo(this.#recorded.writtenAt(known.seq));
    if (known.error) throw new TaskFailure(known.error.code, known.error.message, { isFinal: known.error.isFinal ?? false });
    return known;
  }

  /** Writes the end of an entry, and waits until it is written. */
  async #end(begun: Begun, end: Pick<JournalEntry, 'value' | 'error'>): Promise<NumberedEntry> {
    const entry = this.#ended(begun, end);
    this.#writer.write(entry);
    await this.#writer.flushed();
    this.#options.attempt.throwIfStopped();
    return entry;
  }

  #ended(begun: Begun, end: Pick<JournalEntry, 'value' | 'error'>): NumberedEntry {
    const { attempt, number } = this.#options;
    const status = end.error ? 'failed' : 'completed';
    const usage = this.#used.get(begun.seq);
    return this.#marked({ ...begun, ...end, ...(usage && { usage }), status, attempt: number, endedAt: attempt.now() });
  }
}
