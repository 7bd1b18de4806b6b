import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { expect } from 'vitest';
import type { z } from 'zod';
import { notificationStreamSchema } from '../../../../services/api/notifications/notification-view.ts';
import { sessionStreamSchema } from '../../../../services/api/sessions/session-events.ts';
import { taskStreamSchema } from '../../../../services/api/tasks/stream-events.ts';

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

const SCHEMAS: readonly (readonly [RegExp, z.ZodType])[] = [
  [/\/v1\/tasks\/[^/]+\/stream$/, taskStreamSchema],
  [/\/v1\/sessions\/[^/]+\/stream$/, sessionStreamSchema],
  [/\/v1\/notifications\/stream$/, notificationStreamSchema],
];

/** What is wrong with an event, by the documentation of its stream; null for nothing. */
function problemOf(url: string, { event, id, data }: EventSourceMessage): string | null {
  const { pathname } = new URL(url);
  const [, schema] = SCHEMAS.find(([path]) => path.test(pathname)) ?? [];
  const { error } = schema?.safeParse({ event, ...(id === undefined ? {} : { id }), data: JSON.parse(data) as unknown }) ?? {};
  return error ? `${pathname} sent ${event} ${data}: ${error.message}` : null;
}

/** Reads a stream of the API, whose events have to be as its documentation says. Fails when the answer is none. */
export async function readEvents(url: string, { key, lastEventId }: ReadEventsOptions): Promise<EventReader> {
  const stop = new AbortController();
  const place = lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
  const response = await fetch(url, { headers: { authorization: `Bearer ${key}`, ...place }, signal: stop.signal });
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
  const events: EventSourceMessage[] = [];
  const problems: string[] = [];
  let text = '';
  const parser = createParser({
    onEvent: (event) => {
      const problem = problemOf(url, event);
      if (problem !== null) problems.push(problem);
      events.push(event);
    },
  });
  const decoder = new TextDecoder();
  const ended = (async () => {
    for await (const chunk of response.body ?? []) {
      const piece = decoder.decode(chunk as Uint8Array, { stream: true });
      text += piece;
      parser.feed(piece);
    }
    expect(problems).toEqual([]);
  })();
  ended.catch(() => undefined);
  return {
    events,
    text: () => text,
    ended,
    leave: async () => {
      stop.abort();
      await ended.catch(() => undefined);
      expect(problems).toEqual([]);
    },
  };
}
