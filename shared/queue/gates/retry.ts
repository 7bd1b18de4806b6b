import type { TimeKind } from './gate-kinds.ts';

const MINUTE_MS = 60_000;

/** The gate of a task whose attempt failed. */
export const RETRY: TimeKind = {
  gate: 'retry',
  sort: 'backoff',
  waits: 'for its next attempt',
  limit: 'after the delay of its [retry](#retries)',
  order: 'time',
  opens: 'the clock of Redis, or a retry by hand',
  helps: 'It is tried again at its time. Retry it to start it now.',
  longMs: 15 * MINUTE_MS,
  describe: ({ state, attempts }, at) =>
    `retry after failure ${state.error?.code ?? attempts.at(-1)?.error?.code ?? 'of the last attempt'}, not before ${at}`,
};
