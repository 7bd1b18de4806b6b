import { ClientError } from './client-error.ts';
import type { HttpCalls } from './http-calls.ts';
import { pause } from './pause.ts';
import type { Task, TaskStatus } from './openapi.gen.ts';
import { followTask } from './task-events.ts';

const ENDS: ReadonlySet<TaskStatus> = new Set<TaskStatus>(['completed', 'cancelled', 'stale', 'skipped', 'permanently_failed']);
/** Streams that wait for ends at once: browsers open six connections to a host, and calls need some. */
const MAX_STREAMS = 3;
const FIRST_POLL_MS = 250;
const LONGEST_POLL_MS = 5000;

/** TaskEnds is responsible for waiting for ends of tasks: a few by their streams, further ones by asking again and again. */
export class TaskEnds {
  readonly #calls: HttpCalls;
  #streams = 0;

  constructor(calls: HttpCalls) {
    this.#calls = calls;
  }

  /** The record of a task once it has ended. */
  async wait(id: string, signal?: AbortSignal): Promise<Task> {
    const path = `/v1/tasks/${encodeURIComponent(id)}`;
    for (let pollMs = FIRST_POLL_MS; ; pollMs = Math.min(LONGEST_POLL_MS, pollMs * 2)) {
      const task = await this.#calls.json<Task>({ method: 'GET', path, signal });
      if (ENDS.has(task.status)) return task;
      if (this.#streams >= MAX_STREAMS) await pause(pollMs, signal);
      else await this.#followToEnd(id, signal);
    }
  }

  async #followToEnd(id: string, signal: AbortSignal | undefined): Promise<void> {
    this.#streams += 1;
    try {
      for await (const { type } of followTask(this.#calls, id, { signal })) if (type === 'end') return;
    } finally {
      this.#streams -= 1;
    }
  }
}

/** What an ended task answers. Throws the failure of one that did not complete. */
export function resultOf(task: Task): unknown {
  if (task.status === 'completed') return task.result ?? task.output;
  const { error, outcome, status } = task;
  if (error !== null) throw new ClientError(error.code, error.message, { details: error.details, task });
  throw new ClientError(END_CODES[status] ?? 'client.unreadable', outcome?.reason ?? `Task ${task.id} is ${status}`, { task });
}

/** Of ends without a failure. */
const END_CODES: Partial<Record<TaskStatus, string>> = { cancelled: 'CANCELLED', skipped: 'SKIPPED', stale: 'DEADLINE_PASSED' };
