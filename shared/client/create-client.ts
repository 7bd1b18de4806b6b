import type { AgentMap, InputOf, ResultOf } from './agent-map.ts';
import { type CallOptions, HttpCalls } from './http-calls.ts';
import { type SendOptions, sendTask } from './send-tasks.ts';
import { SentTask } from './sent-task.ts';
import { TaskEnds } from './task-end.ts';

export type ClientOptions = CallOptions;

type Name<Agents> = keyof Agents & string;

/** A client of one fleet with one key. It keeps no connection, so there is nothing to close. */
export interface Client<Agents extends AgentMap = AgentMap> {
  /** Sends a task. Resolves once the fleet has it: from then on it reaches its end. */
  send<Agent extends Name<Agents>>(
    agent: Agent,
    input: InputOf<Agents[Agent]>,
    options?: SendOptions,
  ): Promise<SentTask<ResultOf<Agents[Agent]>>>;
  /** A task that was sent before, by its id. */
  task<Agent extends Name<Agents> = Name<Agents>>(id: string): SentTask<ResultOf<Agents[Agent]>>;
}

/**
 * A client of the fleet at `url`. With `createClient<typeof agents>` names, inputs and results have the types of those agents. Throws a
 * `ClientError` for options that cannot be right.
 */
export function createClient<Agents extends AgentMap = AgentMap>(options: ClientOptions): Client<Agents> {
  const calls = new HttpCalls(options);
  const ports = { calls, ends: new TaskEnds(calls) };
  return {
    send: async (agent, input, sendOptions = {}) => {
      const accepted = await sendTask(calls, agent, input, sendOptions);
      return new SentTask(ports, accepted.id, accepted);
    },
    task: (id) => new SentTask(ports, id),
  };
}
