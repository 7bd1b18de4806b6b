import type { Command } from 'commander';
import { z } from 'zod';
import { readAnswer } from '../../client/api-client.ts';
import type { CommandContext, ContextOf } from '../../command-context.ts';
import { formatTable } from '../../output/table.ts';
import { plainText, pointInTime } from '../../output/terminal.ts';
import type { JsonOptions } from '../options.ts';

const alertSchema = z.object({
  severity: z.string(),
  summary: z.string(),
  since: z.string(),
  tenant: z.string().nullable(),
  isSent: z.boolean().default(true),
});
const ruleSchema = z.object({
  name: z.string(),
  to: z.string(),
  severity: z.string(),
  tenants: z.array(z.string()).nullable(),
  firing: z.array(alertSchema),
  firingSentAt: z.string().nullable(),
  failure: z.object({ at: z.string(), times: z.int(), why: z.string() }).nullable(),
});

const PATH = '/v1/alerts';

export function addAlertsCommand(program: Command, contextOf: ContextOf): void {
  const alerts = program
    .command('alerts')
    .description('list who is alerted of what the fleet finds, and of what now')
    .option('--json', 'print the answer as JSON')
    .action((options: JsonOptions, command: Command) => runAlerts(options, contextOf(command)));
  alerts
    .command('test <name>')
    .description('send a test to a receiver of alerts')
    .option('--json', 'print the answer as JSON')
    .action(async (name: string, { json }: JsonOptions, command: Command) => {
      const context = contextOf(command);
      const answer = await context.connect().post(`${PATH}/${encodeURIComponent(name)}/test`);
      if (json === true) return context.terminal.json(answer);
      context.terminal.line(`The receiver of ${name} took a test.`);
    });
}

async function runAlerts({ json }: JsonOptions, context: CommandContext): Promise<void> {
  const { terminal } = context;
  const answer = await context.connect().get(PATH);
  if (json === true) return terminal.json(answer);
  const { items } = readAnswer(z.object({ items: z.array(ruleSchema) }), answer);
  if (items.length === 0) return terminal.note('Nobody is alerted: the configuration has no "alerts".');
  const rows = items.map(({ name, to, severity, tenants, firing, firingSentAt, failure }) => [
    name,
    to,
    `${severity} and worse`,
    tenants?.join(', ') ?? 'all',
    `${firing.length}`,
    firingSentAt === null ? 'never' : pointInTime(firingSentAt),
    `${failure?.times ?? 0}`,
  ]);
  for (const line of formatTable([['NAME', 'TO', 'WHAT', 'TENANTS', 'FIRING', 'LAST SENT', 'FAILURES'], ...rows])) terminal.line(line);
  for (const { name, failure } of items) if (failure !== null) terminal.line(failureText(name, failure));
  for (const { name, firing } of items) for (const alert of firing) terminal.line(alertText(name, alert));
}

function alertText(name: string, { severity, since, summary, isSent }: z.infer<typeof alertSchema>): string {
  return `${name}: ${severity} since ${pointInTime(since)}: ${plainText(summary)}${isSent ? '' : ' (not sent yet)'}`;
}

function failureText(name: string, { at, times, why }: { at: string; times: number; why: string }): string {
  return `${name}: its receiver took none of the last ${times} tries, the last at ${pointInTime(at)}: ${plainText(why)}`;
}
