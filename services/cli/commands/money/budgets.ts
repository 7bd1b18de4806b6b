import type { Command } from 'commander';
import { z } from 'zod';
import { CliProblem, EXIT } from '../../cli-problem.ts';
import { readAnswer } from '../../client/api-client.ts';
import type { CommandContext, ContextOf } from '../../command-context.ts';
import { type ListOptions, showList } from '../../output/table.ts';

const budgetSchema = z.object({
  id: z.string(),
  origin: z.string(),
  scope: z.string(),
  of: z.string().nullable(),
  per: z.string(),
  softMicroUsd: z.number().nullable(),
  hardMicroUsd: z.number().nullable(),
  atHard: z.string(),
  downgradeTo: z.string().nullable(),
  spentMicroUsd: z.number().nullable(),
  windowEndsAt: z.string().nullable(),
  held: z.number().nullable(),
});

interface SetOptions extends ListOptions {
  scope: string;
  of?: string;
  per: string;
  tz?: string;
  soft?: string;
  hard?: string;
  atHard?: string;
  downgradeTo?: string;
}

export function addBudgetCommands(program: Command, contextOf: ContextOf): void {
  const budgets = program
    .command('budgets')
    .description('list what may be spent, and what was')
    .option('--json', 'print the answer as JSON')
    .action((options: ListOptions, command: Command) => runBudgets(options, contextOf(command)));
  budgets
    .command('set <id>')
    .description('make or replace a budget; tasks that it held go on when it has room now')
    .requiredOption('--scope <scope>', 'tenant, agent, session, schedule or task')
    .option('--of <name>', 'which agent, session, schedule or first task; without it each is counted by itself')
    .option('--per <window>', 'hour, day, month or total', 'month')
    .option('--tz <zone>', 'zone in which days and months begin, such as Europe/Berlin')
    .option('--soft <dollars>', 'notify once a window when so much is spent, such as 4.50')
    .option('--hard <dollars>', 'spend no more than this in a window, such as 5')
    .option('--at-hard <action>', 'deny, pause or downgrade')
    .option('--downgrade-to <model>', 'the model of a downgrade')
    .action((id: string, _options: unknown, command: Command) => runSet(id, command.optsWithGlobals<SetOptions>(), contextOf(command)));
  budgets
    .command('remove <id>')
    .description('remove a budget that was made by API; tasks that it held go on')
    .action(async (id: string, _options: unknown, command: Command) => {
      const context = contextOf(command);
      await context.connect().delete(pathOf(id));
      context.terminal.line(`Budget ${id} is removed.`);
    });
}

function pathOf(id: string): string {
  return `/v1/budgets/${encodeURIComponent(id)}`;
}

function runBudgets(options: ListOptions, context: CommandContext): Promise<void> {
  return showList(
    {
      path: '/v1/budgets',
      item: budgetSchema,
      heading: ['BUDGET', 'FROM', 'COUNTS', 'PER', 'SPENT', 'SOFT', 'HARD', 'THEN', 'HELD', 'ENDS'],
      row: ({ id, origin, scope, of, per, spentMicroUsd, softMicroUsd, hardMicroUsd, atHard, downgradeTo, held, windowEndsAt }) => [
        id,
        origin,
        scope === 'tenant' ? scope : `${scope} ${of ?? '(each)'}`,
        per,
        amountOf(spentMicroUsd),
        amountOf(softMicroUsd),
        amountOf(hardMicroUsd),
        downgradeTo === null ? atHard : `${atHard} to ${downgradeTo}`,
        held === null ? '' : String(held),
        windowEndsAt ?? '',
      ],
      empty: 'There is no budget. Make one: npx muster budgets set monthly --scope tenant --hard 100 --at-hard pause',
    },
    options,
    context,
  );
}

async function runSet(
  id: string,
  { json, soft, hard, scope, of, per, tz, atHard, downgradeTo }: SetOptions,
  context: CommandContext,
): Promise<void> {
  const { terminal } = context;
  const lines = { softMicroUsd: microUsd('--soft', soft), hardMicroUsd: microUsd('--hard', hard) };
  const answer = await context.connect().put(pathOf(id), { body: { scope, of, per, tz, ...lines, atHard, downgradeTo } });
  if (json === true) return terminal.json(answer);
  const { spentMicroUsd, hardMicroUsd } = readAnswer(budgetSchema, answer);
  const spent = spentMicroUsd === null ? '' : `; ${amountOf(spentMicroUsd)} is spent`;
  terminal.line(`Budget ${id} is set${hardMicroUsd === null ? '' : ` to ${amountOf(hardMicroUsd)}`}${spent}.`);
}

const DOLLARS = /^\$?(\d{1,9}(?:\.\d{1,6})?)$/;

function microUsd(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const [, amount] = DOLLARS.exec(text) ?? [];
  if (amount === undefined) throw new CliProblem(`${option}: expected dollars such as 4.50, and got ${text}`, { exitCode: EXIT.usage });
  return Math.round(Number(amount) * 1e6);
}

function amountOf(amount: number | null): string {
  if (amount === null) return '';
  return `$${(amount / 1e6).toFixed(amount % 10_000 === 0 ? 2 : 4)}`;
}
