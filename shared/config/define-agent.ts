import { TaskFailure } from '../errors/index.ts';
import { type AgentSchema, checkText, checkValue, sentenceOf } from '../text/index.ts';
import type { FunctionAgentSettings } from './agent-definitions.ts';
import type { AgentContext, AgentFunction } from './define-config.ts';

/**
 * What `defineAgent` takes: what any agent of the configuration may say, and what this one is given, does and answers. Its schemas turn what is
 * sent to it into what `run` is given, and what that returns into the result.
 */
export interface AgentOptions<Sent, Given, Returned, Result, Answer> extends FunctionAgentSettings {
  /** The same as in `agents` of the configuration. */
  name: string;
  /** Checks what its tasks are given before they are accepted. Defaults to their text as it is. */
  input?: AgentSchema<Sent, Given>;
  /** Checks what `run` returns before its task completes. Defaults to any JSON. */
  output?: AgentSchema<Returned, Result>;
  /** Runs one attempt. What it returns is the task's `result`; a text that it returns is its output too, where it wrote none. */
  run: (input: NoInfer<Given>, context: AgentContext) => Promise<Answer> | Answer;
}

/** What may be returned for a type. The compiler takes literals for what they are where they may not be changed. */
type Returnable<Type> = unknown extends Type
  ? unknown
  : Type extends Date | ((...args: never) => unknown)
    ? Type
    : { readonly [Name in keyof Type]: Returnable<Type[Name]> };

/** An agent made by `defineAgent`. `~types` is for the compiler alone: what its tasks are given, and what they result in. */
export interface DefinedAgent<Input = unknown, Result = unknown> extends FunctionAgentSettings {
  readonly kind: 'function';
  readonly name: string;
  readonly input?: AgentSchema<Input, unknown>;
  readonly output?: AgentSchema;
  readonly run: AgentFunction;
  readonly '~types'?: { readonly input: Input; readonly result: Result };
}

/**
 * Makes an agent for `agents` of the configuration whose input and result have types. Its input is JSON of `POST /v1/tasks`, refused there with
 * `request.invalid` where it does not fit; a text that holds JSON fits too, as a chat or a schedule sends it.
 */
export function defineAgent<
  Sent = string,
  Given = string,
  Returned = unknown,
  Result = unknown,
  const Answer extends Returnable<Returned> = Returnable<Returned>,
>(options: AgentOptions<Sent, Given, Returned, Result, Answer>): DefinedAgent<Sent, unknown extends Result ? Answer : Result> {
  const { input, output, run, ...settings } = options;
  return {
    ...settings,
    kind: 'function',
    ...(input && { input }),
    ...(output && { output }),
    run: async (task, context) => {
      const given = input === undefined ? task.input : readInput(input, task.input);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- without a schema it is a text, else what the schema made of it
      const returned = await run(given as Given, context);
      return { result: output === undefined ? returned : checkResult(output, returned) };
    },
  };
}

/** The task was checked when it was accepted, but maybe by a schema of another release. Throws INVALID_INPUT. */
function readInput(schema: AgentSchema, text: string): unknown {
  const read = checkText(schema, text);
  if (read.problems === undefined) return read.value;
  throw new TaskFailure('INVALID_INPUT', `The input does not fit its schema: ${sentenceOf('input', read.problems)}`, {
    details: { problems: read.problems },
  });
}

/** Throws INVALID_OUTPUT. */
function checkResult(schema: AgentSchema, returned: unknown): unknown {
  const checked = checkValue(schema, returned);
  if (checked.problems === undefined) return checked.value;
  throw new TaskFailure('INVALID_OUTPUT', `What run returned does not fit its schema: ${sentenceOf('output', checked.problems)}`, {
    details: { problems: checked.problems },
  });
}
