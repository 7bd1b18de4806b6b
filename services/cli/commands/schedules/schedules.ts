import { Option, type Command } from 'commander';
import { z } from 'zod';
import { readAnswer } from '../../client/api-client.ts';
import type { CommandContext, ContextOf } from '../../command-context.ts';
import { addPaging, contextOption, parseCount, priorityOption, withinOption } from '../options.ts';
import { addOccurrenceCommands } from './occurrences.ts';
import {
  type ListRunsOptions,
  type ListSchedulesOptions,
  runScheduleList,
  runScheduleRuns,
  runScheduleShow,
  schedulePath,
  scheduleViewSchema,
  showUpcoming,
} from './show-schedules.ts';
import { randomUUID } from 'node:crypto';
import { CliProblem, EXIT } from '../../cli-problem.ts';
import { withKnownAgents } from '../agents.ts';
import { oneLine } from '../../output/terminal.ts';

const WHEN = 'such as "every monday at 09:00", "in 30 minutes", "every 5m", "0 9 * * 1-5" or 2026-06-01T12:00';

/** `muster schedule` creates a schedule; its subcommands show and change the existing ones. */
export function addScheduleCommands(program: Command, contextOf: ContextOf): void {
  const schedule = program
    .command('schedule')
    .usage('<when> <message> [options]\n       muster schedule <command>')
    .description('let an agent do something later, once or repeatedly');
  addCreate(schedule, contextOf);
  addLists(schedule, contextOf);
  addChanges(schedule, contextOf);
  addOccurrenceCommands(schedule, contextOf);
}

function addCreate(schedule: Command, contextOf: ContextOf): void {
  schedule
    .command('create', { isDefault: true })
    .description('create a schedule, and show how its times were understood; the word "create" may be left out')
    .argument('[when]', WHEN)
    .argument('[message]', 'the input of the agent; "-" reads it from standard input')
    .option('--agent <id>', 'the agent that runs it', 'echo')
    .option('--tz <zone>', 'IANA zone of the times, such as Europe/Berlin (default: the zone of the server)')
    .option('--name <text>', 'a name for people')
    .addOption(priorityOption())
    .addOption(contextOption())
    .addOption(withinOption())
    .option('--missed <policy>', 'what to do with missed times: skip, once, all')
    .option('--max-lateness <duration>', 'a time that is later than this is skipped, such as 1h')
    .option('--overlap <policy>', 'what to do while the previous run goes on: skip, queue, cancel-other, allow')
    .option('--jitter <duration>', 'delay each run by a random time up to this')
    .option('--until <time>', 'the last time that fires, in ISO 8601')
    .addOption(new Option('--max-runs <count>', 'end after so many runs').argParser(parseCount))
    .option('--exact', 'fire exactly at the full hour, whatever the configuration says')
    .option('--platform <name>', 'the chat platform that receives the results: telegram, slack, discord, whatsapp, webchat')
    .option('--channel <id>', 'the chat on that platform; for webchat a session')
    .option('--callback-url <url>', 'the address that receives the outcome of each run')
    .option('--json', 'print the record as JSON')
    .action((when: string | undefined, message: string | undefined, options: CreateScheduleOptions, command: Command) =>
      runScheduleCreate({ when, message }, options, contextOf(command)),
    );
}

function addLists(schedule: Command, contextOf: ContextOf): void {
  schedule
    .command('preview <when>')
    .description('show how a time is understood, and create nothing')
    .option('--tz <zone>', 'IANA zone of the times')
    .option('--from <time>', 'start from this time instead of now, in ISO 8601')
    .addOption(new Option('--count <count>', 'how many times to show').argParser(parseCount))
    .option('--json', 'print the answer as JSON')
    .action((when: string, options: PreviewOptions, command: Command) => runSchedulePreview(when, options, contextOf(command)));
  addPaging(schedule.command('list').description('list schedules'), '20')
    .option('--status <status>', 'active, paused, completed or failed')
    .option('--agent <id>', 'only schedules of this agent')
    .option('--q <text>', 'with this text in the number, name, message, rule or agent')
    .action((options: ListSchedulesOptions, command: Command) => runScheduleList(options, contextOf(command)));
  addPaging(schedule.command('runs <number>').description('list the runs of a schedule, newest first'), '20').action(
    (name: string, options: ListRunsOptions, command: Command) => runScheduleRuns(name, options, contextOf(command)),
  );
}

