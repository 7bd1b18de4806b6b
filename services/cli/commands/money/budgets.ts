import { Option, type Command } from 'commander';
import { z } from 'zod';
import { CliProblem, EXIT } from '../../cli-problem.ts';
import { readAnswer } from '../../client/api-client.ts';
import type { CommandContext, ContextOf } from '../../command-context.ts';
import { type ListOptions, showList } from '../../output/table.ts';
import { oneLine, pointInTime } from '../../output/terminal.ts';
import type { JsonOptions } from '../options.ts';

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
  warnings: z.array(z.string()).default([]),
});

type Lines = { [Name in 'soft' | 'hard' | 'atHard' | 'downgradeTo']: string | undefined };
type Budget = z.infer<typeof budgetSchema>;

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

const SCOPES = ['tenant', 'agent', 'session', 'schedule', 'task', 'key'];
const WINDOWS = ['hour', 'day', 'month', 'total'];
const ACTIONS = ['deny', 'pause', 'downgrade'];

export function addBudgetCommands(program: Command, contextOf: ContextOf): void {
  const budgets = program
    .command('budgets')
    .description('list what may be spent, and what was')
    .option('--json', 'print the answer as JSON')
    .action((options: ListOptions, command: Command) => runBudgets(options, contextOf(command)));
  budgets
    .command('set <id>')
    .description('make or replace a budget; tasks that it held go on when it has room now')
    .addOption(new Option('--scope <scope>', 'what it counts').choices(SCOPES).makeOptionMandatory())
    .option('--of <name>', 'which agent, session, schedule, first task or key (its id); without it each has its own count')
    .addOption(
      new Option('--per <window>', 'length of a window, after which the count starts again at 0').choices(WINDOWS).default('month'),
    )
    .option('--tz <zone>', 'zone in which days and months begin, such as Europe/Berlin')
    .option('--soft <dollars>', 'notify once a window when so much is spent, such as 4.50')
    .option('--hard <dollars>', 'spend no more than this in a window, such as 5')
    .addOption(new Option('--at-hard <action>', 'what happens then; deny by default').choices(ACTIONS))
    .option('--downgrade-to <model>', 'the model of a downgrade')
    .option('--json', 'print the answer as JSON')
    .action((id: string, options: SetOptions, command: Command) => runSet(id, options, contextOf(command)));
  budgets
    .command('remove <id>')
    .description('remove a budget that was made by API; tasks that it held go on')
    .option('--json', 'print the answer as JSON')
    .action(async (id: string, { json }: JsonOptions, command: Command) => {
      const context = contextOf(command);
      const answer = await context.connect().delete(pathOf(id));
      if (json === true) return context.terminal.json(answer);
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
      row: (budget) => [
        budget.id,
        budget.origin,
        budget.scope === 'tenant' ? budget.scope : `${budget.scope} ${budget.of ?? '(each)'}`,
        budget.per,
        amountOf(budget.spentMicroUsd),
        amountOf(budget.softMicroUsd),
        amountOf(budget.hardMicroUsd),
        budget.hardMicroUsd === null ? '' : actionOf(budget),
        budget.held === null ? '' : String(budget.held),
        budget.windowEndsAt === null ? '' : pointInTime(budget.windowEndsAt),
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
  assertLines({ soft, hard, atHard, downgradeTo });
  const lines = { softMicroUsd: microUsd('--soft', soft), hardMicroUsd: microUsd('--hard', hard) };
  const answer = await context.connect().put(pathOf(id), { body: { scope, of, per, tz, ...lines, atHard, downgradeTo } });
  if (json === true) return terminal.json(answer);
  const budget = readAnswer(budgetSchema, answer);
  terminal.line(describeSet(budget));
  for (const warning of budget.warnings) terminal.note(oneLine(`${warning}.`, MAX_LINE));
}

/** What the server would refuse by the names of its fields. */
function assertLines({ soft, hard, atHard, downgradeTo }: Lines): void {
  if (soft === undefined && hard === undefined) throw new CliProblem('Give it --soft, --hard or both.', { exitCode: EXIT.usage });
  if ((atHard === 'downgrade') === (downgradeTo !== undefined)) return;
  throw new CliProblem('--at-hard downgrade and --downgrade-to go together.', { exitCode: EXIT.usage });
}

const WINDOW_WORDS: Readonly<Record<string, string>> = { hour: 'an hour', day: 'a day', month: 'a month', total: 'in all' };

/** As "Budget daily is set: $5.00 a day for the agent writer, then pause; $1.20 is spent." */
function describeSet(budget: Budget): string {
  const { id, per, softMicroUsd, hardMicroUsd, spentMicroUsd } = budget;
  const line = hardMicroUsd === null ? `a notification at ${amountOf(softMicroUsd)}` : amountOf(hardMicroUsd);
  const next = hardMicroUsd === null ? '' : `, then ${actionOf(budget)}`;
  const spent = spentMicroUsd === null ? '' : `; ${amountOf(spentMicroUsd)} is spent`;
  return oneLine(`Budget ${id} is set: ${line} ${WINDOW_WORDS[per] ?? per} for ${subjectOf(budget)}${next}${spent}.`, MAX_LINE);
}

const MAX_LINE = 400;

function subjectOf({ scope, of }: Budget): string {
  if (scope === 'tenant') return 'the tenant';
  return of === null ? `each ${scope}` : `the ${scope} ${of}`;
}

function actionOf({ atHard, downgradeTo }: Budget): string {
  return downgradeTo === null ? atHard : `${atHard} to ${downgradeTo}`;
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
