import type { Log } from '#shared/log/index.ts';
import { wait } from '#shared/time/index.ts';

export interface KeepListeningOptions {
  /** Listens until `signal` aborts or the connection ends for good. */
  listen: (signal: AbortSignal) => Promise<void>;
  signal: AbortSignal;
  log: Log;
  /** The first wait before connecting again; it doubles. By default 5 s. */
  firstMs?: number;
}

/** Discord resets the token of a bot that connects 1000 times a day: 300 s make 288, also for three processes. */
const MAX_WAIT_MS = 300_000;
const FIRST_MS = 5000;
/** A connection that stood for so long was a good one: the next wait is the first again. */
const GOOD_MS = 60_000;

/** Keeps a platform's own connection until `signal` aborts. Never rejects. */
export async function keepListening({ listen, signal, log, firstMs = FIRST_MS }: KeepListeningOptions): Promise<void> {
  for (let waitMs = firstMs; !signal.aborted; waitMs = Math.min(waitMs * 2, MAX_WAIT_MS)) {
    const since = performance.now();
    await listen(signal).catch((error: unknown) => log.warn({ event: 'chat.connection-failed', err: error }, 'a connection failed'));
    if (signal.aborted) return;
    if (performance.now() - since > GOOD_MS) waitMs = firstMs;
    log.warn({ event: 'chat.connection-ended', waitMs }, 'a connection to a chat platform ended; it is made again');
    await wait(waitMs, signal);
  }
}
