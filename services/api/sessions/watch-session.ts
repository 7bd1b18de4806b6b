import type { EventFeed } from '#shared/events/index.ts';
import { wait } from '#shared/time/index.ts';

/** What there may be something new about. */
export interface SessionNews {
  /** The session itself: messages came. */
  session: boolean;
  tasks: ReadonlySet<string>;
}

/** A reader of one session that sleeps until there may be something new. */
export interface SessionWatch {
  /** Listens to this task too. */
  add(task: string): void;
  remove(task: string): void;
  /** Resolves with what was hinted at since the last call; waits for a hint for `ms` milliseconds at most. */
  next(ms: number): Promise<SessionNews>;
  stop(): void;
}

/** Begins to listen; hints may be lost, so a reader looks by itself from time to time. `signal` ends all waiting. */
export function watchSession(
  events: Pick<EventFeed, 'onTask' | 'onSession'>,
  tenant: string,
  session: string,
  signal: AbortSignal,
): SessionWatch {
  let isHinted = false;
  let hinted = new Set<string>();
  let wake = new AbortController();
  const listening = new Map<string, () => void>();
  // Once: each abort makes an error with its stack, and a session's tasks may write a thousand times before its reader looks.
  const rouse = (): void => {
    if (!wake.signal.aborted) wake.abort();
  };
  const stop = events.onSession(tenant, session, () => {
    isHinted = true;
    rouse();
  });
  return {
    add: (task) => {
      if (listening.has(task)) return;
      const leave = events.onTask(tenant, task, () => {
        hinted.add(task);
        rouse();
      });
      listening.set(task, leave);
    },
    remove: (task) => {
      listening.get(task)?.();
      listening.delete(task);
    },
    next: async (ms) => {
      if (!wake.signal.aborted) await wait(ms, AbortSignal.any([wake.signal, signal]));
      const news: SessionNews = { session: isHinted, tasks: hinted };
      isHinted = false;
      hinted = new Set();
      wake = new AbortController();
      return news;
    },
    stop: () => {
      stop();
      for (const leave of listening.values()) leave();
      listening.clear();
    },
  };
}
