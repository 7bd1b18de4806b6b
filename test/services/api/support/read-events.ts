import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { expect } from 'vitest';

export interface EventReader {
  /** Events as they came. */
  readonly events: EventSourceMessage[];
  /** Everything as it was sent. */
  text: () => string;
  /** Resolves when the server ended the stream, rejects when it was cut. */
  readonly ended: Promise<void>;
  leave(): Promise<void>;
}

export interface ReadEventsOptions {
  key: string;
  lastEventId?: string | undefined;
}

/** Reads a stream of the API. Fails when the answer is none. */
export async function readEvents(url: string, { key, lastEventId }: ReadEventsOptions): Promise<EventReader> {
  const stop = new AbortController();
  const place = lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
  const response = await fetch(url, { headers: { authorization: `Bearer ${key}`, ...place }, signal: stop.signal });
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
  const events: EventSourceMessage[] = [];
  let text = '';
  const parser = createParser({ onEvent: (event) => events.push(event) });
  const decoder = new TextDecoder();
  const ended = (async () => {
    for await (const chunk of response.body ?? []) {
      const piece = decoder.decode(chunk as Uint8Array, { stream: true });
      text += piece;
      parser.feed(piece);
    }
  })();
  ended.catch(() => undefined);
  return {
    events,
    text: () => text,
    ended,
    leave: async () => {
      stop.abort();
      await ended.catch(() => undefined);
    },
  };
}
