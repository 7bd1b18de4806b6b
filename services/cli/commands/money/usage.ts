import { Option, type Command } from 'commander';
import { z } from 'zod';
import { readAnswer } from '../../client/api-client.ts';
import type { CommandContext, ContextOf } from '../../command-context.ts';
import { formatCost } from '../../output/format-cost.ts';
import { showTable } from '../../output/table.ts';
import { oneLine } from '../../output/terminal.ts';

const figuresSchema = z.object({
  inputTokens: z.number(),
  outputTokens: z.number(),
  cachedInputTokens: z.number(),
  reasoningTokens: z.number(),
  costMicroUsd: z.number().nullable(),
  unknown: z.number(),
  attempts: z.number(),
});
type Figures = z.infer<typeof figuresSchema>;

const usageSchema = z.object({ items: z.array(figuresSchema.extend({ group: z.string().nullable() })), total: figuresSchema });

const GROUPS = ['day', 'agent', 'model', 'tenant', 'source', 'task', 'session', 'person', 'key', 'schedule'];

interface UsageOptions {
  by: string;
  since?: string;
  until?: string;
  json?: boolean;
}

export function addUsageCommand(program: Command, contextOf: ContextOf): void {
  program
    .command('usage')
    .description('show tokens and cost of the last 30 days')
    .addOption(new Option('--by <group>', 'what a line is about').choices(GROUPS).default('day'))
    .option('--since <day>', 'the first day, such as 2026-05-01')
    .option('--until <day>', 'the last day; today by default')
    .option('--json', 'print the answer as JSON')
    .action((options: UsageOptions, command: Command) => runUsage(options, contextOf(command)));
}

const MAX_NAME = 60;

async function runUsage({ by, since, until, json }: UsageOptions, context: CommandContext): Promise<void> {
  const { terminal } = context;
  const answer = await context.connect().get('/v1/usage', { groupBy: by, since, until });
  if (json === true) return terminal.json(answer);
  const { items, total } = readAnswer(usageSchema, answer);
  if (items.length === 0) return terminal.note('Nothing was used in this time, as far as it is known.');
  const rows = items.map((item) => [oneLine(item.group ?? 'unknown', MAX_NAME)].concat(cellsOf(item)));
  const heading = [by.toUpperCase(), 'IN', 'CACHED', 'OUT', 'REASONING', 'ATTEMPTS', 'COST'];
  showTable({ heading, rows: [...rows, ['total', ...cellsOf(total)]], nextCursor: null }, terminal);
}

function cellsOf({ inputTokens, cachedInputTokens, outputTokens, reasoningTokens, attempts, costMicroUsd, unknown }: Figures): string[] {
  const tokens = [inputTokens, cachedInputTokens, outputTokens, reasoningTokens, attempts].map((figure) => figure.toLocaleString('en-US'));
  const isPart = costMicroUsd !== null && unknown > 0;
  return [...tokens, isPart ? `${formatCost(costMicroUsd)} and ${unknown} of unknown cost` : formatCost(costMicroUsd)];
}
