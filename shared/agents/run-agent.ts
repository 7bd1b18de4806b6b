import type { AgentKind, AgentResult } from '../config/index.ts';
import type { DefinitionOf } from './agent-definition-of.ts';
import type { AgentRun, AgentRunner } from './agent-runner.ts';

/** A runner for every kind of agent; the type lets none be forgotten. */
export type AgentRunners = { readonly [Kind in AgentKind]: AgentRunner<DefinitionOf<Kind>> };

/** Runs one attempt by the runner of its agent's kind. Settles as `AgentRunner` says. */
export function runAgent(runners: AgentRunners, { definition, ...run }: AgentRun): Promise<AgentResult> {
  switch (definition.kind) {
    case 'echo':
      return runners.echo({ definition, ...run });
    case 'function':
      return runners.function({ definition, ...run });
    case 'openai':
      return runners.openai({ definition, ...run });
    case 'http':
      return runners.http({ definition, ...run });
    case 'command':
      return runners.command({ definition, ...run });
  }
}
