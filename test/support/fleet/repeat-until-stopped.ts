import { wait } from '#shared/time/wait.ts';

export interface Repetition {
  /** Ends it after the round under way; throws what a round threw. */
  stop(): Promise<void>;
}

/** Does something over and over, with a pause between two rounds, until it is stopped. */
export function repeatUntilStopped(round: () => Promise<void>, pauseMs: number): Repetition {
  const stopping = new AbortController();
  const running = (async () => {
    while (!stopping.signal.aborted) {
      await round();
      await wait(pauseMs, stopping.signal);
    }
  })();
  // Told by `stop`; until then nobody listens.
  running.catch(() => undefined);
  return {
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}
