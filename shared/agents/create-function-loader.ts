import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type AgentFunction, describeImportFailure, importModule } from '../config/index.ts';
import { TaskFailure } from '../errors/index.ts';

/** Gives the `run` that a file exports; rejects with RESOURCE_NOT_FOUND when there is none to be had. */
export type FunctionLoader = (file: string) => Promise<AgentFunction>;

/** A loader that resolves files from `directory` and imports each of them once. */
export function createFunctionLoader(directory: string): FunctionLoader {
  const loaded = new Map<string, Promise<AgentFunction>>();
  return (file) => {
    const path = resolve(directory, file);
    const known = loaded.get(path);
    if (known !== undefined) return known;
    const loading = loadFunction(path);
    loaded.set(path, loading);
    return loading;
  };
}

async function loadFunction(path: string): Promise<AgentFunction> {
  if (!existsSync(path)) throw new TaskFailure('RESOURCE_NOT_FOUND', `there is no file at ${path}`);
  let run: unknown;
  try {
    ({ run } = await importModule(path));
  } catch (cause) {
    throw new TaskFailure('RESOURCE_NOT_FOUND', describeImportFailure(path, cause), { cause });
  }
  if (!isAgentFunction(run)) throw new TaskFailure('RESOURCE_NOT_FOUND', `${path} has no export "run" that is a function`);
  return run;
}

function isAgentFunction(value: unknown): value is AgentFunction {
  return typeof value === 'function';
}
