import addCompletion from '@bomb.sh/tab/commander';
import type { Command } from 'commander';
import type { ContextOf } from './command-context.ts';
import { globalOptionsOf, MusterCommand } from './muster-command.ts';
import { addActionCommands } from './commands/actions.ts';
import { addAgentCommands } from './commands/agents.ts';
import { addAlertsCommand } from './commands/fleet/alerts.ts';
import { addAttentionCommand } from './commands/fleet/attention.ts';
import { addBudgetCommands } from './commands/money/budgets.ts';
import { addDaemonCommand } from './commands/daemon/daemon.ts';
import { addDaemonsCommands } from './commands/fleet/daemons.ts';
import { addDeliveryCommands } from './commands/deliveries.ts';
import { addDoctorCommand, type Doctor } from './commands/fleet/doctor.ts';
import { addEraseCommand } from './commands/tasks/erase.ts';
import { addFailureCommands } from './commands/failures.ts';
import { addFleetCommands } from './commands/fleet/fleet.ts';
import { addHookCommands } from './commands/hooks.ts';
import { addKeyCommands } from './commands/keys.ts';
import { addLimitCommands } from './commands/limits/limits.ts';
import { addOpenCommand } from './commands/open.ts';
import { addAuditCommand } from './commands/audit.ts';
import { addPeopleCommands } from './commands/people.ts';
import { addQuestionCommands } from './commands/tasks/questions.ts';
import { addMcpCommand } from './mcp/mcp-command.ts';
import { addRunCommands, type Run } from './run-commands.ts';
import { addQueueCommands } from './commands/fleet/queues.ts';
import { addScheduleCommands } from './commands/schedules/schedules.ts';
import { addSendCommand } from './commands/send.ts';
import { addSessionCommands } from './commands/sessions.ts';
import { addArtifactCommand } from './commands/tasks/artifacts.ts';
import { addEventCommand } from './commands/tasks/event.ts';
import { addTaskCommands } from './commands/tasks/tasks.ts';
import { addUsageCommand } from './commands/money/usage.ts';
import { addWatchCommand } from './commands/watch.ts';

export interface ProgramOptions {
  contextOf: ContextOf;
  /** Of this installation, such as `0.1.0`. */
  version: string;
  /** Checks this machine, and what the fleet says of itself. Resolves with the exit code. */
  doctor: Doctor;
  /** Runs the fleet, or a service of it. */
  run: Run;
  /** Where help and complaints about arguments go. */
  io: { stdout: { write(text: string): unknown }; stderr: { write(text: string): unknown } };
}

const EXAMPLES = `
Examples:
  npx muster send "Summarise the day" --agent assistant
  npx muster send "A slow one" --context paceMs=500
  git diff | npx muster send - --agent assistant --json
  npx muster tasks --status running
  npx muster schedule "every monday at 09:00" "Summarise the week" --agent assistant --tz Europe/Berlin
  npx muster schedule list

The beginning of a task's id is enough where no other task has it.

Exit codes: 0 done, 1 failed or cancelled, 2 not understood or not allowed, 3 no server answers, 130 Ctrl-C.`;

/** All commands with their arguments and options. */
export function createProgram({ contextOf, doctor, run, version, io }: ProgramOptions): Command {
  const program = new MusterCommand('muster')
    .configureOutput({ writeOut: (text) => void io.stdout.write(text), writeErr: (text) => void io.stderr.write(text) })
    .configureHelp({ showGlobalOptions: true, visibleGlobalOptions: globalOptionsOf })
    .description('Send work to the fleet, and see what becomes of it.')
    .version(version, '--version', 'print the version')
    .option('--url <address>', 'address of the API (default: MUSTER_URL, then the fleet of this machine)')
    .option('--key <key>', 'API key (default: MUSTER_API_KEY, then the key of the fleet of this machine)')
    .addHelpText('after', EXAMPLES);
  addSendCommand(program, contextOf);
  addTaskCommands(program, contextOf);
  addArtifactCommand(program, contextOf);
  addEventCommand(program, contextOf);
  addActionCommands(program, contextOf);
  addFailureCommands(program, contextOf);
  addUsageCommand(program, contextOf);
  addQuestionCommands(program, contextOf);
  addSessionCommands(program, contextOf);
  addEraseCommand(program, contextOf);
  addScheduleCommands(program, contextOf);
  addAgentCommands(program, contextOf);
  addHookCommands(program, contextOf);
  addQueueCommands(program, contextOf);
  addFleetCommands(program, contextOf);
  addAttentionCommand(program, contextOf);
  addAlertsCommand(program, contextOf);
  addDaemonCommand(program, contextOf);
  addDaemonsCommands(program, contextOf);
  addDeliveryCommands(program, contextOf);
  addKeyCommands(program, contextOf);
  addPeopleCommands(program, contextOf);
  addAuditCommand(program, contextOf);
  addLimitCommands(program, contextOf);
  addBudgetCommands(program, contextOf);
  addWatchCommand(program, contextOf);
  addMcpCommand(program, contextOf);
  addOpenCommand(program, contextOf);
  addDoctorCommand(program, contextOf, doctor);
  addRunCommands(program, run);
  // It reads the commands above. A shell asks for words by `muster complete -- <what is typed>`.
  addCompletion(program, { completionCommandName: 'completion' });
  return program;
}
