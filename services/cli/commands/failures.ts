import type { Command } from 'commander';
import { z } from 'zod';
import type { CommandContext, ContextOf } from '../command-context.ts';
import { type ListOptions, showList } from '../output/table.ts';
import { shortAge } from '../output/terminal.ts';
import { addPaging } from './options.ts';

const failureSchema = z.object({
  code: z.string(),
  agent: z.string(),
  count: z.number(),
  firstAt: z.string(),
  lastAt: z.string(),
  example: z.object({ taskId: z.string(), message: z.string() }),
});

interface FailureOptions extends ListOptions {
  code?: string;
  agent?: string;
  schedule?: string;
  since?: string;
  until?: string;
}

export function addFailureCommands(program: Command, contextOf: ContextOf): void {
  addPaging(program.command('failures').description('group permanently failed tasks by error'), '50')
    .option('--code <code>', 'only this error, such as NETWORK_ERROR')
    .option('--agent <id>', 'only tasks of this agent')
    .option('--schedule <id>', 'only tasks of this schedule')
    .option('--since <time>', 'only tasks accepted at or after, such as 2026-05-01T09:00:00Z')
    .option('--until <time>', 'only tasks accepted before')
    .action((options: FailureOptions, command: Command) => runFailures(options, contextOf(command)));
}

function runFailures({ json, ...query }: FailureOptions, context: CommandContext): Promise<void> {
  const now = context.clock.now();
  return showList(
    {
      path: '/v1/failures',
      query,
      item: failureSchema,
      heading: ['ERROR', 'AGENT', 'TASKS', 'FIRST', 'LAST', 'EXAMPLE', 'MESSAGE'],
      row: ({ code, agent, count, firstAt, lastAt, example }) => [
        code,
        agent,
        String(count),
        shortAge(now - Date.parse(firstAt)),
        shortAge(now - Date.parse(lastAt)),
        example.taskId,
        example.message,
      ],
      empty: 'No task failed for good.',
    },
    json === true ? { json } : {},
    context,
  );
}
