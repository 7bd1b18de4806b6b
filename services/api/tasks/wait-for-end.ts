import { MusterError } from '#shared/errors/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { readState, readTask } from '#shared/ledger/index.ts';
import { isTerminal, type Task } from '#shared/tasks/index.ts';
import { watchTask } from '#shared/events/index.ts';

/** Longest between two looks, for when a hint was lost. */
const LOOK_MS = 2000;

export interface WaitForEndOptions {
  tenant: string;
  id: string;
  waitMs: number;
  signal: AbortSignal;
  /** Whether the caller may still read it: a key may be revoked while it waits. */
  mayRead: () => Promise<boolean>;
}

/** The task once it has ended, or null when it has not within `waitMs` or the signal aborts before. Errors: `auth.invalid`. */
export async function waitForEnd({ ledger, events }: Pick<Parts, 'ledger' | 'events'>, options: WaitForEndOptions): Promise<Task | null> {
  const { tenant, id, waitMs, signal } = options;
  const deadline = performance.now() + waitMs;
  const watch = watchTask(events, tenant, id, signal);
  try {
    for (;;) {
      const state = await readState(ledger, tenant, id);
      if (state && isTerminal(state.status)) return await readTask(ledger, tenant, id);
      const leftMs = deadline - performance.now();
      if (leftMs <= 0 || signal.aborted) return null;
      await watch.next(Math.min(LOOK_MS, leftMs));
      // After each wait, so that no answer goes to a key that was revoked in it.
      if (!(await options.mayRead())) throw new MusterError('auth.invalid', 'The key was revoked while its request waited');
    }
  } finally {
    watch.stop();
  }
}
