import type { AgentFunction } from '#shared/config/define-config.ts';
import { wait } from '#shared/time/wait.ts';
import { appendToJournal, type JournalEntry } from './journal.ts';

const WORK_MS = 100;

/** Answers a message after a moment, and keeps a journal of it in the working directory. It reads nothing, so that thousands may run. */
export const run: AgentFunction = async ({ id, session, input, attempt }, { signal }) => {
  const note = (event: JournalEntry['event']): void =>
    appendToJournal(process.cwd(), { event, task: id, session, input, attempt, pid: process.pid, at: Date.now() });
  note('start');
  await wait(WORK_MS, signal);
  if (signal.aborted) {
    note('abort');
    throw signal.reason;
  }
  note('end');
  return `answer to ${input}`;
};
