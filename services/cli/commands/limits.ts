import { type Command, InvalidArgumentError } from 'commander';
import { z } from 'zod';
import { readAnswer } from '../client/api-client.ts';
import type { CommandContext, ContextOf } from '../command-context.ts';
import { showTable } from '../output/table.ts';
import { duration } from '../output/terminal.ts';

const previewSchema = z.object({
  tasks: z.number(),
  wouldHaveWaited: z.number(),
  wouldHaveBeenRefused: z.number(),
  longestMs: z.number(),
  byLimit: z.array(z.object({ limit: z.string(), waited: z.number(), refused: z.number(), longestMs: z.number() })),
  since: z.string(),
});

type Figures = Record<string, number>;

interface PreviewOptions {
  running?: number;
  waiting?: number;
  low?: number;
  class: Figures;
  agent: Figures;
  json?: boolean;
}

export function addLimitCommands(program: Command, contextOf: ContextOf): void {
  program
    .command('limits')
    .description("a tenant's limits")
    .command('preview <tenant>')
    .description('show what limits would have done to the tasks of the last day; changes nothing')
    .option('--running <n>', 'tasks with a grant at once', readCount)
    .option('--waiting <n>', 'tasks without a grant', readCount)
    .option('--low <n>', 'tasks of priority 1 at once', readCount)
    .option('--class <name=n>', 'tasks of a class of source at once, such as user=5; repeatable', addFigure, {})
    .option('--agent <id=n>', 'tasks of an agent at once; repeatable', addFigure, {})
    .option('--json', 'print the answer as JSON')
    .action((tenant: string, options: PreviewOptions, command: Command) => runPreview(tenant, options, contextOf(command)));
}

function readCount(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('expected a number');
  return Number(text);
}

function addFigure(text: string, before: Figures): Figures {
  const [, name = '', figure = ''] = /^([^=]+)=(.*)$/.exec(text) ?? [];
  return { ...before, [name]: readCount(figure) };
}

async function runPreview(tenant: string, options: PreviewOptions, context: CommandContext): Promise<void> {
  const limits = {
    running: options.running,
    waiting: options.waiting,
    runningLow: options.low,
    runningByClass: options.class,
    runningByAgent: options.agent,
  };
  const path = `/v1/tenants/${encodeURIComponent(tenant)}/limits/preview`;
  const answer = await context.connect().post(path, { body: { limits } });
  if (options.json) return context.terminal.json(answer);
  const { tasks, wouldHaveWaited, wouldHaveBeenRefused, longestMs, byLimit, since } = readAnswer(previewSchema, answer);
  context.terminal.line(
    `Of ${tasks} tasks since ${since}, ${wouldHaveWaited} would have waited (at most ${duration(longestMs)}), and ${wouldHaveBeenRefused} would have been refused.`,
  );
  if (byLimit.length === 0) return;
  const rows = byLimit.map((effect) => [effect.limit, String(effect.waited), String(effect.refused), duration(effect.longestMs)]);
  showTable({ heading: ['LIMIT', 'WAITED', 'REFUSED', 'LONGEST'], rows, nextCursor: null }, context.terminal);
}
