import type { AgentMap, InputOf, ResultOf } from './agent-map.ts';
import { ClientError } from './client-error.ts';
import { type CallOptions, HttpCalls } from './http-calls.ts';
import { readPages } from './pages.ts';
import type { EventRequest, EventSent, Task, Upload } from './openapi.gen.ts';
import type { ListTasksQuery } from './queries.ts';
import { Questions } from './questions.ts';
import { Schedules } from './schedules.ts';
import { newKey, type SendOptions, sendTask, sendTasks, type TaskOptions } from './send-tasks.ts';
import { SentTask, type TaskPorts } from './sent-task.ts';
import { Sessions } from './sessions.ts';
import { TaskEnds } from './task-end.ts';
import { uploadFile, type UploadOptions } from './upload-file.ts';

export type ClientOptions = CallOptions;

type Name<Agents> = keyof Agents & string;

/** One task of many: its agent, an input that this agent takes, and options. */
export type ManyItem<Agents extends AgentMap = AgentMap> = {
  [Agent in Name<Agents>]: TaskOptions & { agent: Agent; input: InputOf<Agents[Agent]> };
}[Name<Agents>];

/** What became of one task of many. */
export type ManyResult<Result = unknown> =
  | { readonly task: SentTask<Result>; readonly error: null }
  | { readonly task: null; readonly error: ClientError };

interface Signalled {
  signal?: AbortSignal | undefined;
}

/** A client of one fleet with one key. It keeps no connection, so there is nothing to close. */
export interface Client<Agents extends AgentMap = AgentMap> {
  /** Sends a task. Resolves once the fleet has it: from then on it reaches its end. */
  send<Agent extends Name<Agents>>(
    agent: Agent,
    input: InputOf<Agents[Agent]>,
    options?: SendOptions,
  ): Promise<SentTask<ResultOf<Agents[Agent]>>>;
  /** Sends many tasks in one call for some hundreds. Resolves to what became of each, in their order; one that is refused refuses no other. */
  sendMany<const Items extends readonly ManyItem<Agents>[]>(
    items: Items,
    options?: Signalled,
  ): Promise<{ -readonly [Place in keyof Items]: ManyResult<ResultOf<Agents[Items[Place]['agent']]>> }>;
  /** A task that was sent before, by its id. */
  task<Agent extends Name<Agents> = Name<Agents>>(id: string): SentTask<ResultOf<Agents[Agent]>>;
  /** Tasks of a filter, newest first. */
  tasks(query?: ListTasksQuery, options?: Signalled): AsyncGenerator<Task, void>;
  /** Stores a file for a task, as `attachments: [{ uploadId: upload.id }]`. */
  upload(file: Blob, options?: UploadOptions): Promise<Upload>;
  /** Events that runs wait for by `context.waitFor`. */
  readonly events: {
    /** Sends one: resolves to how many runs it resumed. Without an `id` only the client's own repetitions are the same event. */
    send(event: EventRequest, options?: Signalled): Promise<EventSent>;
  };
  readonly questions: Questions;
  readonly schedules: Schedules;
  readonly sessions: Sessions;
}

/**
 * A client of the fleet at `url`. With `createClient<typeof agents>` names, inputs and results have the types of those agents. Throws a
 * `ClientError` for options that cannot be right.
 */
export function createClient<Agents extends AgentMap = AgentMap>(options: ClientOptions): Client<Agents> {
  const calls = new HttpCalls(options);
  const ports: TaskPorts = { calls, ends: new TaskEnds(calls) };
  return {
    send: async (agent, input, sendOptions = {}) => {
      const accepted = await sendTask(calls, agent, input, sendOptions);
      return new SentTask(ports, accepted.id, accepted);
    },
    sendMany: async <const Items extends readonly ManyItem<Agents>[]>(items: Items, { signal }: Signalled = {}) => {
      const answers = await sendTasks(calls, items, signal);
      const results = answers.map((answer) =>
        answer instanceof ClientError ? { task: null, error: answer } : { task: new SentTask(ports, answer.id, answer), error: null },
      );
      return results as { -readonly [Place in keyof Items]: ManyResult<ResultOf<Agents[Items[Place]['agent']]>> };
    },
    task: (id) => new SentTask(ports, id),
    tasks: (query = {}, { signal }: Signalled = {}) => readPages(calls, { path: '/v1/tasks', query, signal }),
    upload: (file, uploadOptions = {}) => uploadFile(calls, '/v1/uploads', file, uploadOptions),
    events: {
      send: (event, { signal }: Signalled = {}) => {
        const json = { ...event, id: event.id ?? newKey() };
        return calls.json({ method: 'POST', path: '/v1/events', json, isRepeatable: true, signal });
      },
    },
    questions: new Questions(calls),
    schedules: new Schedules(ports),
    sessions: new Sessions(ports),
  };
}
