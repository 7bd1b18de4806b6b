import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type AgentResult, commandSettingsSchema } from '../../config/index.ts';
import { TaskFailure } from '../../errors/index.ts';
import { programAccount, type ProviderAccount } from '../../providers/index.ts';
import type { AgentEnvironment, AgentRun, AgentRunnersOptions, DefinitionOf, KindOfAgent } from '../agent-kind.ts';
import { secretValues } from '../redactor.ts';
import { trackCommands } from './processes/attempt-processes.ts';
import { openCgroups } from './processes/cgroup.ts';
import { commandOf, presetOf, sandboxOf } from './command-line.ts';
import { findProgramProblem } from './program-file.ts';
import { runCommand } from './run-command.ts';
import { readVariables } from './command-environment.ts';
import type { CommandRun } from './command-run.ts';
import { openUserSource } from './users/attempt-users.ts';
import { commandUsers, isUserShared } from './users/command-user.ts';
import { TenantTurn } from './users/tenant-turn.ts';

type CommandEnvironment = Pick<AgentEnvironment, 'directory' | 'readSecret' | 'sandbox'>;
type CommandRunnerOptions = CommandEnvironment & Pick<AgentRunnersOptions, 'fleetId' | 'commands' | 'onTurn'>;

/** Agents that are programs: the prompt on their stdin, their stdout is the output. */
export const command: KindOfAgent<DefinitionOf<'command'>> = {
  openRunner: (options) => {
    const runProgram = openCommandRunner(options);
    return (run) =>
      run.account === undefined
        ? runProgram(run)
        : run.account.run(accountOfProgram(run, options.readSecret), (onProvider) => runProgram({ ...run, onProvider }));
  },
  check: checkCommand,
  secretsOf: ({ passEnv = [], env }, readVariable) => {
    const passed = Object.fromEntries(passEnv.map((name) => [name, readVariable(name)]));
    return secretValues({ ...passed, ...env });
  },
};

/** Whose limits the program meets: those of what a known one signs in with, else of the agent. */
function accountOfProgram(
  { task, definition, isOperators }: AgentRun<DefinitionOf<'command'>>,
  readSecret: AgentEnvironment['readSecret'],
): ProviderAccount {
  const { preset: program } = definition;
  const variables: Readonly<Record<string, string>> = { ...readVariables(definition, readSecret), ...definition.env };
  const secrets = (presetOf(definition)?.signIn ?? []).flatMap((name) => variables[name] ?? []);
  const signIn = program === undefined ? undefined : { program, secrets };
  return programAccount({ agent: task.agent, tenant: task.tenant, isOperators, signIn });
}

/** Makes the runner of commands of one process, which needs nothing else of a fleet. */
export function openCommandRunner({
  directory,
  readSecret,
  fleetId,
  commands: settings = commandSettingsSchema.parse({}),
  onTurn,
}: CommandRunnerOptions): (run: CommandRun) => Promise<AgentResult> {
  const cgroups = openCgroups(settings.cgroup);
  const users = commandUsers(settings);
  const turn = isUserShared(users) && !settings.sharedUser ? new TenantTurn(settings.folder, onTurn) : null;
  const running = trackCommands(settings.pollMs);
  const options = { directory, settings, fleetId, cgroups, running, users: openUserSource(users), turn };
  return (run) => runCommand(run, { ...options, variables: readVariables(run.definition, readSecret) });
}

/** Throws a `TaskFailure` when a command of this definition could not run on this machine. */
export async function checkCommand(definition: DefinitionOf<'command'>, environment: CommandEnvironment): Promise<void> {
  const { directory, readSecret } = environment;
  const folder = resolve(directory, definition.cwd ?? '.');
  if (!(await isFolder(folder))) throw new TaskFailure('RESOURCE_NOT_FOUND', `there is no folder at ${folder}`);
  await checkProgram(definition, folder, environment);
  const missing = (definition.passEnv ?? []).filter((name) => readSecret(name) === undefined);
  if (missing.length > 0) throw new TaskFailure('RESOURCE_NOT_FOUND', `"passEnv" names variables that are not set: ${missing.join(', ')}`);
}

async function checkProgram(
  definition: DefinitionOf<'command'>,
  folder: string,
  { readSecret, sandbox = [] }: CommandEnvironment,
): Promise<void> {
  // In a sandbox the program may be another machine's, as a container's is.
  const [program = commandOf(definition).program] = sandboxOf(definition, { sandbox });
  const paths = definition.env?.['PATH'] ?? readSecret('PATH') ?? '';
  if ((await findProgramProblem(program, folder, paths)) === null) return;
  throw new TaskFailure('RESOURCE_NOT_FOUND', `the program "${program}" is not found`);
}

async function isFolder(path: string): Promise<boolean> {
  return await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
