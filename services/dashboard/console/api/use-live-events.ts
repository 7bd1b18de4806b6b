import { useEffect, useEffectEvent, useState } from 'react';
import { callApi } from './call-api.ts';
import { personSchema } from './records.ts';

/** `cut` while it tries again. */
export type Connection = 'connecting' | 'open' | 'cut';

export interface LiveEventsOptions {
  /** Null for none. */
  url: string | null;
  names: readonly string[];
  onEvent: (name: string, data: unknown) => void;
}

const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 15_000;

/** Listens to server-sent events for as long as it is shown. A stream that is cut comes back by itself, whatever cut it. */
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

/** Returns what ends it. */
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
      // The browser itself comes back after a network's failure, and gives up after an answer that is no stream.
      if (opened.readyState === EventSource.CLOSED) openLater();
    });
    for (const name of names) opened.addEventListener(name, (event: MessageEvent<string>) => onMessage(name, JSON.parse(event.data)));
  };
  const openLater = (): void => {
    // Leads to the sign-in form when that is what is missing.
    callApi(personSchema, '/console/person').catch(() => undefined);
    timer = setTimeout(open, waitMs);
    waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS);
  };
  open();
  return () => {
    clearTimeout(timer);
    source?.close();
  };
}
