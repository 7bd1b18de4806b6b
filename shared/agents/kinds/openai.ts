import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { streamText, type LanguageModelUsage, type ModelMessage, type TextStreamPart, type ToolSet } from 'ai';
import type { AgentResult, AgentTurn, AgentUsage } from '../../config/index.ts';
import type { TaskFailure } from '../../errors/index.ts';
import { type Clock, systemClock } from '../../time/index.ts';
import type { AgentRun, DefinitionOf, KindOfAgent } from '../agent-kind.ts';
import type { GuardedFetch } from '../guarded-fetch.ts';
import { createSecretRedactor } from '../redactor.ts';
import { createModelFetch, failureFromModel, type OpenaiDefaults, type OpenaiEndpoint, resolveOpenaiEndpoint } from './openai-endpoint.ts';

type Definition = DefinitionOf<'openai'>;
type Part = TextStreamPart<ToolSet>;

/** Agents that are models behind an OpenAI-compatible endpoint. */
export const openai: KindOfAgent<Definition> = {
  openRunner: (options) => {
    const fetchFor = createModelFetch(options);
    return (run) => runOpenai(run, { ...options, fetchFor, clock: options.clock ?? systemClock });
  },
  check: (definition, environment) => void resolveOpenaiEndpoint(definition, environment, true),
  secretsOf: ({ apiKey }) => [apiKey],
};

interface OpenaiOptions extends OpenaiDefaults {
  /** The `fetch` for a base URL: guarded unless the operator named the address. */
  readonly fetchFor: (baseUrl: string) => GuardedFetch;
  readonly clock: Clock;
  /** Whether agents made by API may use the default key. */
  readonly fleetKeyForApiAgents?: boolean;
}

/** Model calls of one run, by default. */
const MAX_STEPS = 10;
/** Between the answers of two steps. */
const STEP_BREAK = '\n\n';

/** The endpoint of one run. */
interface Provider extends OpenaiEndpoint {
  readonly fetch: GuardedFetch;
  readonly signal: AbortSignal;
  /** Turns an error of the SDK into the failure of the attempt. */
  readonly failureOf: (error: unknown) => TaskFailure;
}

/**
 * Streams the answer of a model behind an OpenAI-compatible endpoint, with its token usage and cost. The session's earlier turns come
 * before the prompt. When messages arrived while the model answered, it is called again with its answer and them. The next answer follows
 * after a blank line. What each call used is reported when it ends. Fails with THROTTLED (429, with `retryAfterMs`), PERMISSION_DENIED (401, 403),
 * INVALID_INPUT (400, 422), RESOURCE_NOT_FOUND (404), PROVIDER_ERROR (5xx, or an error inside the stream), NETWORK_ERROR (no connection, or
 * cut).
 */
async function runOpenai(run: AgentRun<Definition>, options: OpenaiOptions): Promise<AgentResult> {
  const { signal } = run.context;
  signal.throwIfAborted();
  // Leaving the stream does not end the request, which the SDK keeps reading for its other readers.
  const request = new AbortController();
  const provider = openProvider(run, options, AbortSignal.any([signal, request.signal]));
  try {
    await callModel(run, provider);
    return {};
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw provider.failureOf(error);
  } finally {
    request.abort();
  }
}

function openProvider({ definition, isOperators }: AgentRun<Definition>, options: OpenaiOptions, signal: AbortSignal): Provider {
  const endpoint = resolveOpenaiEndpoint(definition, options, isOperators || options.fleetKeyForApiAgents === true);
  const redact = createSecretRedactor([endpoint.apiKey]);
  const fetch = options.fetchFor(endpoint.baseUrl);
  let contentType: string | null = null;
  return {
    ...endpoint,
    signal,
    fetch: async (url, init) => {
      const response = await fetch(url, init);
      contentType = response.headers.get('content-type');
      return response;
    },
    failureOf: (error) => failureFromModel(error, { nowMs: options.clock.now(), redact, contentType }),
  };
}

