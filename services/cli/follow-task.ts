import type { EventSourceMessage } from 'eventsource-parser';
import { z } from 'zod';
import { wait } from '#shared/time/index.ts';
import type { ApiClient } from './api-client.ts';
import { CliProblem } from './cli-problem.ts';
import { EXIT } from './exit-codes.ts';
import { problemOfNetwork } from './problem-of-network.ts';
import { readEvents } from './read-events.ts';

export interface TaskOutput {
  attempt: number;
  /** Grows within one run of an attempt; an attempt that was handed over begins anew under its number. */
  seq: number;
  text: string;
}

export interface FollowOptions {
  api: ApiClient;
  taskId: string;
  onOutput: (output: TaskOutput) => void;
  /** What comes after it is handed on when it has resolved. */
  onStatus: (status: string) => Promise<void> | void;
  /** Without a word from the server for so long, it is given up. Defaults to a minute. */
  patienceMs?: number;
  /** A stream this quiet is taken for dead and opened again; the server says something more often. */
  quietMs?: number;
  /** Before a cut stream is opened again. */
  pauseMs?: number;
}

const outputSchema = z.object({ attempt: z.number(), seq: z.number(), text: z.string() });
const statusSchema = z.object({ status: z.string() });

/**
 * Hands on what a task writes, as it is written, and resolves with its last status. A cut stream is taken up where it broke
 * off. Rejects with a `CliProblem`: `unreachable` after `patienceMs` without an answer, else what the server refused.
 */
export async function followTask(options: FollowOptions): Promise<string> {
  const { patienceMs = 60_000, pauseMs = 500 } = options;
  const place: Place = { lastEventId: undefined, heardAt: performance.now() };
  for (;;) {
    try {
      const end = await readOnce(options, place);
      if (end !== null) return end;
    } catch (error) {
      const problem = error instanceof CliProblem ? error : problemOfNetwork(error, 'its address');
      const isOver = performance.now() - place.heardAt >= patienceMs;
      if (problem.exitCode !== EXIT.unreachable || isOver) throw problem;
    }
    await wait(pauseMs);
  }
}

/** How far the reader is. */
interface Place {
  lastEventId: string | undefined;
  heardAt: number;
}

/** One connection; null when it ended before the task did. */
async function readOnce(options: FollowOptions, place: Place): Promise<string | null> {
  const { api, taskId, quietMs = 60_000 } = options;
  const connection = new AbortController();
  const silence = setTimeout(() => connection.abort(), quietMs);
  const heard = (): void => {
    place.heardAt = performance.now();
    silence.refresh();
  };
  try {
    const body = await api.stream(`/v1/tasks/${encodeURIComponent(taskId)}/stream`, place.lastEventId, connection.signal);
    for await (const event of readEvents(body, heard)) {
      if (event.id !== undefined) place.lastEventId = event.id;
      const end = await handle(event, options);
      if (end !== null) return end;
    }
    return null;
  } finally {
    clearTimeout(silence);
    connection.abort();
  }
}

/** Events of other names belong to a newer server and are passed over. */
async function handle({ event, data }: EventSourceMessage, { onOutput, onStatus }: FollowOptions): Promise<string | null> {
  if (event === 'end') return statusSchema.parse(JSON.parse(data)).status;
  if (event === 'status') await onStatus(statusSchema.parse(JSON.parse(data)).status);
  if (event === 'output') onOutput(outputSchema.parse(JSON.parse(data)));
  return null;
}
