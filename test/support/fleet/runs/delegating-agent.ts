import { appendFileSync } from 'node:fs';
import { TaskFailure } from '#shared/errors/index.ts';
import type { AgentFunction, DelegateCall } from '#shared/config/index.ts';

/** Where each sub-task without sub-tasks of its own writes that it did its work, a line each, in the folder of the process. */
export const LEAVES = 'leaves.jsonl';

/** What the context of its task says. */
interface Given {
  /** The agents of the levels below it. */
  below?: string[];
  /** How many sub-tasks a task of each level has. */
  widths?: number[];
  /** How long the lowest level works, ms. */
  ms?: number;
  /** Inputs whose tasks fail. */
  fails?: string[];
  /** Whether sub-tasks are turns of its own session. */
  sharesSession?: boolean;
}

/** Gives its input to sub-tasks, as its context says, and answers what they answered. */
export const run: AgentFunction = async ({ input, session, context: given }, context) => {
  const { below: [agent = 'leaf', ...below] = [], widths: [width = 0, ...widths] = [], sharesSession } = given as Given;
  if (width === 0) return await work(input, given, context);
  const options = { context: { ...given, below, widths }, ...(sharesSession && session !== null && { session }) };
  const calls = Array.from({ length: width }, (_, at): DelegateCall => [agent, `${input}.${at}`, options]);
  if (width > 1) return { result: await context.delegateAll(calls) };
  return { result: [await context.delegate(agent, `${input}.0`, options)] };
};

async function work(input: string, { ms = 0, fails = [] }: Given, context: Parameters<AgentFunction>[1]): ReturnType<AgentFunction> {
  await new Promise((resolve) => setTimeout(resolve, ms));
  if (fails.includes(input)) throw new TaskFailure('RESOURCE_NOT_FOUND', `There is no ${input}`);
  await context.step('work', () => appendFileSync(LEAVES, `${input}\n`));
  return { output: `did ${input}`, result: { input } };
}
