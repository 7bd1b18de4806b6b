import { once } from 'node:events';
import type { Request, Response } from 'express';
import { MusterError } from '../errors/index.ts';
import { wait } from '../time/index.ts';
import type { OpenStreams, StreamOwner } from './server-load.ts';

/** How long a reader waits before it reconnects, in milliseconds. */
const RETRY_MS = 2000;

const HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-store, no-transform',
  // Nginx would hold the events back until it has a page of them.
  'X-Accel-Buffering': 'no',
};

/** One reader of server-sent events. */
export interface EventStream {
  /** What the reader saw last: from `Last-Event-ID`, or `?lastEventId=` where headers cannot be set. */
  readonly lastEventId: string | null;
  /** Aborts when the reader went away, was too slow or may read no more, or the server closes. */
  readonly signal: AbortSignal;
  /**
   * Writes an event, and waits while the reader is behind. One without an id leaves the reader's last id as it is.
   * Does nothing after the stream ended; never rejects for a reader's sake.
   */
  send(event: string, data: unknown, id?: string): Promise<void>;
  /** Sends what readers ignore, unless the reader is behind. With an id, the reader resumes after that id. */
  comment(id?: string): void;
}

export interface EventsPlace {
  /** Of the server that the request came to. */
  streams: OpenStreams;
  /** Whose shares of the streams it takes; absent for a stream without a key. */
  owner?: StreamOwner;
  /** Whether the writer sends its own comments, and none is sent from here. */
  hasOwnComments?: boolean;
  /** Checked at an interval; the stream ends once it answers false. A rejection changes nothing. */
  mayStay?: () => Promise<boolean>;
}

/**
 * Answers with server-sent events until `write` resolves or the stream's signal aborts.
 * Rejects before anything is written with `limit.streams` when too many streams are open.
 *
 * No library: those at hand ignore the backlog of a slow reader, and give every event an id, which would move the reader's place in the
 * output.
 */
export async function sendEvents(
  request: Request,
  response: Response,
  { streams, owner, mayStay, hasOwnComments = false }: EventsPlace,
  write: (stream: EventStream) => Promise<void>,
): Promise<void> {
  const lastEventId = lastEventIdOf(request);
  if (request.method === 'HEAD') {
    // No event may follow, so there is nothing to wait for.
    response.status(200).set(HEADERS).end();
    return;
  }
  // A reader that left while its key was read emits no further close: the stream would stay open.
  if (response.closed) return;
  const leave = streams.enter(owner ?? null);
  const gone = new AbortController();
  const end = (): void => gone.abort();
  response.once('close', end);
  streams.closing.addEventListener('abort', end, { once: true });
  const keepAlive = hasOwnComments ? undefined : setInterval(() => keepOpen(response), streams.keepAliveMs).unref();
  if (mayStay) void endWhenUnwanted(mayStay, streams.checkMs, gone);
  try {
    openStream(response);
    await write({
      lastEventId,
      signal: gone.signal,
      send: async (event, data, id) => {
        if (gone.signal.aborted || response.write(formatEvent(event, data, id))) return;
        await untilRead(response, gone.signal, streams.slowReaderMs);
      },
      comment: (id) => keepOpen(response, id),
    });
    response.end();
  } finally {
    end();
    clearInterval(keepAlive);
    streams.closing.removeEventListener('abort', end);
    leave();
  }
}

/**
 * A stream outlives its checked request: a revoked key, a disabled tenant or a signed-out browser would go on reading. Checking again costs
 * a read per stream and interval, and unlike a message to all processes is never lost.
 */
async function endWhenUnwanted(mayStay: () => Promise<boolean>, everyMs: number, gone: AbortController): Promise<void> {
  while (await wait(everyMs, gone.signal)) {
    if (!(await mayStay().catch(() => true))) gone.abort();
  }
}

function lastEventIdOf(request: Request): string | null {
  const id = request.get('last-event-id') ?? request.query['lastEventId'];
  if (id === undefined || id === '') return null;
  if (typeof id === 'string' && id.length <= 200) return id;
  throw new MusterError('request.invalid', 'lastEventId: expected the id of one event');
}

function openStream(response: Response): void {
  response.status(200).set(HEADERS);
  response.flushHeaders();
  response.write(`retry: ${RETRY_MS}\n\n`);
}

/** JSON has no line breaks of its own, so one `data:` line is always enough. */
function formatEvent(event: string, data: unknown, id?: string): string {
  return `event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`;
}

/** A comment, so that proxies do not take a quiet stream for a dead one. An id without data is no event, and is remembered. */
function keepOpen(response: Response, id?: string): void {
  if (response.writableNeedDrain || response.writableEnded || response.destroyed) return;
  response.write(`: heartbeat\n${id === undefined ? '' : `id: ${id}\n`}\n`);
}

/** Waits until the reader has taken what was written; a slow reader is cut off, and reconnects with its last id. */
async function untilRead(response: Response, gone: AbortSignal, slowReaderMs: number): Promise<void> {
  try {
    await once(response, 'drain', { signal: AbortSignal.any([gone, AbortSignal.timeout(slowReaderMs)]) });
  } catch {
    response.destroy();
  }
}
