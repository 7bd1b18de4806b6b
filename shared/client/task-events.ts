import { followEvents } from './event-connection.ts';
import type { ServerEvent } from './event-parser.ts';
import type { HttpCalls } from './http-calls.ts';
import type { TaskStatus } from './openapi.gen.ts';

/** What happens to a task while it is followed. `end` comes once, and last. */
export type TaskEvent =
  /** Text that its agent wrote. A later attempt starts over under its own number; `seq` grows within one run of an attempt. */
  | { type: 'output'; attempt: number; seq: number; text: string }
  /** Where the task is now. */
  | { type: 'status'; status: TaskStatus }
  | { type: 'log'; at: string; attempt: number; level: string; text: string; fields: unknown }
  | { type: 'progress'; at: string; attempt: number; note: string | null; percent: number | null }
  | { type: 'end'; status: TaskStatus };

const TYPES: ReadonlySet<string> = new Set<TaskEvent['type']>(['output', 'status', 'log', 'progress', 'end']);

interface FollowOptions {
  signal?: AbortSignal | undefined;
}

/** The events of a task from its beginning to its end, each once, however often the connection is cut meanwhile. */
export async function* followTask(calls: HttpCalls, id: string, { signal }: FollowOptions = {}): AsyncGenerator<TaskEvent, void> {
  let shown: TaskStatus | null = null;
  for await (const event of followEvents({ calls, path: `/v1/tasks/${encodeURIComponent(id)}/stream`, signal })) {
    const read = readEvent(event);
    // A stream that goes on begins with the status, which the reader may have seen.
    if (read === null || (read.type === 'status' && read.status === shown)) continue;
    if (read.type === 'status') shown = read.status;
    yield read;
    if (read.type === 'end') return;
  }
}

/** Null for an event of a newer fleet. */
function readEvent({ event, data }: ServerEvent): TaskEvent | null {
  if (!TYPES.has(event)) return null;
  return { type: event, ...(JSON.parse(data) as object) } as TaskEvent;
}
