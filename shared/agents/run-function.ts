import { inspect } from 'node:util';
import type { AgentContext, AgentFunction, AgentResult } from '../config/index.ts';
import { TaskFailure } from '../errors/index.ts';
import type { DefinitionOf } from './agent-definition-of.ts';
import type { AgentRun } from './agent-runner.ts';
import type { FunctionLoader } from './create-function-loader.ts';
import { readAgentAnswer } from './read-agent-answer.ts';
import { runWithStrayHandler } from './stray-errors.ts';

/**
 * Runs a function of the operator's own. What it throws becomes AGENT_ERROR (transient) unless it is a `TaskFailure`;
 * a file that is missing or exports no `run` is RESOURCE_NOT_FOUND.
 * So does an error that it lets go unheard while it runs; one that comes later is logged.
 * After an abort the answer is no longer waited for: a function that ignores its signal cannot keep the slot.
 */
export async function runFunction(
  { task, definition, context, untilStopped, diagnose }: AgentRun<DefinitionOf<'function'>>,
  load: FunctionLoader,
): Promise<AgentResult> {
  const run = definition.run ?? (await untilStopped(loadFile(definition.file, load)));
  try {
    return readAnswer(await untilStopped(catchStray(context, () => Promise.try(run, task, context))));
  } catch (error) {
    if (context.signal.aborted) throw context.signal.reason;
    diagnose({ stack: stackOf(error) });
    throw error instanceof TaskFailure
      ? error
      : new TaskFailure('AGENT_ERROR', error instanceof Error ? error.message : String(error), { cause: error });
  }
}

/** An error may be caused by itself. */
const MAX_CAUSES = 5;

/** Where it was thrown, and what caused it; for what is no error, what that is. */
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

/** Settles like the run, or rejects with the first error that it lets go unheard. */
function catchStray<T>({ log }: AgentContext, run: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const onStray = (error: unknown): void => {
      log.error({ event: 'agent.stray-error', err: error }, 'the agent let an error go unheard');
      reject(error);
    };
    runWithStrayHandler(onStray, run).then(resolve, reject);
  });
}

async function loadFile(file: string | undefined, load: FunctionLoader): Promise<AgentFunction> {
  if (file === undefined) throw new TaskFailure('RESOURCE_NOT_FOUND', 'The agent has neither "run" nor "file"');
  return await load(file);
}

function readAnswer(answer: unknown): AgentResult {
  if (answer === undefined || answer === null) return {};
  if (typeof answer === 'string') return { output: answer };
  const { result, ...rest } = readAgentAnswer(answer);
  // What is not JSON (a cycle, a BigInt) must fail here, as the attempt's own fault, and not where it is recorded.
  return result === undefined ? rest : { ...rest, result: JSON.parse(JSON.stringify(result) ?? 'null') as unknown };
}
