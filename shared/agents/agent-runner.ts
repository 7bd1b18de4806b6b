import type { AgentDefinition } from '../config/agent-definitions.ts';
import type { AgentContext, AgentResult, AgentTask } from '../config/agent-function.ts';

/** One attempt, as a runner gets it. */
export interface AgentRun<Definition extends AgentDefinition = AgentDefinition> {
  readonly task: AgentTask;
  readonly definition: Definition;
  readonly context: AgentContext;
  /** Resolves once `context.input()` may have something to give, which may be at once; stays pending when nothing ever arrives. */
  readonly inputArrived: () => Promise<void>;
  /** Settles like the work, or rejects with the signal's reason as soon as that aborts; the work goes on by itself then. */
  readonly untilStopped: <T>(work: Promise<T>) => Promise<T>;
}

/**
 * Runs one attempt of one kind of agent.
 * Resolves with the answer, or rejects: with `TaskFailure` for a failure it can name (see `classifyFailure`), with the
 * signal's reason once the signal aborts. It settles promptly after an abort and leaves nothing running behind it.
 */
export type AgentRunner<Definition extends AgentDefinition = AgentDefinition> = (run: AgentRun<Definition>) => Promise<AgentResult>;
