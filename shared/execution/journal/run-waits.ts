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
import { TaskFailure, type TaskHold } from '../../errors/index.ts';
import type { JournalEntry, JournalKind, Ledger, NumberedEntry } from '../../ledger/index.ts';
import { retryWhileAway } from '../../redis/index.ts';
import { ellipsize } from '../../text/index.ts';
import { durationMs, timeText } from '../../time/index.ts';
import {
  agentsOf,
  delegationText,
  eventNameSchema,
  isSameQuestion,
  lineOf,
  matchOf,
  questionId,
  readAnswers,
  readCall,
} from '../../waits/index.ts';
import type { RunningAttempt } from '../attempt/running-attempt.ts';
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
}

interface Waiter {
  wait(spec: RunWaitSpec): Promise<NumberedEntry>;
}

/** A sleep that is shorter keeps its slot, ms. */
const SHORT_SLEEP_MS = 5000;

/** RunWaits is responsible for what an agent may wait for without a slot. */
export class RunWaits {
  readonly #journal: Waiter;
  readonly #attempt: RunningAttempt;
  readonly #ledger: Ledger;

  constructor(journal: Waiter, { attempt, ledger }: { attempt: RunningAttempt; ledger: Ledger }) {
    this.#journal = journal;
    this.#attempt = attempt;
    this.#ledger = ledger;
  }

  /** See `AgentContext.sleep`. */
  async sleep(time: number | string | Date): Promise<void> {
    const end = readTime(time);
    await this.#journal.wait({
      kind: 'sleep',
      name: 'sleep',
      begin: (now) => ({ until: end.at ?? now + end.ms }),
      hold: () => ({ gate: 'sleep', what: 'time' }),
      reason: ({ until = this.#attempt.now() }) => `its run sleeps until ${timeText(until)}`,
      shortMs: SHORT_SLEEP_MS,
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
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- whoever resumed it wrote an event
    return valueOf(ended) as AgentEvent | null;
  }

  /** See `AgentContext.ask`. */
  async ask<Answer>(question: Question<Answer>): Promise<Answer> {
    const asked = readAsked(question);
    const timeoutMs = this.#openMs(question);
    const idOf = ({ seq }: NumberedEntry): string => questionId(this.#attempt.ref.id, seq, asked);
    const entry = await this.#journal.wait({
      kind: 'question',
      name: nameOf(asked),
      begin: (now) => ({ until: now + timeoutMs, wait: JSON.stringify(asked) }),
      isSame: (known) => isSameQuestion(known, asked),
      hold: (waiting) => ({ gate: 'question', what: idOf(waiting) }),
      reason: () => `its run asks: ${asked.question}`,
      expired: () => JSON.stringify(question.default ?? null),
    });
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- It was checked before it was taken.
    return readAnswer(question, valueOf(entry)) as Answer;
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
