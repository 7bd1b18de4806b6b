import { useEffect, useEffectEvent, useState } from 'react';
import { readPerson } from '../api/person.ts';

/** `cut` means that a reconnection is pending. */
export type Connection = 'connecting' | 'open' | 'cut';

interface LiveEventsOptions {
  /** Null opens no stream. */
  url: string | null;
  names: readonly string[];
  /** Gets the data as it came. */
  onEvent: (name: string, data: string) => void;
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
  onMessage: (name: string, data: string) => void;
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
    for (const name of names) opened.addEventListener(name, (event: MessageEvent<string>) => onMessage(name, event.data));
  };
  const reconnectLater = (): void => {
    // Redirects to the sign-in form when the sign-in has ended.
    readPerson().catch(() => undefined);
    timer = setTimeout(open, waitMs);
    waitMs = Math.min(waitMs * 2, MAX_WAIT_MS);
  };
  open();
  return () => {
    clearTimeout(timer);
    source?.close();
  };
}
