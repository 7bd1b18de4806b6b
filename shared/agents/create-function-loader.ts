import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AgentFunction } from '../config/agent-function.ts';
import { TaskFailure } from '../errors/task-failure.ts';

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
  let module: { run?: unknown };
  try {
    module = await import(pathToFileURL(path).href);
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new TaskFailure('RESOURCE_NOT_FOUND', `${path} cannot be loaded: ${message}`, { cause });
  }
  if (!isAgentFunction(module.run)) throw new TaskFailure('RESOURCE_NOT_FOUND', `${path} has no export "run" that is a function`);
  return module.run;
}

function isAgentFunction(value: unknown): value is AgentFunction {
  return typeof value === 'function';
}
