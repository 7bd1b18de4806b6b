import type { KeptWork, RunJournal } from '../../agents/index.ts';
import type { StepOptions, StepWork } from '../../config/index.ts';
import { TaskFailure } from '../../errors/index.ts';
import type { JournalEntry, JournalKind, NumberedEntry } from '../../ledger/index.ts';
import type { TaskUsage } from '../../tasks/index.ts';
import { wait } from '../../time/index.ts';
import { DrawnValues } from './drawn-values.ts';
import { JournalInputs } from './journal-inputs.ts';
import { type AttemptJournalOptions, JournalValues } from './journal-values.ts';
import { JournalWriter } from './journal-writer.ts';
import { endQuestion } from './open-question.ts';
import { OpenSteps } from './open-steps.ts';
import { type AgentTraits, RunSuspension } from './run-suspension.ts';
import { RunWaits, type RunWaitSpec } from './run-waits.ts';
import { type Begun, definitionEntry, definitionOf, mismatch, readRecorded, RecordedJournal, resultOf } from './recorded-journal.ts';
import { type CallPlace, type RecordedCall, RecordedCalls } from './recorded-calls.ts';
import { assertMayBegin, assertRoom, journalError, onceKey, runAsStepSpan, stepJson, tryStep } from './try-step.ts';

const NOTHING_RECORDED = new RecordedJournal();

/**
 * AttemptJournal is responsible for what a run keeps of its steps: an attempt gets what earlier ones finished without doing it again. Entries
 * are numbered in the order in which they begin, which has to be the same in each attempt. A step has its result only once that is written.
 */
export class AttemptJournal implements RunJournal {
  readonly #options: AttemptJournalOptions;
  readonly #writer: JournalWriter;
  #recorded = NOTHING_RECORDED;
  #calls = new RecordedCalls(NOTHING_RECORDED);
  readonly #drawn = new DrawnValues();
  readonly #steps = new OpenSteps();
  readonly #values: JournalValues;
  readonly #suspension: RunSuspension;
  #begun = 0;
  #ends = 0;
  #agent: AgentTraits = { holdLaneMs: 0, version: undefined };
  #isOpen = false;
  /** What this attempt asks people while it goes on. */
  #asked: NumberedEntry | undefined;
  /** The input that began, and of which nothing is written yet. */
  #input: Begun | null = null;
  readonly waits: RunWaits;
  readonly inputs: JournalInputs;

  constructor(options: AttemptJournalOptions) {
    this.#options = options;
    this.#writer = new JournalWriter(options.ledger, options.attempt);
    this.#values = new JournalValues(options);
    this.#suspension = new RunSuspension({ ...options, steps: this.#steps, writer: this.#writer, mark: (entry) => this.#marked(entry) });
    this.waits = new RunWaits(this, options);
    this.inputs = new JournalInputs(this);
  }

  /** Whether an earlier attempt, another task's, or this one in another process may have written a journal. */
  get mayBeContinued(): boolean {
    return this.#options.attempt.ref.token > 1 || this.#options.isContinued;
  }

  /** Goes on behind all entries, for a run that does not take them again. Returns JSON of what the last one gave; null for nothing. */
  skipToEnd(): string | null {
    this.#begun = Math.max(this.#begun, this.#recorded.last);
    this.#options.output.skipTo(this.#recorded.output.text.length);
    return this.#recorded.at(this.#recorded.last)?.value ?? null;
  }

  /** The entry that the run came to last, before this attempt or where this one asks. */
  get lastEntry(): NumberedEntry | undefined {
    return this.#asked ?? this.#recorded.at(this.#recorded.last);
  }

