import type { Parts } from '#shared/lifecycle/open-parts.ts';
import { readTask } from '#shared/ledger/read-tasks.ts';
import type { Task } from '#shared/tasks/task.ts';
import { isTerminal } from '#shared/tasks/transitions.ts';
import { watchTask } from '#shared/events/watch-task.ts';

/** Longest between two looks, for when a hint was lost. */
const LOOK_MS = 2000;

export interface WaitForEndOptions {
  tenant: string;
  id: string;
  waitMs: number;
  signal: AbortSignal;
}

/** The task once it has ended, or null when it has not within `waitMs` or the signal aborts before. */
export async function waitForEnd({ ledger, events }: Pick<Parts, 'ledger' | 'events'>, options: WaitForEndOptions): Promise<Task | null> {
  const { tenant, id, waitMs, signal } = options;
  const deadline = performance.now() + waitMs;
  const watch = watchTask(events, tenant, id, signal);
  try {
    for (;;) {
      const task = await readTask(ledger, tenant, id);
      if (task && isTerminal(task.state.status)) return task;
      const leftMs = deadline - performance.now();
      if (leftMs <= 0 || signal.aborted) return null;
      await watch.next(Math.min(LOOK_MS, leftMs));
    }
  } finally {
    watch.stop();
  }
}
