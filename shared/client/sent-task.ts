import type { HttpCalls } from './http-calls.ts';
import type { Accepted, Artifact, Task, TaskCancelled, Why } from './openapi.gen.ts';
import { readPages } from './pages.ts';
import { resultOf, type TaskEnds } from './task-end.ts';
import { followTask, type TaskEvent } from './task-events.ts';

interface Signalled {
  /** Gives up waiting; the task goes on. */
  signal?: AbortSignal | undefined;
}

/** What is shared by all tasks of one client. */
export interface TaskPorts {
  readonly calls: HttpCalls;
  readonly ends: TaskEnds;
}

/** A task that the fleet has. `for await (const event of task)` follows it from its beginning to its end. */
export class SentTask<Result = unknown> implements AsyncIterable<TaskEvent> {
  readonly id: string;
  /** What was answered when it was accepted; null for a task that was named by its id. */
  readonly accepted: Accepted | null;
  readonly #calls: HttpCalls;
  readonly #ends: TaskEnds;

  constructor({ calls, ends }: TaskPorts, id: string, accepted: Accepted | null = null) {
    this.id = id;
    this.accepted = accepted;
    this.#calls = calls;
    this.#ends = ends;
  }

  /**
   * Waits for the end. Resolves to the result, or to the output of a task that has none. Rejects with a `ClientError` that has the code of
   * the failure and the record as `task`: `CANCELLED` of a cancelled task, `DEADLINE_PASSED` of one that started too late.
   */
  async result({ signal }: Signalled = {}): Promise<Result> {
    return resultOf(await this.#ends.wait(this.id, signal)) as Result;
  }

  /** Follows it from its beginning, also one that has ended. */
  events({ signal }: Signalled = {}): AsyncGenerator<TaskEvent, void> {
    return followTask(this.#calls, this.id, { signal });
  }

  [Symbol.asyncIterator](): AsyncGenerator<TaskEvent, void> {
    return this.events();
  }

  /** Stops it and all that it delegated. Rejects with `task.wrong-state` once it has ended otherwise. */
  async cancel({ reason, signal }: Signalled & { reason?: string } = {}): Promise<TaskCancelled> {
    const json = reason === undefined ? {} : { reason };
    return await this.#calls.json({ method: 'POST', path: this.#path('/cancel'), json, isRepeatable: true, signal });
  }

  /** Its record as it is now. */
  async read({ signal }: Signalled = {}): Promise<Task> {
    return await this.#calls.json({ method: 'GET', path: this.#path(), signal });
  }

  /** Why it does not run yet. */
  async why({ signal }: Signalled = {}): Promise<Why> {
    return await this.#calls.json({ method: 'GET', path: this.#path('/why'), signal });
  }

  /** The files that it made. */
  artifacts({ signal }: Signalled = {}): AsyncGenerator<Artifact, void> {
    return readPages(this.#calls, { path: this.#path('/artifacts'), signal });
  }

  /** The bytes of one of them. */
  async download(name: string, { signal }: Signalled = {}): Promise<Blob> {
    return await this.#calls.bytes({ method: 'GET', path: this.#path(`/artifacts/${encodeURIComponent(name)}`), signal });
  }

  #path(rest = ''): string {
    return `/v1/tasks/${encodeURIComponent(this.id)}${rest}`;
  }
}
