import type { AgentFunction, AgentTask } from '#shared/config/define-config.ts';
import { TaskFailure } from '#shared/errors/task-failure.ts';
import { wait } from '#shared/time/wait.ts';
import { appendToJournal, readJournal, type JournalEntry } from './journal.ts';

/** What a task's `context` may say. */
interface TestContext {
  /** How long its runs take; those after the last figure take as long as that one. By default as its agent's name says. */
  workMs?: number[];
  /** It fails in its first runs, of which the journal counts so many. */
  failRuns?: number;
  /** It goes on after an abort, to its end. */
  ignoresAbort?: boolean;
}

const WRITE_EVERY_MS = 50;

/** Works for a while, writes `<run>.<step> ` as it goes, and keeps a journal of it in the working directory. */
export const run: AgentFunction = async (task, { signal, write }) => {
  const context = task.context as TestContext;
  const directory = process.cwd();
  const note = (event: JournalEntry['event']): void => appendToJournal(directory, entryOf(task, event));
  note('start');
  const runs = readJournal(directory).filter(({ event, task: id }) => event === 'start' && id === task.id).length;
  signal.addEventListener('abort', () => note('abort'), { once: true });
  const endsAt = performance.now() + workMsOf(task, context, runs);
  for (let step = 1; performance.now() < endsAt; step += 1) {
    // After an abort a write throws; one that ignores the abort goes on without a word.
    if (!signal.aborted) write(`${runs}.${step} `);
    else if (!context.ignoresAbort) throw signal.reason;
    await wait(Math.min(WRITE_EVERY_MS, endsAt - performance.now()));
  }
  if (signal.aborted && !context.ignoresAbort) throw signal.reason;
  if (runs <= (context.failRuns ?? 0)) {
    note('fail');
    throw new TaskFailure('NETWORK_ERROR', `run ${runs} has the order to fail`);
  }
  note('end');
  return { result: { run: runs } };
};

function entryOf(task: AgentTask, event: JournalEntry['event']): JournalEntry {
  const { id, session, input, attempt } = task;
  return { event, task: id, session, input: input.slice(0, 100), attempt, pid: process.pid, at: Date.now() };
}

/** The agent `work-150` works for 150 ms, for tasks whose context somebody else writes. */
function workMsOf(task: AgentTask, { workMs }: TestContext, runs: number): number {
  return workMs?.[Math.min(runs, workMs.length) - 1] ?? Number(task.agent.split('-')[1] ?? 0);
}
