import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { type AgentResult, commandSettingsSchema } from '../../config/index.ts';
import { TaskFailure } from '../../errors/index.ts';
import type { AgentEnvironment, AgentRunnersOptions, DefinitionOf, KindOfAgent } from '../agent-kind.ts';
import { secretValues } from '../redactor.ts';
import { trackCommands } from './attempt-processes.ts';
import { commandOf } from './command-line.ts';
import { runCommand } from './run-command.ts';
import { type CommandRun, commandUser, readVariables } from './start-command.ts';

type CommandEnvironment = Pick<AgentEnvironment, 'directory' | 'readSecret'>;
type CommandRunnerOptions = CommandEnvironment & Pick<AgentRunnersOptions, 'fleetId' | 'commands'>;

/** Agents that are programs: the prompt on their stdin, their stdout is the output. */
export const command: KindOfAgent<DefinitionOf<'command'>> = {
  openRunner: openCommandRunner,
  check: checkCommand,
  secretsOf: ({ passEnv = [], env }, readVariable) => {
    const passed = Object.fromEntries(passEnv.map((name) => [name, readVariable(name)]));
    return secretValues({ ...passed, ...env });
  },
};

/** Makes the runner of commands of one process, which needs nothing else of a fleet. */
export function openCommandRunner({
  directory,
  readSecret,
  fleetId,
  commands: settings = commandSettingsSchema.parse({}),
}: CommandRunnerOptions): (run: CommandRun) => Promise<AgentResult> {
  const options = { directory, settings, fleetId, running: trackCommands(settings.pollMs), user: commandUser(settings) };
  return (run) => runCommand(run, { ...options, variables: readVariables(run.definition, readSecret) });
}

/** Throws a `TaskFailure` when a command of this definition could not run on this machine. */
export async function checkCommand(definition: DefinitionOf<'command'>, { directory, readSecret }: CommandEnvironment): Promise<void> {
  const { cwd = '.', env, passEnv = [] } = definition;
  const { program } = commandOf(definition);
  const folder = resolve(directory, cwd);
  if (!(await isFolder(folder))) throw new TaskFailure('RESOURCE_NOT_FOUND', `there is no folder at ${folder}`);
  const paths = env?.['PATH'] ?? readSecret('PATH') ?? '';
  if (!(await isProgram(program, folder, paths))) throw new TaskFailure('RESOURCE_NOT_FOUND', `the program "${program}" is not found`);
  const missing = passEnv.filter((name) => readSecret(name) === undefined);
  if (missing.length > 0) throw new TaskFailure('RESOURCE_NOT_FOUND', `"passEnv" names variables that are not set: ${missing.join(', ')}`);
}

async function isFolder(path: string): Promise<boolean> {
  return await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

/** As the system searches for it: a name without a slash on the path, anything else from the folder. */
async function isProgram(program: string, folder: string, paths: string): Promise<boolean> {
  const hasSlash = program.includes('/') || isAbsolute(program);
  const candidates = hasSlash ? [resolve(folder, program)] : paths.split(delimiter).map((path) => join(path, program));
  const found = await Promise.all(candidates.map((path) => isExecutableFile(path)));
  return found.includes(true);
}

async function isExecutableFile(path: string): Promise<boolean> {
  try {
    if (!(await stat(path)).isFile()) return false;
    await access(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
