import { jsonSchema, streamText, tool, type ModelMessage, type TextStreamPart, type ToolChoice, type ToolSet } from 'ai';
import { type AgentContext, type FinishReason } from '../../config/index.ts';
import { TaskFailure } from '../../errors/index.ts';
import type { SdkModel } from '../../models/index.ts';
import { readFinishReason } from '../../providers/index.ts';
import type { ToolSpec } from './tool-spec.ts';

type Part = TextStreamPart<ToolSet>;
export type AssistantMessage = Extract<ModelMessage, { role: 'assistant' }>;
type AssistantPart = Exclude<AssistantMessage['content'], string>[number];

/** A model as the calls of one run use it. */
export interface CalledModel {
  readonly model: SdkModel;
  readonly signal: AbortSignal;
  /** Turns an error of the SDK into the failure of the attempt. */
  readonly failureOf: (error: unknown) => TaskFailure;
}

/** What one call of a model is made with. */
export interface ModelPrompt {
  readonly instructions: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ToolSpec[];
  /** Whether it may call them; else it has to answer. */
  readonly mayCall: boolean;
  /** The tool that it has to call; true for any. */
  readonly mustCall?: string | true | undefined;
  readonly temperature?: number | undefined;
  readonly maxOutputTokens?: number | undefined;
}

/** A call of a tool by a model. */
export interface ModelCall {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
  /** Why it cannot be done; null where it can. */
  readonly problem: string | null;
}

/** What one call of a model came to. All of it is JSON. */
export interface ModelStep {
  readonly text: string;
  readonly message: AssistantMessage;
  readonly calls: readonly ModelCall[];
  readonly finishReason: FinishReason;
  /** Whether any of it was reasoning. */
  readonly hasReasoned: boolean;
}

/**
 * Calls a model once. `write` gets the text as it comes. Nothing is done before the answer has ended: a tool that was begun by half an answer
 * would be done again for the whole. Fails with a `TaskFailure`, as `CalledModel` says, or the signal's reason.
 */
export async function callModel(
  called: CalledModel,
  prompt: ModelPrompt,
  context: Pick<AgentContext, 'signal' | 'progress' | 'log'>,
  write: (text: string) => void,
): Promise<ModelStep> {
  const reader = new StepReader(context, write);
  try {
    for await (const part of openStream(called, prompt)) {
      // Output that arrives after an abort is dropped.
      context.signal.throwIfAborted();
      if (part.type === 'error') throw part.error;
      reader.take(part);
    }
    context.signal.throwIfAborted();
  } catch (error) {
    if (context.signal.aborted) throw context.signal.reason;
    if (isViolation(error)) throw new TaskFailure('NO_ANSWER', prompt.mayCall ? NO_CALL : CALLS_TO_THE_END);
    throw called.failureOf(error);
  }
  return reader.end();
}

/** Of a model that calls tools until it may call no more, and then again. */
export const CALLS_TO_THE_END = 'The model called tools in each of its steps (maxSteps), and did not answer';

/** Of a model whose caller demands a call, and that answers otherwise. */
const NO_CALL = 'The model did not call the function that it had to call (tool_choice)';

const VIOLATION = 'AI_ToolChoiceViolationError';

/** The types of the SDK do not have its class. */
function isViolation(error: unknown): boolean {
  return error instanceof Error && error.name === VIOLATION;
}

