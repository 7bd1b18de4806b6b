import { type EventSourceMessage, createParser } from 'eventsource-parser';
import { z } from 'zod';
import type { ApiClient } from './api-client.ts';
import { systemClock, wait, type Clock } from '#shared/time/index.ts';
import { CliProblem, EXIT, networkProblem } from '../cli-problem.ts';

export interface TaskOutput {
  attempt: number;
  /** Grows within one run of an attempt. An attempt that was handed over starts again at 1 under its number. */
  seq: number;
  text: string;
}

interface FollowOptions extends StreamLimits {
  api: ApiClient;
  taskId: string;
  onOutput: (output: TaskOutput) => void;
  /** The events after it are handled once it has resolved. */
  onStatus: (status: string) => Promise<void> | void;
}

const outputSchema = z.object({ attempt: z.number(), seq: z.number(), text: z.string() });
const statusSchema = z.object({ status: z.string() });

/** Reports what a task writes, as it is written, and resolves with its last status. Rejects as `followStream` does. */
export function followTask({ api, taskId, onOutput, onStatus, ...limits }: FollowOptions): Promise<string> {
  const onEvent = async ({ event, data }: EventSourceMessage): Promise<string | null> => {
    if (event === 'end') return statusSchema.parse(JSON.parse(data)).status;
    if (event === 'status') await onStatus(statusSchema.parse(JSON.parse(data)).status);
    if (event === 'output') onOutput(outputSchema.parse(JSON.parse(data)));
    // Events of other names belong to a newer server.
    return null;
  };
  return followStream({ ...limits, connect: () => api, path: `/v1/tasks/${encodeURIComponent(taskId)}/stream`, onEvent });
}

export interface StreamLimits {
  /** Without a byte from the server for so long, the stream is given up. Defaults to a minute. */
  patienceMs?: number;
  /** A connection this quiet counts as dead and is opened again; the server writes more often. Defaults to a minute. */
  quietMs?: number;
  /** Before a cut stream is opened again. */
  pauseMs?: number;
  clock?: Pick<Clock, 'monotonic'>;
}

interface StreamOptions<T> extends StreamLimits {
  /** Called for each connection, because a fleet that was started again may have another address. */
  connect: () => ApiClient;
  path: string;
  /** Handles an event before the next one is read. What it returns, unless that is null, ends the stream. */
  onEvent: (event: EventSourceMessage) => Promise<T | null> | T | null;
}

interface Position {
  lastEventId: string | undefined;
  receivedAt: number;
}

/**
 * Reads server-sent events until `onEvent` returns a result. A cut stream continues after the last event that was handled.
 * Rejects with a `CliProblem`: `unreachable` after `patienceMs` without an answer, else the refusal of the server.
 */
export async function followStream<T>(options: StreamOptions<T>): Promise<T> {
  const { patienceMs = 60_000, pauseMs = 500, clock = systemClock } = options;
  const position: Position = { lastEventId: undefined, receivedAt: clock.monotonic() };
  for (;;) {
    const api = options.connect();
    try {
      const result = await readConnection(api, options, position);
      if (result !== null) return result;
    } catch (error) {
      const problem = error instanceof CliProblem ? error : networkProblem(error, api.url);
      const isOver = clock.monotonic() - position.receivedAt >= patienceMs;
      if (problem.exitCode !== EXIT.unreachable || isOver) throw problem;
    }
    await wait(pauseMs);
  }
}

/** Reads one connection. Null when it ended without a result. */
async function readConnection<T>(api: ApiClient, options: StreamOptions<T>, position: Position): Promise<T | null> {
  const { path, onEvent, quietMs = 60_000, clock = systemClock } = options;
  const connection = new AbortController();
  const silence = setTimeout(() => connection.abort(), quietMs);
  const onChunk = (): void => {
    position.receivedAt = clock.monotonic();
    silence.refresh();
  };
  try {
    const body = await api.stream(path, position.lastEventId, connection.signal);
    for await (const event of readEvents(body, onChunk)) {
      const result = await onEvent(event);
      if (event.id !== undefined) position.lastEventId = event.id;
      if (result !== null) return result;
    }
    return null;
  } finally {
    clearTimeout(silence);
    connection.abort();
  }
}

async function* readEvents(body: ReadableStream<Uint8Array>, onChunk: () => void): AsyncGenerator<EventSourceMessage> {
  const ready: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (event) => void ready.push(event) });
  const decoder = new TextDecoder();
  for await (const chunk of body) {
    onChunk();
    parser.feed(decoder.decode(chunk, { stream: true }));
    yield* ready.splice(0);
  }
}
