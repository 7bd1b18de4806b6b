import {
  type AgentEvent,
  type Asked,
  type DelegateCall,
  type Delegated,
  type Question,
  readAnswer,
  readAsked,
  type WaitForOptions,
} from '../../config/index.ts';
import type { BatchCall, BatchedCall } from '../../agents/index.ts';
import { TaskFailure, type TaskHold } from '../../errors/index.ts';
import type { JournalEntry, JournalKind, Ledger, NumberedEntry } from '../../ledger/index.ts';
import { retryWhileAway } from '../../redis/index.ts';
import type { CallerCall } from '../../tasks/index.ts';
import { ellipsize, plainLine } from '../../text/index.ts';
import { durationMs, timeText } from '../../time/index.ts';
import {
  agentsOf,
  callerWaitText,
  delegationText,
  eventNameSchema,
  isSameQuestion,
  lineOf,
  matchOf,
  outputsOf,
  questionId,
  readAnswers,
  readCall,
} from '../../waits/index.ts';
import type { AttemptOutput } from '../attempt/attempt-output.ts';
import type { RunningAttempt } from '../attempt/running-attempt.ts';
import { callBatch } from './batch-wait.ts';
import type { CallPlace, RecordedCall } from './recorded-calls.ts';
import type { JournalInputs } from './journal-inputs.ts';
import { awaitAnswer, type AwaitOptions } from './open-question.ts';
import { type Begun, valueOf } from './recorded-journal.ts';

/** One kind of wait of a run, where it comes to it. */
export interface RunWaitSpec {
  kind: JournalKind;
  name: string;
  /** What its entry has besides, when the run comes to it first. `now`: ms since the epoch. */
  begin(now: number, begun: Begun): Pick<JournalEntry, 'until' | 'wait'>;
  /** What holds the task while it waits. */
  hold(entry: NumberedEntry): TaskHold;
  /** Why the run is suspended, for people. */
  reason(entry: NumberedEntry): string;
  /** JSON of what the wait gives once its time has passed. */
  expired?(entry: NumberedEntry): string | undefined;
  /** Whether the run comes to the same that an earlier attempt began here. By default by its name alone. */
  isSame?(entry: NumberedEntry): boolean;
  /** A wait that ends so soon keeps its slot, ms. */
  shortMs?: number;
  /** Its entry, where that has its number. */
  begun?: Begun;
  /** The agent has ended: its run goes on in another attempt, also where the wait is over by now. */
  endsAttempt?: boolean;
}

interface Waiter {
  readonly inputs: Pick<JournalInputs, 'heard'>;
  readonly lastEntry: NumberedEntry | undefined;
  beginCall(call: CallPlace): RecordedCall | null;
  wait(spec: RunWaitSpec): Promise<NumberedEntry>;
  beginOpen(spec: RunWaitSpec): Promise<NumberedEntry>;
  returnTo(entry: NumberedEntry): void;
}

interface WaitsOptions {
  attempt: RunningAttempt;
  ledger: Ledger;
  output: Pick<AttemptOutput, 'text'>;
}

/** A sleep that is shorter keeps its slot, ms. */
const SHORT_SLEEP_MS = 5000;

/** RunWaits is responsible for what an agent may wait for without a slot. */
export class RunWaits {
  readonly #journal: Waiter;
  readonly #attempt: RunningAttempt;
  readonly #ledger: Ledger;
  readonly #output: Pick<AttemptOutput, 'text'>;
  /** How often the run came to its caller. */
  #callerWaits = 0;

  constructor(journal: Waiter, { attempt, ledger, output }: WaitsOptions) {
    this.#journal = journal;
    this.#attempt = attempt;
    this.#ledger = ledger;
    this.#output = output;
  }

  /** See `AgentContext.sleep`. */
  async sleep(time: number | string | Date, { endsAttempt = false }: Pick<RunWaitSpec, 'endsAttempt'> = {}): Promise<void> {
    const end = readTime(time);
    await this.#journal.wait({
      kind: 'sleep',
      name: 'sleep',
      begin: (now) => ({ until: end.at ?? now + end.ms }),
      hold: () => ({ gate: 'sleep', what: 'time' }),
      reason: ({ until = this.#attempt.now() }) => `its run sleeps until ${timeText(until)}`,
      shortMs: SHORT_SLEEP_MS,
      endsAttempt,
    });
  }

