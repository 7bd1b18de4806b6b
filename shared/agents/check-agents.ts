import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import type { AgentDefinition } from '../config/index.ts';
import { TaskFailure } from '../errors/index.ts';
import type { DefinitionOf } from './agent-definition-of.ts';
import { createFunctionLoader } from './create-function-loader.ts';
import { resolveOpenaiEndpoint, type OpenaiDefaults } from './resolve-openai-endpoint.ts';
import { signHttpTask } from './sign-http-task.ts';

export interface CheckAgentsOptions extends OpenaiDefaults {
  /** The folder that relative paths of the configuration start from. */
  readonly directory: string;
}

/**
 * What is wrong with the agents of the configuration on this machine, one line per problem and none when all can run:
 * a file that is missing, cannot be loaded or exports no `run`; a program that is not found; a model without an address or
 * key; a secret that cannot sign. Loads the files of `function` agents; asks no server.
 */
export async function checkAgents(agents: Readonly<Record<string, AgentDefinition>>, options: CheckAgentsOptions): Promise<string[]> {
  const checks = Object.entries(agents).map(async ([id, definition]) => {
    try {
      await checkAgent(definition, options);
      return [];
    } catch (error) {
      if (!(error instanceof TaskFailure)) throw error;
      return [`agents.${id}: ${error.message}`];
    }
  });
  return (await Promise.all(checks)).flat();
}

async function checkAgent(definition: AgentDefinition, options: CheckAgentsOptions): Promise<void> {
  switch (definition.kind) {
    case 'echo':
      return;
    case 'function':
      await checkFunction(definition, options.directory);
      return;
    case 'openai':
      resolveOpenaiEndpoint(definition, options, true);
      return;
    case 'http':
      if (definition.secret !== undefined) signHttpTask(definition.secret, { id: 'check', body: '', nowMs: 0 });
      return;
    case 'command':
      await checkCommand(definition, options);
  }
}

async function checkFunction({ file, run }: DefinitionOf<'function'>, directory: string): Promise<void> {
  if (run !== undefined) return;
  if (file === undefined) throw new TaskFailure('RESOURCE_NOT_FOUND', 'a function agent needs "file" or "run"');
  await createFunctionLoader(directory)(file);
}

async function checkCommand(
  { command, cwd = '.', env, passEnv }: DefinitionOf<'command'>,
  { directory, readSecret }: CheckAgentsOptions,
): Promise<void> {
  const folder = resolve(directory, cwd);
  if (!(await isFolder(folder))) throw new TaskFailure('RESOURCE_NOT_FOUND', `there is no folder at ${folder}`);
  const [program = ''] = command;
  const paths = env?.['PATH'] ?? readSecret('PATH') ?? '';
  if (!(await isProgram(program, folder, paths))) throw new TaskFailure('RESOURCE_NOT_FOUND', `the program "${program}" is not found`);
  const missing = (passEnv ?? []).filter((name) => readSecret(name) === undefined);
  if (missing.length > 0) throw new TaskFailure('RESOURCE_NOT_FOUND', `"passEnv" names variables that are not set: ${missing.join(', ')}`);
}

async function isFolder(path: string): Promise<boolean> {
  return await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

/** As the system looks for it: a name without a slash on the path, anything else from the folder. */
async function isProgram(program: string, folder: string, paths: string): Promise<boolean> {
  const hasSlash = program.includes('/') || isAbsolute(program);
  const candidates = hasSlash ? [resolve(folder, program)] : paths.split(delimiter).map((path) => join(path, program));
  const found = await Promise.all(
    candidates.map(async (path) => {
      const file = await stat(path).catch(() => undefined);
      if (file?.isFile() !== true) return false;
      return await access(path, constants.X_OK).then(
        () => true,
        () => false,
      );
    }),
  );
  return found.includes(true);
}
