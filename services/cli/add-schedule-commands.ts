import { InvalidArgumentError, Option, type Command } from 'commander';
import { cancelSchedule, pauseSchedule, resumeSchedule, runSchedule } from './change-schedule.ts';
import { createSchedule, type CreateScheduleOptions } from './create-schedule.ts';
import { listRuns, type ListRunsOptions } from './list-runs.ts';
import { listSchedules, type ListSchedulesOptions } from './list-schedules.ts';
import { parsePair, parsePriority } from './parse-pair.ts';
import { previewSchedule, type PreviewOptions } from './preview-schedule.ts';
import type { RunContext } from './run-context.ts';
import { showSchedule } from './show-schedule.ts';

type ContextOf = (command: Command) => RunContext;

const WHEN = 'such as "every monday at 09:00", "in 30 minutes", "every 5m", "0 9 * * 1-5" or 2026-06-01T12:00';

/** `muster schedule`: makes a schedule, or, with a second word, does something with those that are there. */
export function addScheduleCommands(program: Command, contextOf: ContextOf): void {
  const schedule = program
    .command('schedule')
    .usage('<when> <message> [options]\n       muster schedule <command>')
    .description('have an agent do something later, or again and again');
  addCreate(schedule, contextOf);
  addLooks(schedule, contextOf);
  addChanges(schedule, contextOf);
}

function addCreate(schedule: Command, contextOf: ContextOf): void {
  schedule
    // Its name may be left out.
    .command('create', { isDefault: true })
    .description('make a schedule and show how it was understood; the word itself may be left out')
    .argument('[when]', WHEN)
    .argument('[message]', 'what the agent is told; "-" reads it from standard input')
    .option('--agent <id>', 'who does it', 'echo')
    .option('--tz <zone>', 'IANA zone of the times, such as Europe/Berlin; by default the one of the server')
    .option('--name <text>')
    .addOption(new Option('--priority <1-10|name>', '10 first; low, normal, high, critical').argParser(parsePriority))
    .addOption(new Option('--context <key=value>', 'for the agent; a value may be JSON; repeatable').argParser(parsePair))
    .option('--missed <policy>', 'what was missed: skip, once, all')
    .option('--max-lateness <duration>', 'later than this counts as missed for good, such as 1h')
    .option('--overlap <policy>', 'while the run before goes on: skip, queue, cancel-other, allow')
    .option('--jitter <duration>', 'a little later each time, by up to this')
    .option('--until <time>', 'the last time that counts, in ISO 8601')
    .addOption(new Option('--max-runs <count>', 'end after so many runs').argParser(parseCount))
    .option('--exact', 'never spread over the full hour, whatever the configuration says')
    .option('--platform <name>', 'the chat platform that results are sent to: telegram, slack, discord, whatsapp; webchat')
    .option('--channel <id>', 'the chat on it; for webchat a session')
    .option('--callback-url <url>', 'is told how each run ended')
    .option('--json', 'print the record as JSON')
    .action((when: string | undefined, message: string | undefined, options: CreateScheduleOptions, command: Command) =>
      createSchedule({ when, message }, options, contextOf(command)),
    );
}

function addLooks(schedule: Command, contextOf: ContextOf): void {
  schedule
    .command('preview <when>')
    .description('say how a time is understood, and make nothing')
    .option('--tz <zone>', 'IANA zone of the times')
    .option('--from <time>', 'as if it were then, in ISO 8601')
    .addOption(new Option('--count <count>', 'how many times to show').argParser(parseCount))
    .option('--json', 'print the answer as JSON')
    .action((when: string, options: PreviewOptions, command: Command) => previewSchedule(when, options, contextOf(command)));
  addPaging(schedule.command('list').description('list schedules'))
    .option('--status <status>', 'active, paused, completed or failed')
    .option('--agent <id>')
    .action((options: ListSchedulesOptions, command: Command) => listSchedules(options, contextOf(command)));
  addPaging(schedule.command('runs <number>').description('list the runs of a schedule, newest first')).action(
    (name: string, options: ListRunsOptions, command: Command) => listRuns(name, options, contextOf(command)),
  );
}

function addPaging(command: Command): Command {
  return command
    .option('--limit <count>', 'at most 200', '20')
    .option('--cursor <cursor>', 'go on where the last list ended')
    .option('--json', 'print the answer as JSON');
}

function addChanges(schedule: Command, contextOf: ContextOf): void {
  const commands: [name: string, description: string, act: typeof showSchedule][] = [
    ['show', 'show a schedule and its latest runs', showSchedule],
    ['pause', 'stop it from firing until it is resumed', pauseSchedule],
    ['resume', 'let it fire again', resumeSchedule],
    ['cancel', 'delete it; runs that it made go on', cancelSchedule],
    ['run', 'make a run now, besides its own times', runSchedule],
  ];
  for (const [name, description, act] of commands) {
    schedule
      .command(`${name} <number>`)
      .description(description)
      .option('--json', 'print the answer as JSON')
      .action((number: string, options: { json?: boolean }, command: Command) => act(number, options, contextOf(command)));
  }
}

function parseCount(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Expected a whole number from 1 on.');
}
