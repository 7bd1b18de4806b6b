import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { expect } from 'vitest';
import { waitFor } from '../../support/wait-for.ts';
import type { Api } from './start-api.ts';

type Data = Record<string, unknown>;

export interface NotificationReader {
  /** Events as they came. */
  events: EventSourceMessage[];
  /** Everything as it was sent. */
  text(): string;
  /** What the notifications say. */
  told(): Data[];
  kinds(): unknown[];
  /** Waits for a notification with data like this. */
  hears(part: Data): Promise<Data>;
  /** Where a client would go on. */
  lastEventId(): string;
  /** Resolves when the server ended the stream, rejects when it was cut. */
  ended: Promise<void>;
  leave(): Promise<void>;
}

export interface ReadOptions {
  key?: string;
  kinds?: string;
  lastEventId?: string;
}

/** Reads the stream of notifications, from its `open` event on. */
export async function readNotifications(api: Api, { key = api.key, kinds, lastEventId }: ReadOptions = {}): Promise<NotificationReader> {
  const stop = new AbortController();
  const response = await fetch(`${api.url}/v1/notifications/stream${kinds === undefined ? '' : `?kinds=${encodeURIComponent(kinds)}`}`, {
    headers: { authorization: `Bearer ${key}`, ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }) },
    signal: stop.signal,
  });
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
  const told = (): Data[] => events.filter(({ event }) => event === 'notification').map(({ data }) => JSON.parse(data) as Data);
  await waitFor(() => events.length > 0, { deadlineMs: 5000, what: 'the stream to open' });
  return {
    events,
    text: () => text,
    told,
    kinds: () => told().map(({ kind }) => kind),
    hears: async (part) =>
      await waitFor(() => told().find((data) => isLike(data, part)), {
        deadlineMs: 5000,
        what: `${JSON.stringify(part)} among ${JSON.stringify(told())}`,
      }),
    lastEventId: () =>
      text
        .match(/^id: .*$/gm)
        ?.at(-1)
        ?.slice(4) ?? '',
    ended,
    leave: async () => {
      stop.abort();
      await ended.catch(() => undefined);
    },
  };
}

function isLike(data: Data, part: Data): boolean {
  return Object.entries(part).every(([field, value]) => data[field] === value);
}
