import { useEffect, useEffectEvent, useState } from 'react';
import { z } from 'zod';
import { callApi, personSchema } from './call-api.ts';
import type { GivenFile } from './tasks.ts';
import {
  listOf,
  outcomeSchema,
  sessionSchema,
  sessionSummarySchema,
  taskStatusSchema,
  type Session,
  type SessionSummary,
} from './records.ts';

const SHOWN = 100;
const sessionsSchema = listOf(sessionSummarySchema);

/** The answer to a message: its task, or the text of a command. */
const sentSchema = z.union([
  z.object({ id: z.string(), status: taskStatusSchema, outcome: outcomeSchema.nullish() }),
  z.object({ command: z.string(), text: z.string() }),
]);
type Sent = z.infer<typeof sentSchema>;

const pathOf = (session: string): string => `/v1/sessions/${encodeURIComponent(session)}`;

/** The sessions with the newest tasks. */
export async function readSessions(signal: AbortSignal): Promise<SessionSummary[]> {
  return (await callApi(sessionsSchema, `/v1/sessions?sort=activity&limit=${SHOWN}`, { signal })).items;
}

const PAGE = 50;
const sessionPageSchema = sessionsSchema.extend({ nextCursor: z.string().nullish() });

/** A page of the sessions that fit a filter; the session with the newest task comes first. */
export async function readSessionPage(
  search: string,
  cursor: string | null,
  signal: AbortSignal,
): Promise<z.infer<typeof sessionPageSchema>> {
  const query = new URLSearchParams(search);
  query.set('sort', 'activity');
  query.set('limit', String(PAGE));
  if (cursor !== null) query.set('cursor', cursor);
  return await callApi(sessionPageSchema, `/v1/sessions?${query.toString()}`, { signal });
}

export async function readSession(session: string, signal: AbortSignal): Promise<Session> {
  return await callApi(sessionSchema, pathOf(session), { signal });
}

export interface NewMessage {
  readonly text: string;
  readonly agent?: string;
  readonly attachments?: readonly GivenFile[];
}

/** Sends a message. The same key again means the same message. */
export async function sendMessage(session: string, message: NewMessage, key: string): Promise<Sent> {
  return await callApi(sentSchema, `${pathOf(session)}/messages`, { method: 'POST', body: message, headers: { 'Idempotency-Key': key } });
}

/** Cancels the waiting tasks of a session, then the running task. */
export async function stopSession(session: string): Promise<void> {
  await callApi(z.unknown(), `${pathOf(session)}/stop`, { method: 'POST' });
}

export async function setSessionMode(session: string, mode: string): Promise<void> {
  await callApi(z.unknown(), `${pathOf(session)}/mode`, { method: 'PUT', body: { mode } });
}

export function sessionStreamPath(session: string): string {
  return `${pathOf(session)}/stream`;
}

/** `cut` means that a reconnection is pending. */
export type Connection = 'connecting' | 'open' | 'cut';

interface LiveEventsOptions {
  /** Null opens no stream. */
  url: string | null;
  names: readonly string[];
  onEvent: (name: string, data: unknown) => void;
}

const FIRST_WAIT_MS = 1000;
const MAX_WAIT_MS = 15_000;

/** Listens to server-sent events while its component is mounted, and reconnects whenever the stream is cut. */
export function useLiveEvents({ url, names, onEvent }: LiveEventsOptions): Connection {
  const [connection, setConnection] = useState<Connection>('connecting');
  const onMessage = useEffectEvent(onEvent);
  useEffect(() => {
    if (url === null) return undefined;
    return listen({ url, names, onMessage: (name, data) => onMessage(name, data), onConnection: setConnection });
  }, [url, names]);
  return connection;
}

interface ListenOptions {
  url: string;
  names: readonly string[];
  onMessage: (name: string, data: unknown) => void;
  onConnection: (connection: Connection) => void;
}

/** Returns a function that closes the stream. */
function listen({ url, names, onMessage, onConnection }: ListenOptions): () => void {
  let source: EventSource | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let waitMs = FIRST_WAIT_MS;
  const open = (): void => {
    const opened = new EventSource(url);
    source = opened;
    opened.addEventListener('open', () => {
      waitMs = FIRST_WAIT_MS;
      onConnection('open');
    });
    opened.addEventListener('error', () => {
      onConnection('cut');
      // An EventSource reconnects after a network failure, but not after a response of another content type or status.
      if (opened.readyState === EventSource.CLOSED) reconnectLater();
    });
    for (const name of names) opened.addEventListener(name, (event: MessageEvent<string>) => onMessage(name, JSON.parse(event.data)));
  };
  const reconnectLater = (): void => {
    // Redirects to the sign-in form when the sign-in has ended.
    callApi(personSchema, '/console/person').catch(() => undefined);
    timer = setTimeout(open, waitMs);
    waitMs = Math.min(waitMs * 2, MAX_WAIT_MS);
  };
  open();
  return () => {
    clearTimeout(timer);
    source?.close();
  };
}
