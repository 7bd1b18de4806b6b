import type { HttpCalls } from './http-calls.ts';
import type { Accepted, Artifact, JournalEntry, Task, TaskCancelled, TaskTree, TaskTreeNode, Why } from './openapi.gen.ts';
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
  readonly #ports: TaskPorts;
  readonly #calls: HttpCalls;

  constructor(ports: TaskPorts, id: string, accepted: Accepted | null = null) {
    this.id = id;
    this.accepted = accepted;
    this.#ports = ports;
    this.#calls = ports.calls;
  }

  /**
   * Waits for the end. Resolves to the result, or to the output of a task that has none. Rejects with a `ClientError` that has the code of
   * the failure and the record as `task`: `CANCELLED` of a cancelled task, `DEADLINE_PASSED` of one that started too late.
   */
  async result({ signal }: Signalled = {}): Promise<Result> {
    return resultOf(await this.#ports.ends.wait(this.id, signal)) as Result;
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

  /**
   * Lets it go on after a permanent failure, or before the time of its next attempt. With `fromStep`, the `seq` of an entry of its journal, a new
   * task has what an ended one did before that, and goes on with it. Resolves to the task that goes on. Not repeated by itself after a lost answer.
   */
  async retry({ fromStep, signal }: Signalled & { fromStep?: number } = {}): Promise<SentTask<Result>> {
    const json = fromStep === undefined ? {} : { fromStep };
    const { id } = await this.#calls.json<{ id: string }>({ method: 'POST', path: this.#path('/retry'), json, signal });
    return id === this.id ? this : new SentTask(this.#ports, id);
  }

  /** Its record as it is now. */
  async read({ signal }: Signalled = {}): Promise<Task> {
    return await this.#calls.json({ method: 'GET', path: this.#path(), signal });
  }

  /** Why it does not run yet. */
  async why({ signal }: Signalled = {}): Promise<Why> {
    return await this.#calls.json({ method: 'GET', path: this.#path('/why'), signal });
  }

  /** What its run has done, and what that waits for: steps, messages, sleeps, events, questions and sub-tasks, in their order. */
  journal({ signal }: Signalled = {}): AsyncGenerator<JournalEntry, void> {
    return readPages(this.#calls, { path: this.#path('/journal'), signal });
  }

  /** It with all that descends from it by delegation, up to `limit` tasks. */
  async tree({ limit, signal }: Signalled & { limit?: number } = {}): Promise<TaskTreeNode> {
    const { root } = await this.#calls.json<TaskTree>({ method: 'GET', path: this.#path('/tree'), query: { limit }, signal });
    return root;
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
