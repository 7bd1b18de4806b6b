import { once } from 'node:events';
import type { Request, Response } from 'express';
import { MusterError } from '../../errors/index.ts';
import { holdOpen, type OpenPlace } from './open-answer.ts';

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
  /** Writes events that are formatted already, as `send` does. */
  write(text: string): Promise<void>;
  /** Sends what readers ignore, unless the reader is behind. With an id, the reader resumes after that id. */
  comment(id?: string): void;
}

/**
 * Answers with server-sent events until `write` resolves or the stream's signal aborts; what `write` rejects with cuts the connection.
 * Rejects before anything is written with `limit.streams` when too many streams are open.
 *
 * No library: those at hand ignore the backlog of a slow reader, and give every event an id, which would move the reader's place in the
 * output.
 */
export async function sendEvents(
  request: Request,
  response: Response,
  place: OpenPlace,
  write: (stream: EventStream) => Promise<void>,
): Promise<void> {
  const lastEventId = lastEventIdOf(request);
  if (request.method === 'HEAD') {
    // No event may follow, so there is nothing to wait for.
    response.status(200).set(HEADERS).end();
    return;
  }
  const { slowReaderMs } = place.streams;
  await holdOpen(
    response,
    place,
    () => keepOpen(response),
    async (gone) => {
      const put = async (text: string): Promise<void> => {
        if (gone.aborted || response.write(text)) return;
        await untilRead(response, gone, slowReaderMs);
      };
      openStream(response);
      await write({
        lastEventId,
        signal: gone,
        send: async (event, data, id) => await put(formatEvent(event, data, id)),
        write: put,
        comment: (id) => keepOpen(response, id),
      });
      response.end();
    },
  );
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
