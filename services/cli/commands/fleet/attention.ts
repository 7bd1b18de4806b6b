import type { Command } from 'commander';
import { z } from 'zod';
import { durationText } from '#shared/time/index.ts';
import { EXIT } from '../../cli-problem.ts';
import { readAnswer } from '../../client/api-client.ts';
import type { CommandContext, ContextOf } from '../../command-context.ts';
import type { JsonOptions } from '../options.ts';
import { type Finding, findOrSkip } from './findings.ts';

const itemSchema = z.object({
  id: z.string().optional(),
  code: z.string().optional(),
  subject: z.string().nullish(),
  scope: z.enum(['fleet', 'tenant']).optional(),
  level: z.enum(['critical', 'warning']),
  text: z.string(),
  helps: z.string().optional(),
  since: z.string().nullable(),
});
const listSchema = z.object({ items: z.array(itemSchema) });
type Item = z.infer<typeof itemSchema>;

const PATH = '/v1/attention';
const FINE = 'Nothing needs attention.';
const LEVEL_WIDTH = 'critical'.length;

export function addAttentionCommand(program: Command, contextOf: ContextOf): void {
  const attention = program
    .command('attention')
    .description('list what needs attention now; ends with 1 when something is critical')
    .option('--json', 'print the answer as JSON')
    .action((options: JsonOptions, command: Command) => runAttention(options, contextOf(command)));
  attention
    .command('acknowledge <id>')
    .description('note that somebody knows of it: it is listed no more unless it becomes worse')
    .option('--json', 'print the answer as JSON')
    .action(async (id: string, { json }: JsonOptions, command: Command) => {
      const context = contextOf(command);
      const answer = await context.connect().post(`${PATH}/${encodeURIComponent(id)}/acknowledge`);
      if (json === true) return context.terminal.json(answer);
      context.terminal.line(`Acknowledged: ${readAnswer(itemSchema, answer).text}`);
    });
}

async function runAttention({ json }: JsonOptions, context: CommandContext): Promise<void> {
  const { terminal } = context;
  const answer = await context.connect().get(PATH);
  const { items } = readAnswer(listSchema, answer);
  if (items.some(({ level }) => level === 'critical')) context.end(EXIT.failed);
  if (json === true) return terminal.json(answer);
  if (items.length === 0) return terminal.line(FINE);
  for (const item of items) {
    const level = terminal.paint(item.level.padEnd(LEVEL_WIDTH), item.level === 'critical' ? 'red' : 'yellow');
    terminal.line(`${level}  ${textOf(item, context)}`);
    const more = [item.helps, item.id === undefined ? undefined : `(${item.id})`].filter((part) => part !== undefined);
    if (more.length > 0) terminal.line(`${' '.repeat(LEVEL_WIDTH)}  ${more.join(' ')}`);
  }
}

const NAME = 'Attention';

/** The same list as rows of `npx muster doctor`. */
export async function findAttention(context: CommandContext): Promise<Finding[]> {
  return await findOrSkip(NAME, async () => {
    const { items } = readAnswer(listSchema, await context.connect().get(PATH));
    // Its rows stand beside checks, which somebody may have acknowledged.
    if (items.length === 0) return [{ name: NAME, state: 'ok', detail: 'Nothing else needs attention.' }];
    return items.map((item) => findingOf(item, context));
  });
}

/** What the tenants' own things are called, by the beginning of a code, and whether its subject names one. */
const OWNERS: Readonly<Record<string, { name: string; isNamed: boolean }>> = {
  agent: { name: 'agent', isNamed: true },
  input: { name: 'input of an agent', isNamed: false },
  task: { name: 'tasks', isNamed: false },
  daemon: { name: 'tasks for daemons', isNamed: false },
  pressure: { name: 'load of the tenant', isNamed: false },
  schedule: { name: 'schedule', isNamed: true },
  budget: { name: 'budget', isNamed: true },
  delivery: { name: 'receiver of a delivery', isNamed: false },
  endpoint: { name: 'endpoint', isNamed: true },
};

/** What is a tenant's is named with its owner and only warned of: the installation is not at fault. */
function findingOf(item: Item, context: CommandContext): Finding {
  const { id, level, helps } = item;
  const of = ownerOf(item);
  const text = textOf(item, context);
  return {
    ...(id === undefined ? {} : { id }),
    name: NAME,
    state: level === 'critical' && of === null ? 'fail' : 'warn',
    detail: helps === undefined ? text : `${text} ${helps}`,
    ...(of === null ? {} : { of }),
  };
}

/** Null for what is of the installation. */
function ownerOf({ code = '', scope, subject }: Item): string | null {
  const owner = OWNERS[code.split('.')[0] ?? ''];
  if (scope === 'fleet' || (scope === undefined && owner === undefined)) return null;
  if (owner === undefined) return 'tenant';
  return owner.isNamed && subject ? `${owner.name} ${subject}` : owner.name;
}

function textOf({ text, since }: Item, { clock }: CommandContext): string {
  return since === null ? text : `${text} (for ${durationText(clock.now() - Date.parse(since))})`;
}
