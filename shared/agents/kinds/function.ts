import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { inspect } from 'node:util';
import { AISDKError, UnsupportedModelVersionError } from 'ai';
import {
  type AgentContext,
  type AgentFunction,
  type AgentResult,
  describeImportFailure,
  excerptOf,
  importModule,
  isMissingModule,
} from '../../config/index.ts';
import { TaskFailure } from '../../errors/index.ts';
import type { AgentRun, DefinitionOf, KindOfAgent } from '../agent-kind.ts';
import { answerIn, type AttemptModels } from '../../models/index.ts';
import { jsonValue } from '../../text/index.ts';
import { type Clock, systemClock } from '../../time/index.ts';
import { failureFromModelAnswer, listCauses } from '../network-failures.ts';
import { readAgentAnswer } from '../read-agent-answer.ts';
import { AsyncLocalStorage } from 'node:async_hooks';

/** Agents that are functions of the operator's own, in a file or in the configuration itself. */
export const functionKind: KindOfAgent<DefinitionOf<'function'>> = {
  openRunner: ({ directory, showsCode = false, clock = systemClock }) => {
    const load = createFunctionLoader(directory);
    return (run) => runFunction(run, load, { showsCode, clock });
  },
  check: async ({ file, run }, { directory }) => {
    if (run === undefined) await loadFile(file, createFunctionLoader(directory));
  },
  secretsOf: () => [],
};

/**
 * Runs a function of the operator's own. What it throws becomes AGENT_ERROR (transient) unless it is a `TaskFailure` or a provider's refusal in an error of an SDK; a file that is
 * missing or exports no `run` is RESOURCE_NOT_FOUND. An error that it leaves unhandled while it runs is AGENT_ERROR too; a later one is
 * logged. An abort ends the wait for the answer: a function that ignores its signal cannot keep the slot.
 */
export async function runFunction(
  { task, definition, context, models, untilStopped, diagnose }: AgentRun<DefinitionOf<'function'>>,
  load: FunctionLoader,
  { showsCode = false, clock = systemClock }: { showsCode?: boolean; clock?: Clock } = {},
): Promise<AgentResult> {
  const run = definition.run ?? (await untilStopped(loadFile(definition.file, load)));
  try {
    return readAnswer(await untilStopped(catchStray(context, () => Promise.try(run, task, context))));
  } catch (error) {
    if (context.signal.aborted) throw context.signal.reason;
    const stack = stackOf(error);
    const sourceCode = showsCode ? excerptOf(stack) : null;
    diagnose({ stack, ...(sourceCode !== null && { sourceCode }) });
    throw failureOf(error, models, clock.now());
  }
}

/** The SDK hides why a model failed behind errors of its own. */
function failureOf(error: unknown, { failure }: AttemptModels, nowMs: number): TaskFailure {
  const named = listCauses(error).find((cause) => cause instanceof TaskFailure);
  if (named !== undefined) return named;
  if (failure !== undefined && AISDKError.isInstance(error)) return failure;
  // A model that it called by an SDK of its own refused.
  const answer = listCauses(error)
    .map(answerIn)
    .find((each) => each !== null);
  if (answer) return failureFromModelAnswer(answer, nowMs);
  if (lacksPackage(error)) return new TaskFailure('RESOURCE_NOT_FOUND', error.message, { cause: error });
  return new TaskFailure('AGENT_ERROR', error instanceof Error ? error.message : String(error), { cause: error });
}

/** A module that is not there, or an AI SDK of another major version than the fleet's models: no later attempt has another one. */
function lacksPackage(error: unknown): error is Error {
  return UnsupportedModelVersionError.isInstance(error) || isMissingModule(error);
}

/** An error may be caused by itself. */
const MAX_CAUSES = 5;

/** Where an error was thrown, and what caused it; of a thrown value that is no error, a description. */
function stackOf(error: unknown): string {
  const stacks: string[] = [];
  let cause = error;
  while (cause instanceof Error && stacks.length < MAX_CAUSES) {
    stacks.push(cause.stack ?? cause.message);
    cause = cause.cause;
  }
  if (stacks.length === 0) return `Thrown: ${inspect(error, { depth: 1 })}`;
  return stacks.join('\nCaused by: ');
}

/** Settles like the run, or rejects with the first error that it leaves unhandled. */
async function catchStray<T>(context: AgentContext, run: () => Promise<T>): Promise<T> {
  const stray = Promise.withResolvers<never>();
  const onStray = (error: unknown): void => {
    context.log.error({ event: 'agent.stray-error', err: error }, 'the agent left an error unhandled');
    stray.reject(error);
  };
  return await Promise.race([runWithStrayHandler(onStray, run), stray.promise]);
}

async function loadFile(file: string | undefined, load: FunctionLoader): Promise<AgentFunction> {
  if (file === undefined) throw new TaskFailure('RESOURCE_NOT_FOUND', 'a function agent needs "file" or "run"');
  return await load(file);
}

function readAnswer(answer: unknown): AgentResult {
  if (answer === undefined || answer === null) return {};
  if (typeof answer === 'string') return { output: answer };
  const { result, ...rest } = readAgentAnswer(answer);
  // What is not JSON (a cycle, a BigInt, an endless number) must fail here, as the attempt's own fault, and not where it is recorded.
  return result === undefined ? rest : { ...rest, result: jsonValue(result) };
}

/** Returns the `run` that a file exports; rejects with RESOURCE_NOT_FOUND when there is none. */
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

/** One per process, because unhandled errors of all its code arrive in one place. */
const owners = new AsyncLocalStorage<(error: unknown) => void>();

/**
 * Runs foreign code. Its unhandled errors (a floating promise, a throw in a timer), now or later, go to `onStray` instead of ending the
 * process.
 */
export function runWithStrayHandler<T>(onStray: (error: unknown) => void, run: () => T): T {
  return owners.run(onStray, run);
}

/** Passes an unhandled error to `onStray` of the code that caused it. Returns whether there is such code. For the process's handlers. */
export function handleStray(error: unknown): boolean {
  const owner = owners.getStore();
  owner?.(error);
  return owner !== undefined;
}