async function callModel(run: AgentRun<Definition>, provider: Provider): Promise<void> {
  const { task, definition, context } = run;
  const { maxSteps = MAX_STEPS } = definition;
  const messages: ModelMessage[] = [...(await context.history()).flatMap(messagesOfTurn), { role: 'user', content: task.input }];
  for (let step = 1; ; step += 1) {
    const text = await readStream(openStream(run, provider, messages), run, provider);
    // The last step takes no messages, because none would be answered.
    const inputs = step < maxSteps ? await context.input() : [];
    if (inputs.length === 0) return;
    if (text !== '') {
      context.write(STEP_BREAK);
      messages.push({ role: 'assistant', content: text });
    }
    messages.push(...inputs.map((input): ModelMessage => ({ role: 'user', content: input.text })));
  }
}

/** An empty answer is left out: some endpoints refuse it. */
function messagesOfTurn({ input, output }: AgentTurn): ModelMessage[] {
  return [{ role: 'user', content: input }, ...(output === '' ? [] : [{ role: 'assistant', content: output } as const])];
}

/** The agent's own instructions, and then its task's. */
function instructionsOf({ definition, task }: AgentRun<Definition>): string {
  return [definition.system, task.system].filter((each) => each !== undefined && each !== null).join('\n\n');
}

function openStream(run: AgentRun<Definition>, provider: Provider, messages: readonly ModelMessage[]): AsyncIterable<Part> {
  const { definition, context } = run;
  const { baseUrl, apiKey, fetch, signal } = provider;
  const instructions = instructionsOf(run);
  const models = createOpenAICompatible({
    name: 'openai',
    baseURL: baseUrl,
    includeUsage: true,
    // The types of `fetch` in undici and in Node describe the same function by different classes.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    fetch: fetch as unknown as typeof globalThis.fetch,
    ...(apiKey === undefined ? {} : { apiKey }),
  });
  return streamText({
    model: models.chatModel(definition.model),
    messages: [...messages],
    // The queue retries; a retry in here would redact a throttle from it.
    maxRetries: 0,
    abortSignal: signal,
    headers: { traceparent: context.trace.traceparent },
    // Errors are read from the stream; by default they would be printed too.
    onError: () => undefined,
    ...(instructions === '' ? {} : { instructions }),
    ...(definition.temperature === undefined ? {} : { temperature: definition.temperature }),
    ...(definition.maxOutputTokens === undefined ? {} : { maxOutputTokens: definition.maxOutputTokens }),
  }).stream;
}

/** Errors and aborts are parts of the stream here: reading only the text would take a failed answer for a short one. */
async function readStream(
  stream: AsyncIterable<Part>,
  { definition, context }: AgentRun<Definition>,
  { failureOf }: Provider,
): Promise<string> {
  let text = '';
  for await (const part of stream) {
    // Output that arrives after an abort is dropped.
    context.signal.throwIfAborted();
    if (part.type === 'text-delta') {
      text += part.text;
      context.write(part.text);
    } else if (part.type === 'reasoning-start') context.progress('thinking');
    else if (part.type === 'error') throw failureOf(part.error);
    else if (part.type === 'finish') {
      if (part.finishReason !== 'stop') context.log.warn({ finishReason: part.finishReason }, 'The model stopped early');
      const used = usageOf(part.totalUsage, definition);
      if (used !== null) context.reportUsage(used);
    }
  }
  context.signal.throwIfAborted();
  return text;
}

/** What a call used; null when the endpoint does not say. The agent's own prices come before those of its model. */
function usageOf(usage: LanguageModelUsage, { model, priceMicroUsdPerMillion: prices }: Definition): AgentUsage | null {
  const { inputTokens = 0, outputTokens = 0 } = usage;
  if (usage.inputTokens === undefined && usage.outputTokens === undefined) return null;
  const { cacheReadTokens: cachedInputTokens = 0 } = usage.inputTokenDetails;
  const { reasoningTokens = 0 } = usage.outputTokenDetails;
  const used = { model, inputTokens, outputTokens, cachedInputTokens, reasoningTokens };
  if (prices === undefined) return used;
  return { ...used, costMicroUsd: Math.round((inputTokens * prices.input + outputTokens * prices.output) / 1_000_000) };
}
