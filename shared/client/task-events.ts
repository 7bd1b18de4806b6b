import { followEvents } from './event-connection.ts';
import type { ServerEvent } from './event-parser.ts';
import type { HttpCalls } from './http-calls.ts';
import type { TaskStatus, TaskStreamEvent } from './openapi.gen.ts';

type Flat<Type> = { [Name in keyof Type]: Type[Name] };
type EventOf<Sent> = Sent extends { event: infer Type; data: infer Data } ? Flat<{ type: Type } & Data> : never;

/**
 * What happens to a task while it is followed: `output` is text that its agent wrote, `status` where the task is, `log` and `progress` what its
 * agent reports, and `end` comes once, and last. A later attempt starts over under its own number.
 */
export type TaskEvent = EventOf<TaskStreamEvent>;

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
