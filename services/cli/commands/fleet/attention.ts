import type { Command } from 'commander';
import { z } from 'zod';
import { EXIT } from '../../cli-problem.ts';
import { readAnswer } from '../../client/api-client.ts';
import type { CommandContext, ContextOf } from '../../command-context.ts';
import { duration } from '../../output/terminal.ts';
import { type Finding, findOrSkip } from './findings.ts';

const itemSchema = z.object({
  code: z.string().optional(),
  subject: z.string().nullish(),
  level: z.enum(['critical', 'warning']),
  text: z.string(),
  since: z.string().nullable(),
});
const listSchema = z.object({ items: z.array(itemSchema) });
type Item = z.infer<typeof itemSchema>;

const PATH = '/v1/attention';
const FINE = 'Nothing needs attention.';

export function addAttentionCommand(program: Command, contextOf: ContextOf): void {
  program
    .command('attention')
    .description('list what needs attention now; ends with 1 when something is critical')
    .option('--json', 'print the answer as JSON')
    .action((options: { json?: boolean }, command: Command) => runAttention(options, contextOf(command)));
}

async function runAttention({ json }: { json?: boolean }, context: CommandContext): Promise<void> {
  const { terminal } = context;
  const answer = await context.connect().get(PATH);
  const { items } = readAnswer(listSchema, answer);
  if (items.some(({ level }) => level === 'critical')) context.end(EXIT.failed);
  if (json === true) return terminal.json(answer);
  if (items.length === 0) return terminal.line(FINE);
  for (const item of items) {
    const level = terminal.paint(item.level.padEnd('critical'.length), item.level === 'critical' ? 'red' : 'yellow');
    terminal.line(`${level}  ${textOf(item, context)}`);
  }
}

const NAME = 'Attention';

/** The same list as rows of `npx muster doctor`. */
export async function findAttention(context: CommandContext): Promise<Finding[]> {
  return await findOrSkip(NAME, async () => {
    const { items } = readAnswer(listSchema, await context.connect().get(PATH));
    if (items.length === 0) return [{ name: NAME, state: 'ok', detail: FINE }];
    return items.map((item) => findingOf(item, context));
  });
}

/** What the tenants' own things are called, by the beginning of a code. Others, as queues and workers, are the installation's. */
const OWNERS: Readonly<Record<string, string>> = {
  agent: 'agent',
  input: 'input of an agent',
  schedule: 'schedule',
  budget: 'budget',
  delivery: 'receiver of a delivery',
  endpoint: 'endpoint',
};

function findingOf(item: Item, context: CommandContext): Finding {
  const { code = '', level, subject } = item;
  const owner = OWNERS[code.split('.')[0] ?? ''];
  const of = owner === undefined ? {} : { of: subject ? `${owner} ${subject}` : owner };
  return { name: NAME, state: level === 'critical' ? 'fail' : 'warn', detail: textOf(item, context), ...of };
}

function textOf({ text, since }: Item, { clock }: CommandContext): string {
  return since === null ? text : `${text} (for ${duration(clock.now() - Date.parse(since))})`;
}