  /** See `AgentContext.waitFor`. */
  async waitFor(name: string, { match = {}, timeoutMs }: WaitForOptions = {}): Promise<AgentEvent | null> {
    if (!eventNameSchema.safeParse(name).success)
      throw new TaskFailure('AGENT_ERROR', 'An event has a name of one line, of 1 to 200 characters', { isFinal: true });
    const ms = timeoutMs === undefined ? null : readDuration(timeoutMs);
    const ended = await this.#journal.wait({
      kind: 'event',
      name,
      begin: (now) => ({ wait: JSON.stringify({ match }), ...(ms !== null && { until: now + ms }) }),
      hold: (entry) => ({ gate: 'event', what: lineOf(name, matchOf(entry)) }),
      reason: (entry) => `its run waits for the event "${name}"${matchText(matchOf(entry))}`,
      expired: () => 'null',
    });
    const event = valueOf(ended);
    this.#journal.inputs.heard.add(event);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- whoever resumed it wrote an event
    return event as AgentEvent | null;
  }

  /** See `AgentContext.ask`. */
  async ask<Answer>(question: Question<Answer>, { endsAttempt = false }: Pick<RunWaitSpec, 'endsAttempt'> = {}): Promise<Answer> {
    const entry = await this.#journal.wait({ ...this.#specOf(question), endsAttempt });
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- It was checked before it was taken.
    return readAnswer(question, valueOf(entry)) as Answer;
  }

  /**
   * Asks while the agent goes on running. Resolves with JSON of the answer; null where there is none in time: the question stays open, and `ask` comes
   * to it behind `returnTo`.
   */
  async askOpenly(question: Question, options: AwaitOptions): Promise<string | null> {
    const entry = await this.#journal.beginOpen(this.#specOf(question));
    return await awaitAnswer(
      { attempt: this.#attempt, ledger: this.#ledger },
      { entry, question: this.#idOf(entry, readAsked(question)), expired: JSON.stringify(question.default ?? null), ...options },
    );
  }

  /** Goes back to this question where it is what the run asked last, so that `ask` does not ask it twice. `mayBeOver`: also where it is answered. */
  returnTo(question: Question, { mayBeOver = false } = {}): void {
    const { lastEntry } = this.#journal;
    if (lastEntry?.kind !== 'question' || !isSameQuestion(lastEntry, readAsked(question))) return;
    if (mayBeOver || lastEntry.status === 'waiting') this.#journal.returnTo(lastEntry);
  }

  #idOf({ seq }: NumberedEntry, asked: Asked): string {
    return questionId(this.#attempt.ref.id, seq, asked);
  }

  /** Errors: AGENT_ERROR for a question that cannot be asked. */
  #specOf(question: Question): RunWaitSpec {
    const asked = readAsked(question);
    const timeoutMs = this.#openMs(question);
    return {
      kind: 'question',
      name: nameOf(asked),
      begin: (now) => ({ until: now + timeoutMs, wait: JSON.stringify(asked) }),
      isSame: (known) => isSameQuestion(known, asked),
      hold: (waiting) => ({ gate: 'question', what: this.#idOf(waiting, asked) }),
      reason: () => `its run asks: ${plainLine(asked.question)}`,
      expired: () => JSON.stringify(question.default ?? null),
    };
  }

  /** Errors: AGENT_ERROR for what is no duration, or longer than a question may be open. */
  #openMs({ timeoutMs }: Pick<Question, 'timeoutMs'>): number {
    const { maxWaitMs } = this.#ledger.settings.questions;
    const ms = timeoutMs === undefined ? maxWaitMs : readDuration(timeoutMs);
    if (ms <= maxWaitMs) return ms;
    throw new TaskFailure('AGENT_ERROR', `A question is open for at most ${maxWaitMs} ms (questions.maxWaitMs), not for ${ms}`, {
      isFinal: true,
    });
  }

  /** See `AgentContext.delegate`. */
  async delegate<Result>(call: DelegateCall): Promise<Delegated<Result>> {
    const [answer] = await this.delegateAll([call]);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- The agent says what its sub-task gives.
    return answer as Delegated<Result>;
  }

  /** See `AgentContext.delegateAll`; its sub-tasks are accepted once the run is suspended. */
  async delegateAll(calls: readonly DelegateCall[]): Promise<Delegated[]> {
    if (calls.length === 0) return [];
    const { ref } = this.#attempt;
    const entry = await this.#journal.wait({
      kind: 'delegate',
      name: agentsOf(calls),
      begin: (_now, begun) => ({ wait: delegationText({ ...ref, ...begun }, calls.map(readCall)) }),
      hold: () => ({ gate: 'children', what: ref.id }),
      reason: () => `its run waits for ${calls.length === 1 ? 'a sub-task' : `${calls.length} sub-tasks`}`,
    });
    return await retryWhileAway(() => readAnswers(this.#ledger, ref.tenant, entry), { signal: () => this.#attempt.signal });
  }

  /** See `callBatch`. `until`: when its task is to have its answer, ms since the epoch. */
  async callBatch(call: BatchCall & { until: number }): Promise<BatchedCall | null> {
    return await callBatch({ journal: this.#journal, attempt: this.#attempt, ledger: this.#ledger }, call);
  }

  /**
   * Has the caller of the task's request do calls of its functions. Gives what each gave, in their order; null where the caller did not come back in
   * time. Errors: OUTPUT_TOO_LARGE.
   */
  async callCaller(calls: readonly CallerCall[]): Promise<readonly string[] | null> {
    this.#callerWaits += 1;
    const part = this.#callerWaits;
    const { callerWaitMs, maxRequestBytes } = this.#ledger.settings.openai;
    const names = calls.map(({ name }) => name).join(', ');
    const entry = await this.#journal.wait({
      kind: 'caller',
      name: ellipsize(names, MAX_NAME),
      begin: (now) => {
        const wait = callerWaitText({ part, at: this.#output.text.length, calls: [...calls] });
        if (Buffer.byteLength(wait) > maxRequestBytes)
          throw new TaskFailure('OUTPUT_TOO_LARGE', `The model called functions with more than ${maxRequestBytes} bytes of JSON`);
        return { until: now + callerWaitMs, wait };
      },
      hold: ({ seq }) => ({ gate: 'caller', what: `${this.#attempt.ref.id}_${seq}` }),
      reason: () => `its run waits for what its caller's functions give: ${ellipsize(names, MAX_NAME)}`,
      expired: () => 'null',
    });
    const outputs = outputsOf(valueOf(entry));
    this.#journal.inputs.heard.add(outputs);
    return outputs;
  }
}

/** Longest text of what an event has to have, for people. */
const MAX_MATCH_TEXT = 200;

function matchText(match: Record<string, unknown>): string {
  return Object.keys(match).length === 0 ? '' : ellipsize(` with ${JSON.stringify(match)}`, MAX_MATCH_TEXT);
}

/** The beginning of a question names its entry. */
const MAX_NAME = 100;

function nameOf({ question }: Asked): string {
  return ellipsize(question, MAX_NAME);
}

/** Errors: AGENT_ERROR for what is neither a duration nor a time. */
function readTime(time: number | string | Date): { at: number } | { at: null; ms: number } {
  if (!(time instanceof Date)) return { at: null, ms: readDuration(time) };
  if (Number.isNaN(time.getTime()))
    throw new TaskFailure('AGENT_ERROR', 'A sleep ends at a time, and this date is none', { isFinal: true });
  return { at: time.getTime() };
}

/** Errors: AGENT_ERROR for what is no duration. */
function readDuration(duration: number | string): number {
  try {
    return Math.ceil(durationMs(duration));
  } catch (error) {
    throw new TaskFailure('AGENT_ERROR', error instanceof Error ? error.message : String(error), { isFinal: true });
  }
}
