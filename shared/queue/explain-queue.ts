import type { Ledger } from '../ledger/ledger.ts';
import type { Task } from '../tasks/task.ts';
import { bullPriority } from './ticket.ts';
import type { Queues } from './queues.ts';
import type { Waiting, WaitGate } from './wait-reason.ts';

/** Why a task that holds a ticket has not started: its queue is paused, nobody serves it, or others are before it. */
export async function explainQueue({ ledger, queues }: { ledger: Ledger; queues: Queues }, { body, state }: Task): Promise<Waiting> {
  const name = state.queue;
  const queue = queues.get(ledger.keys.shardOf(body.tenant), name);
  const priorities = Array.from({ length: bullPriority(state.priority) }, (_, position) => position + 1);
  const [isPaused, workers, waiting, byPriority] = await Promise.all([
    queue.isPaused(),
    // A managed Redis may refuse to list its clients; then nobody knows, and the count says more than a guess.
    queue.getWorkersCount().catch(() => null),
    queue.getWaitingCount(),
    queue.getCountsPerPriority(priorities),
  ]);
  // Its own ticket is among them, unless it is on its way.
  const ahead = Math.max(0, Object.values(byPriority).reduce((sum, each) => sum + each, waiting) - 1);
  const reason = (gate: WaitGate, detail: string): Waiting => ({
    reasons: [{ gate, detail, since: state.queuedAt ?? state.createdAt, until: null, taskId: null }],
    ahead,
  });
  if (isPaused) return reason('paused', `queue "${name}" is paused`);
  if (workers === 0) return reason('worker', `no worker serves the queue "${name}"`);
  return reason('queue', `waiting for a free slot in queue "${name}", about ${ahead} tickets in front`);
}