function openStream({ model, signal }: CalledModel, prompt: ModelPrompt): AsyncIterable<Part> {
  const { instructions, messages, tools, temperature, maxOutputTokens } = prompt;
  return streamText({
    model,
    messages: [...messages],
    // The queue retries; a retry in here would redact a throttle from it.
    maxRetries: 0,
    abortSignal: signal,
    // Errors are read from the stream; by default they would be printed too.
    onError: () => undefined,
    ...(tools.length > 0 && { tools: toolSet(tools), toolChoice: choiceOf(prompt) }),
    ...(instructions !== '' && { instructions }),
    ...(temperature !== undefined && { temperature }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
  }).stream;
}

function choiceOf({ mayCall, mustCall }: ModelPrompt): ToolChoice<ToolSet> {
  if (!mayCall) return 'none';
  if (mustCall === undefined) return 'auto';
  return mustCall === true ? 'required' : { type: 'tool', toolName: mustCall };
}

/** Tools without what they do: that is done once the answer is kept. */
function toolSet(tools: readonly ToolSpec[]): ToolSet {
  return Object.fromEntries(tools.map(({ name, description, schema }) => [name, tool({ description, inputSchema: jsonSchema(schema) })]));
}

/** StepReader is responsible for what the stream of one call comes to. */
class StepReader {
  readonly #context: Pick<AgentContext, 'progress' | 'log'>;
  readonly #write: (text: string) => void;
  readonly #parts: AssistantPart[] = [];
  readonly #calls: ModelCall[] = [];
  #text = '';
  #finishReason: FinishReason = 'unknown';
  #hasReasoned = false;

  constructor(context: Pick<AgentContext, 'progress' | 'log'>, write: (text: string) => void) {
    this.#context = context;
    this.#write = write;
  }

  take(part: Part): void {
    if (part.type === 'text-delta') this.#takeText(part);
    else if (part.type === 'reasoning-start') {
      this.#hasReasoned = true;
      this.#context.progress('thinking');
    } else if (part.type === 'reasoning-delta') this.#append('reasoning', part);
    else if (part.type === 'tool-call') this.#takeCall(part);
    else if (part.type === 'finish') this.#finishReason = this.#readEnding(part);
  }

  end(): ModelStep {
    const message: AssistantMessage = { role: 'assistant', content: this.#parts };
    return { text: this.#text, message, calls: this.#calls, finishReason: this.#finishReason, hasReasoned: this.#hasReasoned };
  }

  #takeText(part: Extract<Part, { type: 'text-delta' }>): void {
    this.#text += part.text;
    this.#write(part.text);
    this.#append('text', part);
  }

  #append(
    type: 'text' | 'reasoning',
    { text, providerMetadata }: Pick<Extract<Part, { type: 'text-delta' }>, 'text' | 'providerMetadata'>,
  ): void {
    const last = this.#parts.at(-1);
    if (last?.type === type) last.text += text;
    else this.#parts.push({ type, text, ...(providerMetadata && { providerOptions: providerMetadata }) });
  }

  #takeCall(part: Extract<Part, { type: 'tool-call' }>): void {
    const { toolCallId, toolName, providerMetadata } = part;
    const input: unknown = part.input;
    const isInvalid = 'invalid' in part && part.invalid === true;
    const problem = isInvalid ? problemOf('error' in part ? part.error : undefined) : null;
    this.#parts.push({ type: 'tool-call', toolCallId, toolName, input, ...(providerMetadata && { providerOptions: providerMetadata }) });
    this.#calls.push({ id: toolCallId, name: toolName, input, problem });
  }

  #readEnding({ rawFinishReason, finishReason: unified }: Extract<Part, { type: 'finish' }>): FinishReason {
    // A refusal ends by `stop`, and the SDK knows better.
    const finishReason = unified === 'content-filter' ? 'content_filter' : readFinishReason(rawFinishReason);
    if (finishReason !== 'stop' && finishReason !== 'tool_calls')
      this.#context.log.warn({ finishReason: rawFinishReason ?? finishReason }, 'The model stopped early');
    return finishReason;
  }
}

function problemOf(error: unknown): string {
  return error instanceof Error ? error.message : 'it is no call of a tool that there is';
}

/** Fails an attempt whose model ended without any text, although it was cut, thought, or called a tool: nobody would see that from an empty output. */
export function assertAnswered({ text, finishReason, hasReasoned, calls }: ModelStep): void {
  if (text.trim() !== '') return;
  const details = { details: { finishReason } };
  if (finishReason === 'length')
    throw new TaskFailure('NO_ANSWER', 'The model used its bound of tokens up before it answered: raise "maxOutputTokens"', details);
  if (finishReason === 'content_filter') throw new TaskFailure('NO_ANSWER', 'A filter of the provider kept the answer back', details);
  if (finishReason === 'tool_calls' || calls.length > 0)
    throw new TaskFailure('PROVIDER_ERROR', 'The model called a tool that it was not given, and ended without an answer', details);
  if (hasReasoned) throw new TaskFailure('PROVIDER_ERROR', 'The model thought, and ended without an answer', details);
}
