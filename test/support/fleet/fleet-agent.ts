import type { AgentFunction, AgentTask } from '#shared/config/agent-function.ts';
import { TaskFailure } from '#shared/errors/task-failure.ts';
import { wait } from '#shared/time/wait.ts';
import { appendToJournal, readJournal, type JournalEntry } from './journal.ts';

/** What a task's `context` may say. */
interface Orders {
  /** How long its runs take; those after the last figure take as long as that one. By default as its agent's name says. */
  workMs?: number[];
  /** It throws on so many of its runs, whatever the fleet counts. */
  failRuns?: number;
  /** It goes on after an abort, to its end. */
  ignoresAbort?: boolean;
}

const WRITE_EVERY_MS = 50;

/** Works for a while, writes `<run>.<step> ` as it goes, and keeps a journal of it in the working directory. */
export const run: AgentFunction = async (task, { signal, write }) => {
  const orders = task.context as Orders;
  const directory = process.cwd();
  const note = (event: JournalEntry['event']): void => appendToJournal(directory, entryOf(task, event));
  note('start');
  const runs = readJournal(directory).filter(({ event, task: id }) => event === 'start' && id === task.id).length;
  signal.addEventListener('abort', () => note('abort'), { once: true });
  const endsAt = performance.now() + workMsOf(task, orders, runs);
  for (let step = 1; performance.now() < endsAt; step += 1) {
    // After an abort a write throws; one that ignores the abort goes on without a word.
    if (!signal.aborted) write(`${runs}.${step} `);
    else if (!orders.ignoresAbort) throw signal.reason;
    await wait(Math.min(WRITE_EVERY_MS, endsAt - performance.now()));
  }
  if (signal.aborted && !orders.ignoresAbort) throw signal.reason;
  if (runs <= (orders.failRuns ?? 0)) {
    note('fail');
    throw new TaskFailure('NETWORK_ERROR', `run ${runs} was told to fail`);
  }
  note('end');
  return { result: { run: runs } };
};

function entryOf(task: AgentTask, event: JournalEntry['event']): JournalEntry {
  const { id, session, input, attempt } = task;
  return { event, task: id, session, input: input.slice(0, 100), attempt, pid: process.pid, at: Date.now() };
}

/** The agent `work-150` works for 150 ms, for tasks whose context somebody else writes. */
function workMsOf(task: AgentTask, { workMs }: Orders, runs: number): number {
  return workMs?.[Math.min(runs, workMs.length) - 1] ?? Number(task.agent.split('-')[1] ?? 0);
}
