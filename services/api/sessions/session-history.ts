import { readTasks } from '#shared/ledger/read-tasks.ts';
import type { Ledger } from '#shared/ledger/ledger.ts';
import type { Task } from '#shared/tasks/task.ts';
import { isTerminal } from '#shared/tasks/transitions.ts';
import { turnOf, type SessionTurn } from './session-turn.ts';

/** What one reader is told at once, at most. */
const MOST_BYTES = 524_288;
/** Records read at once: each may hold as much as an output may be long. */
const BATCH = 10;

export interface SessionHistory {
  /** Messages that have their outcome, oldest first; the oldest are left out when there is too much. */
  ended: SessionTurn[];
  /** Tasks that have not ended. */
  live: Task[];
}

/** What these tasks have come to, newest first as far as the bytes go. */
export async function readHistory(ledger: Ledger, tenant: string, ids: readonly string[]): Promise<SessionHistory> {
  const ended: SessionTurn[] = [];
  const live: Task[] = [];
  let leftBytes = MOST_BYTES;
  const newestFirst = ids.toReversed();
  for (let from = 0; from < newestFirst.length; from += BATCH) {
    for (const task of await readTasks(ledger, tenant, newestFirst.slice(from, from + BATCH))) {
      if (!task) continue;
      if (!isTerminal(task.state.status)) live.push(task);
      else if (leftBytes > 0) ended.push(turnOf(task));
      leftBytes -= task.body.input.length + (task.output?.length ?? 0);
    }
  }
  return { ended: ended.toReversed(), live: live.toReversed() };
}
