import type { EventFeed } from '#shared/events/event-feed.ts';
import { wait } from '#shared/time/wait.ts';

/** A reader of one task that sleeps until there may be something new. */
export interface TaskWatch {
  /** Resolves at once when there was a hint since the last call, else with the next one or after `ms` milliseconds. */
  next(ms: number): Promise<void>;
  stop(): void;
}

/** Begins to listen; hints may be lost, so `next` never waits for them alone. `signal` ends all waiting. */
export function watchTask(events: Pick<EventFeed, 'onTask'>, tenant: string, id: string, signal: AbortSignal): TaskWatch {
  let isHinted = false;
  let wake = new AbortController();
  const stop = events.onTask(tenant, id, () => {
    isHinted = true;
    wake.abort();
  });
  return {
    stop,
    next: async (ms) => {
      if (!isHinted) await wait(ms, AbortSignal.any([wake.signal, signal]));
      isHinted = false;
      if (wake.signal.aborted) wake = new AbortController();
    },
  };
}
