import type { EventFeed } from '#shared/events/index.ts';
import { wait } from '#shared/time/index.ts';

/** A reader of a tenant's events that sleeps until there may be something new. */
export interface TenantWatch {
  /** Resolves at once when there was a hint since the last call, else with the next one or after `ms` milliseconds. */
  next(ms: number): Promise<void>;
  stop(): void;
}

/** What came within this time after a look is read together. */
const GATHER_MS = 50;

/** Begins to listen for events that `isNews` says matter. Hints may be lost; `signal` ends all waiting. */
export function watchTenant(
  events: Pick<EventFeed, 'onTenant'>,
  tenant: string,
  isNews: (event: string) => boolean,
  signal: AbortSignal,
): TenantWatch {
  let isHinted = false;
  let wake = new AbortController();
  let lookedAt = -Infinity;
  const unhint = events.onTenant(tenant, ({ event }) => {
    // Each abort makes an error with its stack, and a busy tenant's events are many for each look.
    if (isHinted || !isNews(event)) return;
    isHinted = true;
    wake.abort();
  });
  const onAbort = (): void => wake.abort();
  signal.addEventListener('abort', onAbort);
  const sleep = async (ms: number): Promise<void> => {
    wake = new AbortController();
    if (!signal.aborted) await wait(ms, wake.signal);
  };
  return {
    next: async (ms) => {
      if (!isHinted) await sleep(ms);
      const gatherMs = lookedAt + GATHER_MS - performance.now();
      if (isHinted && gatherMs > 0) await wait(gatherMs);
      isHinted = false;
      lookedAt = performance.now();
    },
    stop: () => {
      unhint();
      signal.removeEventListener('abort', onAbort);
    },
  };
}
