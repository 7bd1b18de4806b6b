import type { AgentModel, AgentUsage } from '../../config/index.ts';

/** A message, as the AI SDK hands it to a model. */
export interface ModelMessage {
  readonly role: string;
  readonly content: string | readonly { readonly type: string; readonly text?: string }[];
}

/** What a model is asked. */
export interface ModelCall {
  /** The last message of the user. */
  readonly prompt: string;
  /** Its instructions; an empty text for none. */
  readonly system: string;
  /** All messages, as the AI SDK hands them to a model. */
  readonly messages: readonly ModelMessage[];
  /** Names of the tools that it may call. */
  readonly tools: readonly string[];
}

/** What a model answers: a text, or more than that. */
export type ModelAnswer =
  | string
  | {
      text?: string;
      toolCalls?: readonly { name: string; input: unknown }[];
      /** Defaults to none. */
      usage?: Pick<AgentUsage, 'inputTokens' | 'outputTokens'>;
      /** Defaults to `tool-calls` with tool calls, else `stop`. */
      finishReason?: 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error';
    };

/** A model of a test: a model of the AI SDK, such as its `MockLanguageModelV4`, or a function that answers. What it throws fails the call. */
export type FakeModel = AgentModel | ((call: ModelCall) => ModelAnswer | Promise<ModelAnswer>);

/** What a fake model reads of a call. It answers by the AI SDK's own specification, whose types a project without the SDK does not have. */
interface CallOptions {
  readonly prompt: readonly ModelMessage[];
  readonly tools?: readonly { readonly name: string }[] | undefined;
  readonly abortSignal?: AbortSignal | undefined;
}

interface Tokens {
  readonly total: number | undefined;
  readonly [kind: string]: number | undefined;
}

type Part =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool-call'; readonly toolCallId: string; readonly toolName: string; readonly input: string };

interface Generated {
  readonly content: readonly Part[];
  readonly finishReason: { readonly unified: string; readonly raw: string };
  readonly usage: { readonly inputTokens: Tokens; readonly outputTokens: Tokens };
  readonly warnings: readonly unknown[];
}

type StreamPart =
  | Part
  | { readonly type: 'stream-start'; readonly warnings: readonly unknown[] }
  | { readonly type: 'text-start' | 'text-end'; readonly id: string }
  | { readonly type: 'text-delta'; readonly id: string; readonly delta: string }
  | ({ readonly type: 'finish' } & Pick<Generated, 'finishReason' | 'usage'>);

/** The SDK's interface of a model, as far as it is used here. */
interface SdkModel {
  readonly specificationVersion: 'v4';
  readonly provider: string;
  readonly modelId: string;
  readonly supportedUrls: object;
  doGenerate(options: CallOptions): PromiseLike<Generated>;
  doStream(options: CallOptions): PromiseLike<{ readonly stream: ReadableStream<StreamPart> }>;
}

/** The model under this name, whose calls add to what the run used. */
export function openFakeModel(name: string, fake: FakeModel, onUsage: (used: AgentUsage) => void): AgentModel {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the SDK's model, by the interface above
  const model = typeof fake === 'function' ? answering(name, fake) : (fake as unknown as SdkModel);
  const count = ({ usage }: Pick<Generated, 'usage'>): void => {
    onUsage({ inputTokens: usage.inputTokens.total ?? 0, outputTokens: usage.outputTokens.total ?? 0, model: name });
  };
  const counted: SdkModel = {
    specificationVersion: model.specificationVersion,
    provider: model.provider,
    modelId: model.modelId,
    supportedUrls: model.supportedUrls,
    doGenerate: async (options) => {
      const generated = await model.doGenerate(options);
      count(generated);
      return generated;
    },
    doStream: async (options) => {
      const streamed = await model.doStream(options);
      return { ...streamed, stream: streamed.stream.pipeThrough(countingStream(count)) };
    },
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return counted as unknown as AgentModel;
}

function countingStream(count: (part: Pick<Generated, 'usage'>) => void): TransformStream<StreamPart, StreamPart> {
  return new TransformStream({
    transform: (part, controller) => {
      if (part.type === 'finish') count(part);
      controller.enqueue(part);
    },
  });
}

/** A model that a function answers for. */
function answering(name: string, answer: (call: ModelCall) => ModelAnswer | Promise<ModelAnswer>): SdkModel {
  let calls = 0;
  const generate = async (options: CallOptions): Promise<Generated> => {
    options.abortSignal?.throwIfAborted();
    calls += 1;
    return generatedOf(await answer(callOf(options)), calls);
  };
  return {
    specificationVersion: 'v4',
    provider: 'test',
    modelId: name,
    // Nothing that the test gives as an address is fetched.
    supportedUrls: { '*/*': [/.*/] },
    doGenerate: generate,
    doStream: async (options) => ({ stream: streamOf(await generate(options)) }),
  };
}

function callOf({ prompt: messages, tools = [] }: CallOptions): ModelCall {
  const system = messages.filter(({ role }) => role === 'system').map(textOf);
  const last = messages.findLast(({ role }) => role === 'user');
  return { prompt: last === undefined ? '' : textOf(last), system: system.join('\n'), messages, tools: tools.map(({ name }) => name) };
}

function textOf({ content }: ModelMessage): string {
  return typeof content === 'string' ? content : content.flatMap(({ text }) => text ?? []).join('\n');
}

function generatedOf(answer: ModelAnswer, call: number): Generated {
  const { text, toolCalls = [], usage, finishReason } = typeof answer === 'string' ? { text: answer } : answer;
  const content: Part[] = text === undefined ? [] : [{ type: 'text', text }];
  for (const [at, { name, input }] of toolCalls.entries())
    content.push({ type: 'tool-call', toolCallId: `call-${call}-${at + 1}`, toolName: name, input: JSON.stringify(input) });
  const unified = finishReason ?? (toolCalls.length > 0 ? 'tool-calls' : 'stop');
  return { content, finishReason: { unified, raw: unified }, usage: usageOf(usage), warnings: [] };
}

function usageOf(
  { inputTokens, outputTokens }: Pick<AgentUsage, 'inputTokens' | 'outputTokens'> = { inputTokens: 0, outputTokens: 0 },
): Generated['usage'] {
  return {
    inputTokens: { total: inputTokens, noCache: inputTokens, cacheRead: 0, cacheWrite: undefined },
    outputTokens: { total: outputTokens, text: outputTokens, reasoning: 0 },
  };
}

/** Half of a text at a time, so that an agent that reads along gets more than one part. */
function streamOf({ content, finishReason, usage, warnings }: Generated): ReadableStream<StreamPart> {
  const parts: StreamPart[] = [{ type: 'stream-start', warnings }];
  for (const [at, part] of content.entries()) {
    if (part.type === 'tool-call') {
      parts.push(part);
      continue;
    }
    const id = `text-${at}`;
    const middle = Math.ceil(part.text.length / 2);
    const deltas = [part.text.slice(0, middle), part.text.slice(middle)].filter((delta) => delta !== '');
    parts.push({ type: 'text-start', id }, ...deltas.map((delta): StreamPart => ({ type: 'text-delta', id, delta })), {
      type: 'text-end',
      id,
    });
  }
  parts.push({ type: 'finish', finishReason, usage });
  return ReadableStream.from(parts);
}
