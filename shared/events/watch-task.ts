import { wait } from '../time/index.ts';
import type { EventFeed } from './event-feed.ts';

/** A reader of one task that sleeps until there may be something new. */
export interface TaskWatch {
  /**
   * Resolves at once when there was a hint since the last call, else with the next one or after `ms` milliseconds.
   * With `ignoreOutput` output does not end the wait, and is remembered for the next call.
   */
  next(ms: number, ignoreOutput?: boolean): Promise<void>;
  /** Whether its log may have grown since the last call; at first it may. */
  mayHaveLogged(): boolean;
  stop(): void;
}

/** Begins to listen; hints may be lost, so `next` never waits for them alone. `signal` ends all waiting. */
export function watchTask(events: Pick<EventFeed, 'onTask'>, tenant: string, id: string, signal: AbortSignal): TaskWatch {
  const hinted = { moved: false, wrote: false, logged: true };
  let isOutputAwaited = true;
  let wake = new AbortController();
  const unhint = events.onTask(tenant, id, ({ event }) => {
    const isOutput = event === 'output' || event === 'log';
    hinted[isOutput ? 'wrote' : 'moved'] = true;
    if (event === 'log') hinted.logged = true;
    // Once: each abort makes an error with its stack, and a task may write a thousand times before its reader looks.
    if ((!isOutput || isOutputAwaited) && !wake.signal.aborted) wake.abort();
  });
  const onAbort = (): void => wake.abort();
  // Once for the whole watch: a signal that lives as long as the process would collect one for each wait.
  signal.addEventListener('abort', onAbort);
  const next = async (ms: number, ignoreOutput: boolean): Promise<void> => {
    if (signal.aborted) return;
    isOutputAwaited = !ignoreOutput;
    wake = new AbortController();
    // A hint that did not come in all that time may have been lost.
    if (!hinted.moved && (ignoreOutput || !hinted.wrote) && (await wait(ms, wake.signal))) hinted.logged = true;
    hinted.moved = false;
    if (!ignoreOutput) hinted.wrote = false;
  };
  return {
    next: (ms, ignoreOutput = false) => next(ms, ignoreOutput),
    mayHaveLogged: () => {
      const { logged } = hinted;
      hinted.logged = false;
      return logged;
    },
    stop: () => {
      unhint();
      signal.removeEventListener('abort', onAbort);
    },
  };
}
