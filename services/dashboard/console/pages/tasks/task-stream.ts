import { createParser } from 'eventsource-parser';
import { addPiece, NO_TEXT, type WrittenText } from '#shared/tasks/written-text.ts';
import type { OutputEvent, TaskStreamEvent } from '#shared/client/openapi.gen.ts';
import { parseTaskEvent } from '../../api/parse-answer.ts';

interface TaskStreamOptions {
  url: string;
  headers: Record<string, string>;
  onEvent: (event: TaskStreamEvent) => void;
  /** Called with whether the stream is open. */
  onOpen: (isOpen: boolean) => void;
}

const FIRST_WAIT_MS = 1000;
const MAX_WAIT_MS = 15_000;
/** The server sends something twice in this time, so a quieter stream is dead. */
const QUIET_MS = 60_000;

/**
 * Reads a task's stream until the task has ended or the signal aborts, and resumes a cut stream after the last event.
 * EventSource would send no headers.
 */
export async function readTaskStream(options: TaskStreamOptions, signal: AbortSignal): Promise<void> {
  const reader: Reader = { lastEventId: undefined, hasEnded: false };
  for (let waitMs = FIRST_WAIT_MS; !signal.aborted && !reader.hasEnded; waitMs = Math.min(waitMs * 2, MAX_WAIT_MS)) {
    const before = reader.lastEventId;
    await readOnce(options, reader, signal).catch(() => undefined);
    options.onOpen(false);
    if (reader.lastEventId !== before) waitMs = FIRST_WAIT_MS;
    if (!reader.hasEnded) await wait(waitMs, signal);
  }
}

interface Reader {
  lastEventId: string | undefined;
  hasEnded: boolean;
}

async function readOnce({ url, headers, onEvent, onOpen }: TaskStreamOptions, reader: Reader, signal: AbortSignal): Promise<void> {
  const connection = new AbortController();
  let silence = setTimeout(() => connection.abort(), QUIET_MS);
  try {
    const resume = reader.lastEventId === undefined ? {} : { 'Last-Event-ID': reader.lastEventId };
    const answer = await fetch(url, {
      credentials: 'same-origin',
      headers: { Accept: 'text/event-stream', ...headers, ...resume },
      signal: AbortSignal.any([signal, connection.signal]),
    });
    if (!answer.ok || answer.body === null) return;
    onOpen(true);
    const parser = createParser({
      onEvent: ({ event, data, id }) => {
        if (id !== undefined) reader.lastEventId = id;
        if (event === 'end') reader.hasEnded = true;
        if (event !== undefined) onEvent(parseTaskEvent(event, data));
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

function wait(ms: number, signal: AbortSignal): Promise<void> {
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

/** The output of the current run, and the attempt that wrote last. */
export interface WrittenOutput extends WrittenText {
  readonly attempt: number;
}

export const NOTHING_WRITTEN: WrittenOutput = { attempt: 0, ...NO_TEXT };

/** Adds a piece of output. */
export function addOutput(before: WrittenOutput, { attempt, ...piece }: OutputEvent): WrittenOutput {
  return { attempt, ...addPiece(before, piece) };
}
