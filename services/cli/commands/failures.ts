import { type Command, Option } from 'commander';
import { z } from 'zod';
import type { CommandContext, ContextOf } from '../command-context.ts';
import { type ListOptions, showList } from '../output/table.ts';
import { shortAge } from '../output/terminal.ts';
import { addPaging } from './options.ts';

const failureSchema = z.object({
  code: z.string().nullable(),
  agent: z.string().nullable(),
  release: z.string().nullish(),
  count: z.number(),
  firstAt: z.string(),
  lastAt: z.string(),
  example: z.object({ taskId: z.string(), message: z.string() }),
});

interface FailureOptions extends ListOptions {
  by?: string;
  code?: string;
  agent?: string;
  release?: string;
  schedule?: string;
  since?: string;
  until?: string;
}

export function addFailureCommands(program: Command, contextOf: ContextOf): void {
  addPaging(
    program.command('failures').description('group permanently failed tasks by error and agent, or by one of them, or by release'),
    '50',
  )
    .addOption(new Option('--by <what>', 'group them by one thing').choices(Object.keys(HEADINGS)))
    .option('--code <code>', 'only this error, such as NETWORK_ERROR')
    .option('--agent <id>', 'only tasks of this agent')
    .option('--release <release>', 'only tasks whose last attempt a worker of this release ran')
    .option('--schedule <id>', 'only tasks of this schedule')
    .option('--since <time>', 'only tasks accepted at or after, such as 2026-05-01T09:00:00Z')
    .option('--until <time>', 'only tasks accepted before')
    .action((options: FailureOptions, command: Command) => runFailures(options, contextOf(command)));
}

/** What stands in front of each group. */
const HEADINGS: Readonly<Record<string, string>> = { error: 'ERROR', agent: 'AGENT', release: 'RELEASE' };

function runFailures({ json, by, ...filter }: FailureOptions, context: CommandContext): Promise<void> {
  const now = context.clock.now();
  return showList(
    {
      path: '/v1/failures',
      query: { ...filter, groupBy: by },
      item: failureSchema,
      heading: [...(by === undefined ? ['ERROR', 'AGENT'] : [HEADINGS[by] ?? '']), 'TASKS', 'FIRST', 'LAST', 'EXAMPLE', 'MESSAGE'],
      row: ({ code, agent, release, count, firstAt, lastAt, example }) => [
        ...(by === undefined ? [code ?? '', agent ?? ''] : [code ?? agent ?? release ?? 'unknown']),
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