function addChanges(schedule: Command, contextOf: ContextOf): void {
  const commands: [name: string, description: string, run: typeof runScheduleShow][] = [
    ['show', 'show a schedule and its latest runs', runScheduleShow],
    ['pause', 'stop a schedule from firing until it is resumed', runPause],
    ['resume', 'let a paused schedule fire again', runResume],
    ['cancel', 'delete a schedule; its runs go on', runCancel],
    ['run', 'start a run now, in addition to the scheduled times', runNow],
  ];
  for (const [name, description, run] of commands) {
    schedule
      .command(`${name} <number>`)
      .description(description)
      .option('--json', 'print the answer as JSON')
      .action((number: string, options: ChangeOptions, command: Command) => run(number, options, contextOf(command)));
  }
}

interface ChangeOptions {
  json?: boolean;
}

async function runPause(name: string, { json }: ChangeOptions, context: CommandContext): Promise<void> {
  const { terminal } = context;
  const answer = await context.connect().patch(schedulePath(name), { body: { status: 'paused' } });
  if (json === true) return terminal.json(answer);
  const { number } = readAnswer(scheduleViewSchema, answer);
  terminal.line(`Schedule ${number} is paused. Resume it with npx muster schedule resume ${number}`);
}

async function runResume(name: string, { json }: ChangeOptions, context: CommandContext): Promise<void> {
  const { terminal } = context;
  const answer = await context.connect().patch(schedulePath(name), { body: { status: 'active' } });
  if (json === true) return terminal.json(answer);
  const schedule = readAnswer(scheduleViewSchema, answer);
  terminal.line(`Schedule ${schedule.number} is active.`);
  showUpcoming(schedule, context);
}

async function runCancel(name: string, { json }: ChangeOptions, context: CommandContext): Promise<void> {
  const { terminal } = context;
  const answer = await context.connect().delete(schedulePath(name));
  if (json === true) return terminal.json(answer);
  terminal.line(`Schedule ${name.replace(/^#/, '')} is cancelled.`);
}

async function runNow(name: string, { json }: ChangeOptions, context: CommandContext): Promise<void> {
  const { terminal } = context;
  const answer = await context.connect().post(`${schedulePath(name)}/run`);
  if (json === true) return terminal.json(answer);
  const { id, status } = readAnswer(z.object({ id: z.string(), status: z.string().nullable() }), answer);
  terminal.line(id);
  terminal.note(terminal.paintNote(`${status ?? 'no longer kept'}; follow it with npx muster task ${id}`, 'dim'));
}

interface CreateScheduleOptions {
  agent: string;
  tz?: string;
  name?: string;
  priority?: number | string;
  within?: string;
  context?: Record<string, unknown>;
  missed?: string;
  maxLateness?: string;
  overlap?: string;
  jitter?: string;
  until?: string;
  maxRuns?: number;
  exact?: boolean;
  platform?: string;
  channel?: string;
  callbackUrl?: string;
  json?: boolean;
}

const USAGE = 'A schedule needs a time and a message: npx muster schedule "every monday at 09:00" "summarise the week" --agent assistant';

/** Creates a schedule, and shows how its times were understood. */
async function runScheduleCreate(
  { when, message }: { when: string | undefined; message: string | undefined },
  { json, ...options }: CreateScheduleOptions,
  context: CommandContext,
): Promise<void> {
  const { terminal } = context;
  if (when === undefined || message === undefined) throw new CliProblem(USAGE, { exitCode: EXIT.usage });
  const text = message === '-' ? await context.readInput() : message;
  if (text.trim() === '') throw new CliProblem('There is no message', { exitCode: EXIT.usage });
  const idempotencyKey = randomUUID();
  const body = { phrase: when, message: text, ...options, idempotencyKey };
  const api = context.connect();
  const answer = await withKnownAgents(api, options.agent, api.post('/v1/schedules', { body, idempotencyKey }));
  if (json === true) return terminal.json(answer);
  const schedule = readAnswer(scheduleViewSchema, answer);
  terminal.line(`${terminal.paint(`#${schedule.number}`, 'bold')} → ${schedule.agent}: ${oneLine(text, 100)}`);
  showUpcoming(schedule, context);
  terminal.note(terminal.paintNote(`Not what you meant? npx muster schedule cancel ${schedule.number}`, 'dim'));
}

interface PreviewOptions {
  tz?: string;
  from?: string;
  count?: number;
  json?: boolean;
}

const previewSchema = z.object({ rule: z.string(), sentence: z.string(), tz: z.string(), next: z.array(z.string()) });

/** Shows how a rule is understood and when it would fire. */
async function runSchedulePreview(when: string, { json, ...options }: PreviewOptions, context: CommandContext): Promise<void> {
  const { terminal } = context;
  const answer = await context.connect().post('/v1/schedules/preview', { body: { phrase: when, ...options } });
  if (json === true) return terminal.json(answer);
  const preview = readAnswer(previewSchema, answer);
  showUpcoming(preview, context);
}
