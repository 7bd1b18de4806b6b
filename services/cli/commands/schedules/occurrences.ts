import { Option, type Command } from 'commander';
import { z } from 'zod';
import { CliProblem, EXIT } from '../../cli-problem.ts';
import { readAnswer } from '../../client/api-client.ts';
import type { CommandContext, ContextOf } from '../../command-context.ts';
import { pointInTime } from '../../output/terminal.ts';
import { schedulePath, scheduleViewSchema, showUpcoming, zonedTime } from './show-schedules.ts';

/** `muster schedule skip` and `backfill`: single occurrences of a schedule. */
export function addOccurrenceCommands(schedule: Command, contextOf: ContextOf): void {
  schedule
    .command('skip <number>')
    .description('skip the next occurrence')
    .option('--json', 'print the answer as JSON')
    .action((number: string, options: SkipOptions, command: Command) => runSkip(number, options, contextOf(command)));
  schedule
    .command('backfill <number>')
    .description('run the past occurrences of a range that had no run, each once')
    .addOption(new Option('--since <time>', 'the first occurrence, in ISO 8601').makeOptionMandatory())
    .option('--until <time>', 'the last occurrence, in ISO 8601 (default: now)')
    .option('--dry-run', 'only list what would run')
    .option('--json', 'print the answer as JSON')
    .action((number: string, options: BackfillOptions, command: Command) => runBackfill(number, options, contextOf(command)));
}

interface SkipOptions {
  json?: boolean;
}

const nextSchema = z.object({ nextFireAt: z.string().nullable(), status: z.string() });

async function runSkip(name: string, { json }: SkipOptions, context: CommandContext): Promise<void> {
  const { terminal } = context;
  const api = context.connect();
  const { nextFireAt, status } = readAnswer(nextSchema, await api.get(schedulePath(name)));
  if (nextFireAt === null) throw new CliProblem(`Schedule ${name} is ${status} and has no next occurrence`, { exitCode: EXIT.failed });
  const answer = await api.post(`${schedulePath(name)}/skip`, { body: { occurrence: nextFireAt } });
  if (json === true) return terminal.json(answer);
  const schedule = readAnswer(scheduleViewSchema, answer);
  terminal.line(`Schedule ${schedule.number} skips ${zonedTime(nextFireAt, schedule.tz)}.`);
  showUpcoming(schedule, context);
}

interface BackfillOptions {
  since: string;
  until?: string;
  dryRun?: boolean;
  json?: boolean;
}

const backfillSchema = z.object({
  items: z.array(z.object({ occurrence: z.string(), id: z.string().nullable(), isNew: z.boolean() })),
  newRuns: z.number(),
});

async function runBackfill(name: string, { json, ...range }: BackfillOptions, context: CommandContext): Promise<void> {
  const { terminal } = context;
  const answer = await context.connect().post(`${schedulePath(name)}/backfill`, { body: range });
  if (json === true) return terminal.json(answer);
  const { items, newRuns } = readAnswer(backfillSchema, answer);
  for (const { occurrence, id, isNew } of items) {
    terminal.line(`${pointInTime(occurrence)}  ${id ?? 'would run'}${isNew ? '' : '  had a run already'}`);
  }
  terminal.note(`${newRuns} of ${items.length} ${range.dryRun === true ? 'would run' : 'are new'}.`);
}
