import type { AgentKind } from '../config/agent-definitions.ts';
import type { AgentResult } from '../config/agent-function.ts';
import type { DefinitionOf } from './agent-definition-of.ts';
import type { AgentRun, AgentRunner } from './agent-runner.ts';

/** A runner for every kind of agent; the type lets none be forgotten. */
export type AgentRunners = { readonly [Kind in AgentKind]: AgentRunner<DefinitionOf<Kind>> };

/** Runs one attempt by the runner of its agent's kind. Settles as `AgentRunner` says. */
export function runAgent(runners: AgentRunners, { definition, task, context }: AgentRun): Promise<AgentResult> {
  switch (definition.kind) {
    case 'echo':
      return runners.echo({ definition, task, context });
    case 'function':
      return runners.function({ definition, task, context });
    case 'openai':
      return runners.openai({ definition, task, context });
    case 'http':
      return runners.http({ definition, task, context });
    case 'command':
      return runners.command({ definition, task, context });
  }
}
