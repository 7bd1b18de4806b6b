import { createParser } from 'eventsource-parser';
import { taskApiPath, tenantHeaders, type TaskPlace } from '../api/tasks.ts';

export interface TaskStreamOptions {
  place: TaskPlace;
  onEvent: (name: string, data: unknown) => void;
  /** Whether it listens at the moment. */
  onOpen: (isOpen: boolean) => void;
}

const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 15_000;
/** The server says something twice as often; a stream this quiet is dead. */
const QUIET_MS = 60_000;

/**
 * Reads a task's stream until the task has ended or the signal aborts, and goes on after the last event when it is cut. Not by
 * EventSource, which sends no header.
 */
export async function readTaskStream(options: TaskStreamOptions, signal: AbortSignal): Promise<void> {
  const reader: Reader = { lastEventId: undefined, hasEnded: false };
  for (let waitMs = FIRST_WAIT_MS; !signal.aborted && !reader.hasEnded; waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)) {
    const before = reader.lastEventId;
    await readOnce(options, reader, signal).catch(() => undefined);
    options.onOpen(false);
    if (reader.lastEventId !== before) waitMs = FIRST_WAIT_MS;
    if (!reader.hasEnded) await pause(waitMs, signal);
  }
}

interface Reader {
  lastEventId: string | undefined;
  hasEnded: boolean;
}

async function readOnce({ place, onEvent, onOpen }: TaskStreamOptions, reader: Reader, signal: AbortSignal): Promise<void> {
  const connection = new AbortController();
  let silence = setTimeout(() => connection.abort(), QUIET_MS);
  try {
    const resume = reader.lastEventId === undefined ? {} : { 'Last-Event-ID': reader.lastEventId };
    const answer = await fetch(`${taskApiPath(place)}/stream`, {
      credentials: 'same-origin',
      headers: { Accept: 'text/event-stream', ...tenantHeaders(place), ...resume },
      signal: AbortSignal.any([signal, connection.signal]),
    });
    if (!answer.ok || answer.body === null) return;
    onOpen(true);
    const parser = createParser({
      onEvent: ({ event, data, id }) => {
        if (id !== undefined) reader.lastEventId = id;
        if (event === 'end') reader.hasEnded = true;
        if (event !== undefined) onEvent(event, JSON.parse(data));
      },
    });
    const decoder = new TextDecoder();
    const body = answer.body.getReader();
    for (let chunk = await body.read(); !chunk.done; chunk = await body.read()) {
      clearTimeout(silence);
      silence = setTimeout(() => connection.abort(), QUIET_MS);
      parser.feed(decoder.decode(chunk.value, { stream: true }));
    }
  } finally {
    clearTimeout(silence);
    connection.abort();
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}
