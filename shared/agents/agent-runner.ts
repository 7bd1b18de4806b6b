import type { AgentContext, AgentDefinition, AgentResult, AgentTask } from '../config/index.ts';

/** What helps to find out why an attempt failed. */
export interface Diagnostics {
  /** Where an error was thrown. */
  stack?: string;
  /** The end of what a program wrote to stderr. */
  stderr?: string;
}

/** One attempt, as a runner gets it. */
export interface AgentRun<Definition extends AgentDefinition = AgentDefinition> {
  readonly task: AgentTask;
  readonly definition: Definition;
  /** Whether the operator's configuration has it; else its tenant made it by API. */
  readonly isOperators: boolean;
  readonly context: AgentContext;
  /** Resolves once `context.input()` may have something to give, which may be at once; stays pending when nothing ever arrives. */
  readonly inputArrived: () => Promise<void>;
  /** Adds to the record of the attempt, should it fail or time out. */
  readonly diagnose: (found: Diagnostics) => void;
  /** Settles like the work, or rejects with the signal's reason as soon as that aborts; the work goes on by itself then. */
  readonly untilStopped: <T>(work: Promise<T>) => Promise<T>;
}

/**
 * Runs one attempt of one kind of agent.
 * Resolves with the answer, or rejects: with `TaskFailure` for a failure it can name (see `classifyFailure`), with the
 * signal's reason once the signal aborts. It settles promptly after an abort and leaves nothing running behind it.
 */
export type AgentRunner<Definition extends AgentDefinition = AgentDefinition> = (run: AgentRun<Definition>) => Promise<AgentResult>;
