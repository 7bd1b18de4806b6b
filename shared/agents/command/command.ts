import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type AgentResult, commandSettingsSchema } from '../../config/index.ts';
import { TaskFailure } from '../../errors/index.ts';
import { programAccount, type ProviderAccount } from '../../providers/index.ts';
import type { AgentEnvironment, AgentRun, AgentRunnersOptions, DefinitionOf, KindOfAgent } from '../agent-kind.ts';
import { secretValues } from '../redactor.ts';
import { trackCommands } from './processes/attempt-processes.ts';
import { openCgroups } from './processes/cgroup.ts';
import { commandOf, presetOf, sandboxOf } from './start/command-line.ts';
import { folderOfRepository } from './kept/workspace.ts';
import { findProgramProblem } from './start/program-file.ts';
import { runCommand } from './run-command.ts';
import { readVariables } from './start/command-environment.ts';
import type { CommandOptions, CommandRun } from './command-run.ts';
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
export function openCommandRunner(options: CommandRunnerOptions): (run: CommandRun) => Promise<AgentResult> {
  const optionsFor = commandOptions(options);
  return (run) => runCommand(run, optionsFor(run.definition));
}

/** What programs of one process run with, each with the variables that its definition names. */
export function commandOptions({
  directory,
  readSecret,
  fleetId,
  commands: settings = commandSettingsSchema.parse({}),
  onTurn,
}: CommandRunnerOptions): (definition: DefinitionOf<'command'>) => CommandOptions {
  const cgroups = openCgroups(settings.cgroup);
  const users = commandUsers(settings);
  const turn = isUserShared(users) && !settings.sharedUser ? new TenantTurn(settings.folder, onTurn) : null;
  const running = trackCommands(settings.pollMs);
  const options = { directory, settings, fleetId, cgroups, running, users: openUserSource(users), turn };
  return (definition) => ({ ...options, variables: readVariables(definition, readSecret) });
}

/** Throws a `TaskFailure` when a command of this definition could not run on this machine. */
export async function checkCommand(definition: DefinitionOf<'command'>, environment: CommandEnvironment): Promise<void> {
  const { directory, readSecret } = environment;
  const folder = resolve(directory, definition.cwd ?? '.');
  if (!(await isFolder(folder))) throw new TaskFailure('RESOURCE_NOT_FOUND', `there is no folder at ${folder}`);
  const source = sourceOf(definition, directory);
  if (source !== null && !(await isFolder(source)))
    throw new TaskFailure('RESOURCE_NOT_FOUND', `there is no folder at ${source} for the workspace`);
  await checkProgram(definition, folder, environment);
  const missing = (definition.passEnv ?? []).filter((name) => readSecret(name) === undefined);
  if (missing.length > 0) throw new TaskFailure('RESOURCE_NOT_FOUND', `"passEnv" names variables that are not set: ${missing.join(', ')}`);
}

/** The folder of this machine that a workspace begins with, if any. */
function sourceOf({ workspace }: DefinitionOf<'command'>, directory: string): string | null {
  if (workspace === undefined || 'keep' in workspace) return null;
  return 'path' in workspace ? resolve(directory, workspace.path) : folderOfRepository(workspace.git, directory);
}

async function checkProgram(
  definition: DefinitionOf<'command'>,
  folder: string,
  { readSecret, sandbox = [] }: CommandEnvironment,
): Promise<void> {
  const paths = definition.env?.['PATH'] ?? readSecret('PATH') ?? '';
  for (const program of programsOf(definition, sandboxOf(definition, { sandbox }))) {
    if ((await findProgramProblem(program, folder, paths)) === null) continue;
    throw new TaskFailure('RESOURCE_NOT_FOUND', `the program "${program}" is not found`);
  }
}

/** In a sandbox programs may be another machine's, as a container's are. */
function programsOf(definition: DefinitionOf<'command'>, [sandbox]: readonly string[]): string[] {
  if (sandbox !== undefined) return [sandbox];
  const isCheckout = definition.workspace !== undefined && 'git' in definition.workspace;
  return [commandOf(definition).program, ...(isCheckout ? ['git'] : [])];
}

async function isFolder(path: string): Promise<boolean> {
  return await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
