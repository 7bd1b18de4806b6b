import { wait } from '../time/wait.ts';
import type { EventFeed } from './event-feed.ts';

/** A reader of one task that sleeps until there may be something new. */
export interface TaskWatch {
  /**
   * Resolves at once when there was a hint since the last call, else with the next one or after `ms` milliseconds.
   * `isDeaf`: that the task wrote something does not count, and is remembered.
   */
  next(ms: number, isDeaf?: boolean): Promise<void>;
  stop(): void;
}

/** Begins to listen; hints may be lost, so `next` never waits for them alone. `signal` ends all waiting. */
export function watchTask(events: Pick<EventFeed, 'onTask'>, tenant: string, id: string, signal: AbortSignal): TaskWatch {
  const hinted = { moved: false, wrote: false };
  let isListening = true;
  let wake = new AbortController();
  const unhint = events.onTask(tenant, id, ({ event }) => {
    const isOutput = event === 'output';
    hinted[isOutput ? 'wrote' : 'moved'] = true;
    // Once: each abort makes an error with its stack, and a task may write a thousand times before its reader looks.
    if ((!isOutput || isListening) && !wake.signal.aborted) wake.abort();
  });
  const onAbort = (): void => wake.abort();
  // Once for the whole watch: a signal that lives as long as the process would collect one for each wait.
  signal.addEventListener('abort', onAbort);
  const next = async (ms: number, isDeaf: boolean): Promise<void> => {
    if (signal.aborted) return;
    isListening = !isDeaf;
    wake = new AbortController();
    if (!hinted.moved && (isDeaf || !hinted.wrote)) await wait(ms, wake.signal);
    hinted.moved = false;
    if (!isDeaf) hinted.wrote = false;
  };
  return {
    next: (ms, isDeaf = false) => next(ms, isDeaf),
    stop: () => {
      unhint();
      signal.removeEventListener('abort', onAbort);
    },
  };
}
