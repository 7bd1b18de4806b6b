import { type Ledger, readTask } from '#shared/ledger/index.ts';
import { isTerminal, type Task, type TaskUsage } from '#shared/tasks/index.ts';
import { type CallerWait, readCallerWaits, type ReachedWaits } from '#shared/waits/index.ts';
import { callId } from '../ids.ts';

/** A call of a function of the caller, by the id that the caller knows. */
export interface AnswerCall {
  readonly id: string;
  readonly name: string;
  /** JSON. */
  readonly arguments: string;
}

/** How an answer begins. */
interface AnswerStart {
  /** The calls that it follows; null for the first. */
  readonly after: CallerWait | null;
  /** Where in the output of the run it begins. */
  readonly from: number;
  /** Whether nobody waited for it at first. */
  readonly isBackground: boolean;
}

/** How an answer ends; before that, its text and its calls are still to come. */
interface AnswerEnd {
  readonly hasEnded: boolean;
  readonly text: string;
  readonly calls: readonly AnswerCall[];
  /** Where in the output of the run it ends, where it ends with calls. */
  readonly to: number;
  /** Ms since the epoch; null before. */
  readonly endedAt: number | null;
  /** What it used, as far as it is known. */
  readonly usage: TaskUsage | null;
}

/**
 * One answer of a run, as it stands. A run has several where its model calls functions of its caller: each ends with calls, and the next begins with
 * what they gave.
 */
export interface RunAnswer extends AnswerStart, AnswerEnd {
  readonly task: Task;
  /** Which of them, from 1. */
  readonly part: number;
}

interface AnswerPlace {
  readonly tenant: string;
  readonly id: string;
  readonly part: number;
}

/** An answer of a run; null for none. */
export async function readAnswer(ledger: Ledger, { tenant, id, part }: AnswerPlace): Promise<RunAnswer | null> {
  const task = await readTask(ledger, tenant, id);
  const { request } = task?.body ?? {};
  if (!task || !request) return null;
  const reached = request.functions === undefined ? withoutWaits(task) : await readCallerWaits(ledger, { tenant, id });
  const start = startOf(task, reached, part);
  return start && { task, part, ...start, ...endOf(task, reached, { part, from: start.from }) };
}

function withoutWaits({ state }: Task): ReachedWaits {
  return { waits: [], usage: state.usage ?? null };
}

/** Null for one that has not begun. */
function startOf({ body: { request } }: Task, { waits }: ReachedWaits, part: number): AnswerStart | null {
  if (part === 1) return { after: null, from: 0, isBackground: request?.isBackground === true };
  const after = waits.find(({ wait }) => wait.part === part - 1)?.wait;
  if (!after?.answer) return null;
  return { after, from: after.at, isBackground: after.answer.isBackground === true };
}

function endOf(task: Task, { waits, usage }: ReachedWaits, { part, from }: { part: number; from: number }): AnswerEnd {
  const end = waits.find(({ wait }) => wait.part === part);
  if (end) {
    const { wait, text } = end;
    const calls = callsOf(task.body.id, wait);
    return { hasEnded: true, text: textFrom(text, from), calls, to: wait.at, endedAt: wait.startedAt, usage: end.usage };
  }
  const { completedAt = null, status } = task.state;
  const text = textFrom(task.output ?? '', from);
  return { hasEnded: isTerminal(status), text, calls: [], to: Infinity, endedAt: completedAt, usage };
}

function callsOf(task: string, { seq, calls }: CallerWait): AnswerCall[] {
  return calls.map(({ name, arguments: json }, place) => ({ id: callId({ task, seq, place }), name, arguments: json }));
}

/** Parts the texts of two steps of a run, of which one may be in each answer. */
const BREAK = '\n\n';

/** What of a run's output belongs to an answer that begins there. */
export function textFrom(output: string, from: number): string {
  const text = output.slice(from);
  return from > 0 && text.startsWith(BREAK) ? text.slice(BREAK.length) : text;
}
