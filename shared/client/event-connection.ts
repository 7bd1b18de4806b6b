import { ClientError } from './client-error.ts';
import { EventParser, type ServerEvent } from './event-parser.ts';
import { type HttpCalls, type Query, pauseBefore, unreachable } from './http-calls.ts';
import { pause } from './pause.ts';

interface StreamRequest {
  calls: HttpCalls;
  path: string;
  query?: Query | undefined;
  /** The event after which to go on; absent for the beginning. */
  after?: string | undefined;
  signal?: AbortSignal | undefined;
}

/** A connection this quiet counts as dead: the fleet writes at least every 30 s. */
const QUIET_MS = 75_000;

/**
 * The server-sent events of an address without an end: a stream that is cut, or that the fleet ends, goes on after the last event that was
 * handled. Rejects once there was no answer for `retryForMs`, or with what refuses the stream.
 */
export async function* followEvents({ calls, after, ...request }: StreamRequest): AsyncGenerator<ServerEvent, never> {
  const reading: Reading = { place: after, tries: 0, failingSince: null };
  for (;;) {
    let error = ENDED;
    try {
      yield* readConnection(calls, request, reading);
    } catch (cause) {
      request.signal?.throwIfAborted();
      error = cause instanceof ClientError ? cause : unreachable(request.path, cause);
    }
    reading.failingSince ??= performance.now();
    const pauseMs = pauseBefore(reading.tries, error);
    if (pauseMs === null || performance.now() + pauseMs - reading.failingSince > calls.retryForMs) throw error;
    reading.tries += 1;
    await pause(pauseMs, request.signal);
  }
}

/** How far a reader has come over all its connections. */
interface Reading {
  /** The last event that was handled. */
  place: string | undefined;
  /** Connections in a row that brought nothing, and since when. */
  tries: number;
  failingSince: number | null;
}

/** A process that stops ends its streams in order; another one has them on. */
const ENDED = new ClientError('client.unreachable', 'The stream ended before its last event');

async function* readConnection(
  calls: HttpCalls,
  { path, query, signal }: Omit<StreamRequest, 'calls' | 'after'>,
  reading: Reading,
): AsyncGenerator<ServerEvent, void> {
  const connection = new AbortController();
  const abort = (): void => connection.abort();
  let silence = setTimeout(abort, QUIET_MS);
  signal?.addEventListener('abort', abort, { once: true });
  try {
    signal?.throwIfAborted();
    const headers = { Accept: 'text/event-stream', ...(reading.place === undefined ? {} : { 'Last-Event-ID': reading.place }) };
    const response = await calls.open({ method: 'GET', path, query, headers, signal: connection.signal });
    const parser = new EventParser();
    for await (const text of readText(response)) {
      clearTimeout(silence);
      Object.assign(reading, { tries: 0, failingSince: null });
      for (const event of parser.read(text)) {
        yield event;
        // After it was handled: what its reader did not see is sent again.
        reading.place = event.id ?? reading.place;
      }
      silence = setTimeout(abort, QUIET_MS);
    }
  } finally {
    clearTimeout(silence);
    signal?.removeEventListener('abort', abort);
    connection.abort();
  }
}

/** Not every browser iterates the body itself. */
async function* readText({ body }: Response): AsyncGenerator<string> {
  if (body === null) return;
  const reader = body.getReader();
  const decoder = new TextDecoder();
  for (let part = await reader.read(); !part.done; part = await reader.read()) yield decoder.decode(part.value, { stream: true });
}
