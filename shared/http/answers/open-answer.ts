import type { Response } from 'express';
import { wait } from '../../time/index.ts';
import type { OpenStreams, StreamOwner } from '../server-load.ts';

/** What an answer that stays open takes of its server. */
export interface OpenPlace {
  /** Of the server that the request came to. */
  streams: OpenStreams;
  /** Whose shares of the streams it takes; absent for an answer without a key. */
  owner?: StreamOwner;
  /** Whether the writer keeps the connection alive itself, and nothing is sent from here. */
  hasOwnComments?: boolean;
  /** Checked at an interval; the answer ends once it says false. A rejection changes nothing. */
  mayStay?: () => Promise<boolean>;
}

/**
 * Holds a place among the open answers of the server until `write` has settled. Its signal aborts when the caller went away or may read no more, or the
 * server closes. `keepAlive` is called again and again. Errors: `limit.streams`, `unavailable.shutting-down`, before anything is written.
 */
export async function holdOpen(
  response: Response,
  { streams, owner, mayStay, hasOwnComments = false }: OpenPlace,
  keepAlive: () => void,
  write: (gone: AbortSignal) => Promise<void>,
): Promise<void> {
  // A caller that left while its key was read emits no further close: the answer would stay open.
  if (response.closed) return;
  const leave = streams.enter(owner ?? null);
  const gone = new AbortController();
  const end = (): void => gone.abort();
  response.once('close', end);
  streams.closing.addEventListener('abort', end, { once: true });
  const timer = hasOwnComments ? undefined : setInterval(keepAlive, streams.keepAliveMs).unref();
  if (mayStay) void endWhenUnwanted(mayStay, streams.checkMs, gone);
  try {
    await write(gone.signal);
  } finally {
    end();
    clearInterval(timer);
    streams.closing.removeEventListener('abort', end);
    leave();
  }
}

/**
 * An open answer outlives its checked request: a revoked key, a disabled tenant or a signed-out browser would go on reading. Checking again costs
 * a read per answer and interval, and unlike a message to all processes is never lost.
 */
async function endWhenUnwanted(mayStay: () => Promise<boolean>, everyMs: number, gone: AbortController): Promise<void> {
  while (await wait(everyMs, gone.signal)) {
    if (!(await mayStay().catch(() => true))) gone.abort();
  }
}
