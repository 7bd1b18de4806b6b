import type { AgentDefinition } from '../config/index.ts';

/**
 * Whether messages may go into the runs of this agent's tasks. A task of `echo` says in its context (`noInput`) that it wants none.
 */
export function takesInput(definition: AgentDefinition, context: Readonly<Record<string, unknown>> | undefined): boolean {
  switch (definition.kind) {
    case 'echo':
      return !context?.['noInput'];
    case 'openai':
      return true;
    case 'function':
    case 'command':
      return definition.takesInput ?? false;
    case 'http':
      return false;
  }
}
