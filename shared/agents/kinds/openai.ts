import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { streamText, type LanguageModelUsage, type ModelMessage, type TextStreamPart, type ToolSet } from 'ai';
import type { AgentContext, AgentResult, AgentTurn, AgentUsage } from '../../config/index.ts';
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

/** The answer of one model call. */
interface Step {
  text: string;
  usage: AgentUsage | undefined;
}

/**
 * Streams the answer of a model behind an OpenAI-compatible endpoint, with its token usage and cost. The session's earlier turns come
 * before the prompt. When messages arrived while the model answered, it is called again with its answer and them. The next answer follows
 * after a blank line; `usage` is the total of all calls. Fails with THROTTLED (429, with `retryAfterMs`), PERMISSION_DENIED (401, 403),
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
    const usage = await callModel(run, provider);
    return usage === undefined ? {} : { usage };
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

async function callModel(run: AgentRun<Definition>, provider: Provider): Promise<AgentUsage | undefined> {
  const { task, definition, context } = run;
  const { maxSteps = MAX_STEPS } = definition;
  const messages: ModelMessage[] = [...(await context.history()).flatMap(messagesOfTurn), { role: 'user', content: task.input }];
  let usage: AgentUsage | undefined;
  for (let step = 1; ; step += 1) {
    const answer = await readStream(openStream(run, provider, messages), run, provider);
    usage = sumUsage(usage, answer.usage);
    // The last step takes no messages, because none would be answered.
    const inputs = step < maxSteps ? await context.input() : [];
    if (inputs.length === 0) return usage;
    if (answer.text !== '') {
      context.write(STEP_BREAK);
      messages.push({ role: 'assistant', content: answer.text });
    }
    messages.push(...inputs.map(({ text }): ModelMessage => ({ role: 'user', content: text })));
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
): Promise<Step> {
  const step: Step = { text: '', usage: undefined };
  for await (const part of stream) {
    // Output that arrives after an abort is dropped.
    context.signal.throwIfAborted();
    if (part.type === 'text-delta') {
      step.text += part.text;
      context.write(part.text);
    } else if (part.type === 'reasoning-start') context.progress('thinking');
    else if (part.type === 'error') throw failureOf(part.error);
    else if (part.type === 'finish') step.usage = finish(part, definition, context);
  }
  context.signal.throwIfAborted();
  return step;
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

function sumUsage(before: AgentUsage | undefined, step: AgentUsage | undefined): AgentUsage | undefined {
  if (before === undefined || step === undefined) return before ?? step;
  return {
    inputTokens: before.inputTokens + step.inputTokens,
    outputTokens: before.outputTokens + step.outputTokens,
    costMicroUsd: before.costMicroUsd + step.costMicroUsd,
  };
}