  /** Goes back behind the entry before: what the run comes to next is this one again. */
  readonly returnTo = ({ seq }: NumberedEntry): void => void (this.#begun = seq - 1);

  /** Reads what earlier attempts wrote, once. */
  async open(): Promise<void> {
    const { ledger, attempt, output } = this.#options;
    if (!this.mayBeContinued || this.#isOpen) return;
    this.#isOpen = true;
    const recorded = await readRecorded(ledger, attempt);
    if (recorded === null) return;
    this.#recorded = recorded;
    this.#calls = new RecordedCalls(recorded);
    this.#ends = this.#recorded.ends;
    this.inputs.firstHistory = this.#recorded.history;
    output.replay(this.#recorded.output);
  }

  /** The messages that were part of the run's prompt when it began, by id; null for a run without a journal. */
  get given(): readonly string[] | null {
    return this.#recorded.given;
  }

  /** `given`: messages that are part of the prompt of this attempt, by id. */
  begin(given: readonly string[], agent: AgentTraits): void {
    this.inputs.given = given;
    this.#agent = agent;
  }

  /** The version of the agent that its run began with; undefined for a run without entries, or an agent without a version. */
  get version(): string | undefined {
    return this.#recorded.at(1) ? this.#recorded.at(1)?.version : this.hasBegun ? this.#agent.version : undefined;
  }

  /** See `AgentContext.step`. */
  async step<T>(name: string, work: StepWork<T>, options: StepOptions = {}): Promise<T> {
    return await this.keep({ kind: 'step', name }, work, options);
  }

  /** See `RunJournal.define`. */
  async define(make: () => Promise<unknown>): Promise<unknown> {
    return (this.inputs.definition = this.#recorded.definition ?? (await make()));
  }

  /** See `RunJournal.keep`. */
  async keep<T>(entry: KeptWork, work: StepWork<T>, options: StepOptions = {}): Promise<T> {
    if (this.#options.attempt.isHandingOver && this.#steps.current === 0) return await this.#handOver(entry.name);
    const kept = this.#steps.track(this.#keep(entry, work, options));
    return await (entry.kind === 'tool' ? this.inputs.heard.hear(kept) : kept);
  }

  /** Ends the attempt, whose worker ends, before its next step, once those under way have ended. Never resolves: the agent's own code learns nothing of it. */
  async #handOver(step: string): Promise<never> {
    await this.#steps.ended();
    await this.#writer.flushed();
    this.#options.attempt.throwIfStopped();
    this.#options.attempt.stop({ kind: 'drain', before: step });
    return await new Promise<never>(() => undefined);
  }

  async #keep<T>({ kind, name, given, at }: KeptWork, work: StepWork<T>, options: StepOptions): Promise<T> {
    const { attempt, number, isSuspect, ledger } = this.#options;
    const begun = this.#begin(kind, name, { given, at });
    const known = this.#replay(begun);
    if (known) return resultOf(await this.#values.read(known), work);
    this.#writer.write({ ...begun, status: 'started', attempt: number }, isSuspect);
    try {
      const value = await this.#steps.run(begun.seq, () =>
        runAsStepSpan(ledger.traces, { kind, name }, () => tryStep({ ...options, name, attempt }, work)),
      );
      const json = stepJson(name, value, ledger.settings.journal.maxValueBytes);
      await this.#end(begun, await this.#values.keep(begun, json));
      return resultOf(json, work);
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
  get following(): NumberedEntry | undefined {
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
  readonly addUsage = (used: TaskUsage): void => this.#steps.addUsage(used);

  /** See `AgentContext.once`. */
  readonly once = (key: string): string => onceKey(this.#options.attempt.ref, this.#steps.current, key);

  /** See `AgentContext.now`. */
  readonly now = (): number => this.#drawn.draw(this.#options.attempt.now(), this.following);

  /** See `AgentContext.random`. */
  readonly random = (): number => this.#drawn.draw(Math.random(), this.following);

  /**
   * Comes to a wait. Returns its entry once that has ended; else the run is suspended, and this never settles. Errors: TOO_MANY_SUSPENDED;
   * AGENT_ERROR while it waits for something else.
   */
  async wait(spec: RunWaitSpec): Promise<NumberedEntry> {
    const { attempt } = this.#options;
    const begun = spec.begun ?? this.#begin(spec.kind, spec.name);
    const ended = this.#replay(begun);
    const entry = ended ?? this.#waiting(begun, spec);
    if (spec.isSame?.(entry) === false) throw mismatch({ task: attempt.ref.id, known: entry, now: spec });
    return ended && spec.endsAttempt !== true ? ended : await this.#await(entry, spec);
  }

  async #await(entry: NumberedEntry, spec: RunWaitSpec): Promise<NumberedEntry> {
    const { attempt } = this.#options;
    const leftMs = spec.endsAttempt === true || entry.until === undefined ? Infinity : entry.until - attempt.now();
    const isAsked = entry.status === 'completed' || this.#isAsked(entry);
    if (leftMs > (spec.shortMs ?? 0)) return await this.#suspension.suspend({ ...this.#agent, entry, spec, isAsked, calls: this.#calls });
    if (leftMs > 0) await attempt.untilStopped(wait(leftMs));
    return await this.#endWait(entry, spec.expired?.(entry));
  }

  /** Comes to a wait at which the attempt goes on. Gives its entry, which is not written. */
  async beginOpen(spec: RunWaitSpec): Promise<NumberedEntry> {
    this.#asked = this.#waiting(this.#begin(spec.kind, spec.name), spec);
    await this.#writer.flushed();
    this.#options.attempt.throwIfStopped();
    return this.#asked;
  }

  readonly #isAsked = ({ seq }: NumberedEntry): boolean => seq === this.#asked?.seq || seq === this.#options.asking;

  /** The entry of a wait that has not ended, which an earlier attempt may have begun. */
  #waiting(begun: Begun, spec: RunWaitSpec): NumberedEntry {
    const { attempt, number, output } = this.#options;
    if (this.#asked?.seq === begun.seq) return this.#asked;
    const known = this.#recorded.at(begun.seq);
    if (known) output.skipTo(this.#recorded.writtenAt(begun.seq));
    return known ?? { ...begun, status: 'waiting', attempt: number, ...spec.begin(attempt.now(), begun) };
  }

  async #endWait(entry: NumberedEntry, value: string | undefined): Promise<NumberedEntry> {
    const end = { status: 'completed' as const, endedAt: this.#options.attempt.now(), ...(value !== undefined && { value }) };
    const ended = { ...this.#marked(entry), ...end };
    return this.#isAsked(entry) ? await endQuestion(this.#options, ended) : await this.#write(ended);
  }

  /** Writes an entry that has ended. Resolves once that is written. */
  async #write(entry: NumberedEntry): Promise<NumberedEntry> {
    this.#writer.write(entry);
    await this.#writer.flushed();
    this.#options.attempt.throwIfStopped();
    return entry;
  }

  /** The entry with its place among the ends, and what was written up to there. An earlier attempt may have given it that. */
  #marked(entry: NumberedEntry): NumberedEntry {
    if (entry.order !== undefined) return entry;
    this.#ends += 1;
    return { ...entry, ...this.#options.output.mark(), order: this.#ends, followed: this.#begun };
  }

  /** Resolves once all is written. */
  readonly flushed = (): Promise<void> => this.#writer.flushed();

  /** Takes the numbers of a call of a model, and of what it gives; null within a step, and see `RecordedCalls.place`. Throws JOURNAL_FULL. */
  beginCall(call: CallPlace): RecordedCall | null {
    if (this.#steps.current !== 0) return null;
    const place = this.#calls.place(call, Math.max(1, this.#begun));
    if (place === null) return null;
    const begun = this.#begin('batch', call.name, { given: call.given, at: place.at });
    this.#begun = Math.max(this.#begun, begun.seq + 1);
    return { begun: { ...begun, ...this.#drawn.take() }, isNew: place.isNew };
  }

  /** Takes the next number, or one that was taken for it (`at`). The first entry of a run is its definition. Throws JOURNAL_FULL. */
  #begin(kind: JournalKind, name: string, { given, at }: { given?: string | undefined; at?: number | undefined } = {}): Begun {
    const { attempt, ledger } = this.#options;
    attempt.throwIfStopped();
    assertMayBegin(this.#steps.current, { kind, name });
    if (this.#begun === 0) this.#define();
    const seq = at ?? this.#begun + 1;
    this.#begun = Math.max(this.#begun, seq);
    assertRoom(this.#begun, ledger.settings.journal.maxEntries);
    const drawn = at === undefined && this.#drawn.take();
    return { seq, kind, name, ...(given !== undefined && { given }), startedAt: attempt.now(), ...drawn };
  }

  #define(): void {
    this.#begun = 1;
    if (!this.#recorded.at(1))
      this.#writer.write(definitionEntry({ ...this.#options, version: this.#agent.version }, definitionOf(this.inputs)));
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
  async #end(begun: Begun, end: Pick<JournalEntry, 'value' | 'large' | 'error'>): Promise<NumberedEntry> {
    const { attempt, number } = this.#options;
    const status = end.error ? 'failed' : 'completed';
    const usage = this.#steps.usageOf(begun.seq);
    return await this.#write(this.#marked({ ...begun, ...end, ...(usage && { usage }), status, attempt: number, endedAt: attempt.now() }));
  }
}
