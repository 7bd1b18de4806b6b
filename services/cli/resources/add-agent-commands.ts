import type { Command } from 'commander';
import { z } from 'zod';
import type { RunContext } from '../run-context.ts';
import { showResourceTable, type ListOptions } from './resource-table.ts';

const agentSchema = z.object({
  id: z.string(),
  kind: z.string(),
  origin: z.string(),
  model: z.string().nullish(),
  url: z.string().nullish(),
  description: z.string().nullish(),
});

/** `muster agents` and what is below it. */
export function addAgentCommands(program: Command, contextOf: (command: Command) => RunContext): void {
  const agents = program
    .command('agents')
    .description('list the agents that tasks can name')
    .option('--json', 'print the answer as JSON')
    .action((options: ListOptions, command: Command) => listAgents(options, contextOf(command)));
  agents
    .command('show <id>')
    .description('print the definition of an agent, without its secrets')
    .action(async (id: string, _options: unknown, command: Command) => {
      const context = contextOf(command);
      context.terminal.json(await context.connect().get(pathOf(id)));
    });
  agents
    .command('delete <id>')
    .description('delete an agent that was made by API')
    .action(async (id: string, _options: unknown, command: Command) => {
      const context = contextOf(command);
      await context.connect().delete(pathOf(id));
      context.terminal.line(`Agent ${id} is deleted.`);
    });
}

function pathOf(id: string): string {
  return `/v1/agents/${encodeURIComponent(id)}`;
}

function listAgents(options: ListOptions, context: RunContext): Promise<void> {
  return showResourceTable(
    {
      path: '/v1/agents',
      item: agentSchema,
      heading: ['AGENT', 'KIND', 'FROM', 'RUNS', 'DESCRIPTION'],
      row: ({ id, kind, origin, model, url, description }) => [id, kind, origin, model ?? url ?? '', description ?? ''],
      empty: 'There is no agent. Name one in muster.config.ts, or PUT /v1/agents/<id>.',
    },
    options,
    context,
  );
}
