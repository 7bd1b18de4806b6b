import type { Command } from 'commander';
import { systemClock } from '#shared/time/index.ts';
import { listSessions, type ListSessionsOptions } from './list-sessions.ts';
import type { RunContext } from './run-context.ts';
import { setSessionMode } from './set-session-mode.ts';
import { showSession } from './show-session.ts';
import { stopSession } from './stop-session.ts';

interface JsonOption {
  json?: boolean;
}

/** `muster sessions` and what is below it. */
export function addSessionCommands(program: Command, contextOf: (command: Command) => RunContext): void {
  const sessions = program
    .command('sessions [id]')
    .description('list sessions, or show one: what runs, what waits and why')
    .option('--active', 'only those in which something runs or waits')
    .option('--limit <count>', 'at most 200', '50')
    .option('--cursor <cursor>', 'go on where the last list ended')
    .option('--json', 'print the answer as JSON')
    .action((id: string | undefined, options: ListSessionsOptions, command: Command) =>
      id === undefined ? listSessions(options, contextOf(command), systemClock) : showSession(id, options, contextOf(command), systemClock),
    );
  sessions
    .command('show <id>')
    .description('show a session, whatever it is called')
    .option('--json', 'print the answer as JSON')
    .action((id: string, _options: JsonOption, command: Command) => showSession(id, jsonOf(command), contextOf(command), systemClock));
  sessions
    .command('stop <id>')
    .description('withdraw what waits, then stop what runs')
    .option('--json', 'print the answer as JSON')
    .action((id: string, _options: JsonOption, command: Command) => stopSession(id, jsonOf(command), contextOf(command)));
  sessions
    .command('mode <id> <mode>')
    .description('queue, interrupt, collect, steer, latest or reject; default or reset takes the choice back')
    .option('--json', 'print the answer as JSON')
    .action((id: string, mode: string, _options: JsonOption, command: Command) =>
      setSessionMode(id, mode, jsonOf(command), contextOf(command)),
    );
}

/** `--json` belongs to the list too, which takes it wherever it stands. */
function jsonOf(command: Command): JsonOption {
  return command.optsWithGlobals<JsonOption>();
}
