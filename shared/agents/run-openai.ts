import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { streamText, type LanguageModelUsage, type TextStreamPart, type ToolSet } from 'ai';
import type { AgentContext, AgentResult, AgentUsage } from '../config/agent-function.ts';
import type { Clock } from '../time/clock.ts';
import type { DefinitionOf } from './agent-definition-of.ts';
import type { AgentRun } from './agent-runner.ts';
import type { GuardedFetch } from './create-guarded-fetch.ts';
import { failureFromModel } from './failure-from-model.ts';
import { resolveOpenaiEndpoint, type OpenaiDefaults } from './resolve-openai-endpoint.ts';

type Definition = DefinitionOf<'openai'>;
type Part = TextStreamPart<ToolSet>;

export interface OpenaiOptions extends OpenaiDefaults {
  /** The `fetch` for a base URL: guarded unless the operator named the address. */
  readonly fetchFor: (baseUrl: string) => GuardedFetch;
  readonly clock: Clock;
}

/**
 * Streams the answer of a model behind an OpenAI-compatible endpoint, with its token usage and cost.
 * Fails with THROTTLED (429, with `retryAfterMs`), PERMISSION_DENIED (401, 403), INVALID_INPUT (400, 422),
 * RESOURCE_NOT_FOUND (404), PROVIDER_ERROR (5xx, or an error inside the stream), NETWORK_ERROR (no connection, or cut).
 */
export async function runOpenai(run: AgentRun<Definition>, options: OpenaiOptions): Promise<AgentResult> {
  const { signal } = run.context;
  signal.throwIfAborted();
  // Leaving the stream does not end the request, which the SDK keeps reading for its other readers.
  const request = new AbortController();
  try {
    const usage = await readStream(ask(run, options, AbortSignal.any([signal, request.signal])), run, options.clock);
    return usage === undefined ? {} : { usage };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw failureFromModel(error, options.clock.now());
  } finally {
    request.abort();
  }
}

function ask({ task, definition, context }: AgentRun<Definition>, options: OpenaiOptions, abortSignal: AbortSignal): AsyncIterable<Part> {
  const { baseUrl, apiKey } = resolveOpenaiEndpoint(definition, options);
  const provider = createOpenAICompatible({
    name: 'openai',
    baseURL: baseUrl,
    includeUsage: true,
    // The types of `fetch` in undici and in Node describe the same function by different classes.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    fetch: options.fetchFor(baseUrl) as unknown as typeof fetch,
    ...(apiKey === undefined ? {} : { apiKey }),
  });
  return streamText({
    model: provider.chatModel(definition.model),
    prompt: task.input,
    // The queue retries; a retry in here would hide a throttle from it.
    maxRetries: 0,
    abortSignal,
    headers: { traceparent: context.trace.traceparent },
    // Errors are read from the stream; by default they would be printed too.
    onError: () => undefined,
    ...(definition.system === undefined ? {} : { instructions: definition.system }),
    ...(definition.temperature === undefined ? {} : { temperature: definition.temperature }),
    ...(definition.maxOutputTokens === undefined ? {} : { maxOutputTokens: definition.maxOutputTokens }),
  }).stream;
}

/** Errors and aborts are parts of the stream here: reading only the text would take a failed answer for a short one. */
async function readStream(
  stream: AsyncIterable<Part>,
  { definition, context }: AgentRun<Definition>,
  clock: Clock,
): Promise<AgentUsage | undefined> {
  let usage: AgentUsage | undefined;
  for await (const part of stream) {
    // What was on its way when the signal aborted is nobody's output any more.
    context.signal.throwIfAborted();
    if (part.type === 'text-delta') context.write(part.text);
    else if (part.type === 'reasoning-start') context.progress('thinking');
    else if (part.type === 'error') throw failureFromModel(part.error, clock.now());
    else if (part.type === 'finish') usage = finish(part, definition, context);
  }
  context.signal.throwIfAborted();
  return usage;
}

function finish(part: Extract<Part, { type: 'finish' }>, definition: Definition, { log }: AgentContext): AgentUsage | undefined {
  if (part.finishReason !== 'stop') log.warn({ finishReason: part.finishReason }, 'The model stopped early');
  return toUsage(part.totalUsage, definition.priceMicroUsdPerMillion);
}

function toUsage({ inputTokens, outputTokens }: LanguageModelUsage, price: Definition['priceMicroUsdPerMillion']): AgentUsage | undefined {
  if (inputTokens === undefined && outputTokens === undefined) return undefined;
  const input = inputTokens ?? 0;
  const output = outputTokens ?? 0;
  const cost = price === undefined ? 0 : (input * price.input + output * price.output) / 1_000_000;
  return { inputTokens: input, outputTokens: output, costMicroUsd: Math.round(cost) };
}
