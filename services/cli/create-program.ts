import { Command, Option } from 'commander';
import { QUEUE_MODES } from '#shared/config/index.ts';
import { systemClock } from '#shared/time/index.ts';
import { addScheduleCommands } from './add-schedule-commands.ts';
import { addSessionCommands } from './add-session-commands.ts';
import { addAgentCommands } from './resources/add-agent-commands.ts';
import { addDeliveryCommands } from './resources/add-delivery-commands.ts';
import { addHookCommands } from './resources/add-hook-commands.ts';
import { addKeyCommands } from './resources/add-key-commands.ts';
import { addQueueCommands } from './resources/add-queue-commands.ts';
import { cancelTask } from './cancel-task.ts';
import type { ExitCode } from './exit-codes.ts';
import { explainTask } from './explain-task.ts';
import { listTasks } from './list-tasks.ts';
import { openConsole } from './open-console.ts';
import { parsePair, parsePriority } from './parse-pair.ts';
import { retryTask } from './retry-task.ts';
import type { RunContext } from './run-context.ts';
import { sendTask, type SendOptions } from './send-task.ts';
import { showTask } from './show-task.ts';
import { watchNotifications, type WatchOptions } from './watch-notifications.ts';

export interface ProgramOptions {
  /** What commands work with; made when one runs, because the address is among its options. */
  contextOf: (command: Command) => RunContext;
  /** Of this installation, such as `0.1.0`. */
  version: string;
  /** Looks at this machine; the answer is the exit code. */
  doctor: () => Promise<ExitCode>;
}

const EXAMPLES = `
Examples:
  npx muster send "Summarise the day" --agent assistant
  npx muster send "A slow one" --context paceMs=500
  git diff | npx muster send - --agent assistant --json
  npx muster tasks --status running
  npx muster schedule "every monday at 09:00" "Summarise the week" --agent assistant --tz Europe/Berlin
  npx muster schedule list

An <id> of a task may be shortened to its beginning, as long as one task has it.

Exit codes: 0 done, 1 failed or cancelled, 2 not understood or not allowed, 3 no server answers.`;

/** All commands, with what they take. */
export function createProgram({ contextOf, doctor, version }: ProgramOptions): Command {
  const program = new Command('muster')
    .description('Send work to the fleet, and see what becomes of it.')
    .version(version, '--version', 'print the version')
    .option('--url <address>', 'address of the API (else MUSTER_URL, else the fleet of this machine)')
    .option('--key <key>', 'API key (else MUSTER_API_KEY, else the one of the fleet of this machine)')
    .addHelpText('after', EXAMPLES)
    .showHelpAfterError('(npx muster --help shows what there is)');
  addSend(program, contextOf);
  addTasks(program, contextOf);
  addCommandsOfOneTask(program, contextOf);
  addSessionCommands(program, contextOf);
  addScheduleCommands(program, contextOf);
  addAgentCommands(program, contextOf);
  addHookCommands(program, contextOf);
  addQueueCommands(program, contextOf);
  addDeliveryCommands(program, contextOf);
  addKeyCommands(program, contextOf);
  addWatch(program, contextOf);
  program
    .command('open')
    .description('open the console in a browser, and print its address')
    .option('--print', 'only print it')
    .action((options: { print?: boolean }, command: Command) => openConsole(options, contextOf(command)));
  program
    .command('doctor')
    .description('check this machine: Node, Redis, configuration, agents')
    .action(async (_options, command: Command) => contextOf(command).end(await doctor()));
  return program;
}

function addSend(program: Command, contextOf: ProgramOptions['contextOf']): void {
  program
    .command('send <text>')
    .description('send a task and show what it writes; "-" reads the text from standard input')
    .option('--agent <id>', 'who does it', 'echo')
    .option('--session <key>', 'the conversation it belongs to: its tasks run one at a time, in order')
    .addOption(
      new Option('--mode <mode>', 'what becomes of it when it meets a running task of its session; by default it waits').choices(
        QUEUE_MODES,
      ),
    )
    .addOption(new Option('--priority <1-10|name>', '10 first; low, normal, high, critical').argParser(parsePriority))
    .addOption(new Option('--context <key=value>', 'for the agent; a value may be JSON; repeatable').argParser(parsePair))
    .option('--no-wait', 'print the id and do not wait for the end')
    .option('--json', 'print the record as JSON, once it has ended')
    .action((text: string, options: SendOptions, command: Command) => sendTask(text, options, contextOf(command)));
}

function addTasks(program: Command, contextOf: ProgramOptions['contextOf']): void {
  program
    .command('tasks')
    .description('list tasks, newest first')
    .option('--status <status>', 'such as running, queued, completed, permanently_failed')
    .option('--agent <id>')
    .option('--session <key>')
    .option('--limit <count>', 'at most 200', '20')
    .option('--cursor <cursor>', 'go on where the last list ended')
    .option('--json', 'print the answer as JSON')
    .action((options: Parameters<typeof listTasks>[0], command: Command) => listTasks(options, contextOf(command), systemClock));
}

function addWatch(program: Command, contextOf: ProgramOptions['contextOf']): void {
  program
    .command('watch')
    .description('print what happens, a line each, until Ctrl-C: runs, schedules, pressure, workers')
    .option('--kinds <list>', 'such as run.*,task.failed; * is all')
    .option('--json', 'print each as a line of JSON')
    .action((options: WatchOptions, command: Command) => watchNotifications(options, contextOf(command)));
}

interface OneTaskOptions {
  json?: boolean;
  reason?: string;
}

function addCommandsOfOneTask(program: Command, contextOf: ProgramOptions['contextOf']): void {
  const add = (
    name: string,
    description: string,
    act: (id: string, options: OneTaskOptions, context: RunContext) => Promise<void>,
  ): Command =>
    program
      .command(`${name} <id>`)
      .description(description)
      .option('--json', 'print the answer as JSON')
      .action((id: string, options: OneTaskOptions, command: Command) => act(id, options, contextOf(command)));
  add('task', 'show a task, its attempts and its timeline', showTask);
  add('why', 'say why a task does not run yet', (id, options, context) => explainTask(id, options, context, systemClock));
  add('cancel', 'stop a task, and what it delegated', cancelTask).option('--reason <text>', 'kept with the task');
  add('retry', 'open a task again that failed for good, or end its wait for a retry', retryTask);
}
