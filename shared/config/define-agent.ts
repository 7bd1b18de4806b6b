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

/** What a tool gets besides its input. */
export type ToolContext = Pick<AgentContext, 'task' | 'signal' | 'log' | 'trace' | 'once' | 'progress' | 'attach' | 'model'>;

/** Something that a model may do: it reads the description and the schema, and decides when to call it, and with what. */
export interface ToolOptions<Sent, Given> {
  /** What it does and when to use it, for the model. */
  description: string;
  /** Checks what a model calls it with; a model is told what does not fit. */
  input: AgentSchema<Sent, Given>;
  /**
   * Does it. What it returns is given to the model, as JSON unless it is a text, and kept in the run's journal: a later attempt gets it without
   * calling the tool again. An error that it throws is told to the model; a `TaskFailure` ends the attempt by its code. `context.once` gives a key
   * that is the same should the attempt die within it.
   */
  run: (input: Given, context: ToolContext) => unknown;
  /** Whether a person has to approve a call before it is done. Defaults to `never`. */
  approve?: 'always' | 'never' | ((input: Given) => boolean);
}

/** A tool, whatever its schema makes of its input. */
export interface Tool extends Pick<ToolOptions<unknown, never>, 'description' | 'run' | 'approve'> {
  input: AgentSchema;
}

/** Types a tool of `tools` in the configuration: its schema says what `run` is given. */
export function defineTool<Sent, Given>(options: ToolOptions<Sent, Given>): ToolOptions<Sent, Given> {
  return options;
}

/** What a model works with within a function. */
export interface AgentLoopOptions {
  readonly instructions?: string;
  /** What it is asked to do. Defaults to the input of the task. */
  readonly input?: string;
  /** Names of `tools` of the configuration, or tools by name. */
  readonly tools?: readonly string[] | Readonly<Record<string, Tool>>;
  /** Names of `mcp` of the configuration. */
  readonly mcp?: readonly string[];
  /** Names of agents that it may give sub-tasks to. */
  readonly delegates?: readonly string[];
  /** Defaults to `OPENAI_MODEL`. */
  readonly model?: string;
  /** Calls of the model at most; the last one is given no tools. Defaults to 25. */
  readonly maxSteps?: number;
  /** Whether what it says is written to the output as it comes. Defaults to false. */
  readonly stream?: boolean;
  readonly temperature?: number;
  readonly maxOutputTokens?: number;
}

/** One turn of a session: what people said and what the agent answered. */
export interface AgentTurn {
  readonly taskId: string;
  readonly input: string;
  readonly output: string;
  /** The messages that it is of, where it is more than these two: calls of functions, and what they gave. */
  readonly messages?: readonly AgentMessage[];
}

/** A message of a conversation, as a model said or was given it. `arguments` is JSON. */
export type AgentMessage =
  | { readonly role: 'user'; readonly text: string }
  | {
      readonly role: 'assistant';
      readonly text: string;
      readonly calls?: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
    }
  | { readonly role: 'tool'; readonly callId: string; readonly text: string };
