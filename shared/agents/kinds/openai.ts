import { streamText, type ModelMessage, type TextStreamPart, type ToolSet } from 'ai';
import { type AgentContext, type AgentResult, type AgentTurn, type FinishReason, isTruncated, type Settings } from '../../config/index.ts';
import { TaskFailure } from '../../errors/index.ts';
import type { CallUsage, SdkModel } from '../../models/index.ts';
import { accountOf, readFinishReason } from '../../providers/index.ts';
import { type Clock, systemClock } from '../../time/index.ts';
import type { AgentRun, AgentRunnersOptions, DefinitionOf, KindOfAgent } from '../agent-kind.ts';
import type { GuardedFetch } from '../guarded-fetch.ts';
import { contentOf } from './attachment-parts.ts';
import { openElsewhere, openModelSource } from '../model-source.ts';
import { createModelFetch, type OpenaiDefaults, resolveOpenaiEndpoint } from './openai-endpoint.ts';

type Definition = DefinitionOf<'openai'>;
type Tokens = Pick<CallUsage, 'inputTokens' | 'outputTokens'>;
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

interface OpenaiOptions extends OpenaiDefaults, Pick<AgentRunnersOptions, 'models' | 'operatorAgents' | 'parameters'> {
  /** The `fetch` for a base URL: guarded unless the operator named the address. */
  readonly fetchFor: (baseUrl: string) => GuardedFetch;
  readonly clock: Clock;
  readonly providers?: Settings['providers'];
  /** Whether agents made by API may use the default key. */
  readonly fleetKeyForApiAgents?: boolean;
  readonly maxModelBytes?: number;
}

/** Model calls of one run, by default. */
const MAX_STEPS = 10;
/** Between the answers of two steps. */
const STEP_BREAK = '\n\n';

/** The model of one run. */
interface RunModel {
  readonly model: SdkModel;
  readonly signal: AbortSignal;
  /** Turns an error of the SDK into the failure of the attempt. */
  readonly failureOf: (error: unknown) => TaskFailure;
}

/**
 * Streams the answer of a model behind an OpenAI-compatible endpoint, with its token usage and cost. The session's earlier turns come
 * before the prompt. When messages arrived while the model answered, it is called again with its answer and them. The next answer follows
 * after a blank line. What each call used is counted as it ends. Fails with NO_ANSWER (cut before any text), THROTTLED (429, with `retryAfterMs`), PERMISSION_DENIED (401, 403),
 * INVALID_INPUT (400, 422), RESOURCE_NOT_FOUND (404), PROVIDER_ERROR (5xx, or an error inside the stream), NETWORK_ERROR (no connection, or
 * cut).
 */
async function runOpenai(run: AgentRun<Definition>, options: OpenaiOptions): Promise<AgentResult> {
  const { signal } = run.context;
  signal.throwIfAborted();
  // Leaving the stream does not end the request, which the SDK keeps reading for its other readers.
  const request = new AbortController();
  const model = openModel(run, options, AbortSignal.any([signal, request.signal]));
  try {
    return { finishReason: await callModel(run, model, options.maxModelBytes ?? Infinity) };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw model.failureOf(error);
  } finally {
    request.abort();
  }
}

function openModel(
  { definition, isOperators, context, models }: AgentRun<Definition>,
  options: OpenaiOptions,
  signal: AbortSignal,
): RunModel {
  const endpoint = resolveOpenaiEndpoint(definition, options, isOperators || options.fleetKeyForApiAgents === true);
  const { traceparent } = context.trace;
  const account = accountOf(options.providers ?? {}, { ...endpoint, isOperators });
  const fetch = options.fetchFor(endpoint.baseUrl);
  const ownCostOf = (usage: Tokens): number | undefined => ownCost(definition.priceMicroUsdPerMillion, usage);
  const elsewhere = isOperators ? { elsewhere: openElsewhere(options, options.fetchFor, traceparent) } : {};
  const { parameters } = options;
  const called = { name: definition.model, traceparent, fetch, parameters, ownParameters: definition.parameters };
  const model = { ...endpoint, ...called, account, ownCostOf, ...elsewhere };
  const source = openModelSource(model, options.clock);
  return { model: models.wrap(source), signal, failureOf: source.failureOf };
}

function ownCost(price: Definition['priceMicroUsdPerMillion'], { inputTokens, outputTokens }: Tokens): number | undefined {
  return price === undefined ? undefined : Math.round((inputTokens * price.input + outputTokens * price.output) / 1_000_000);
}

/** `maxBytes`: of the attachments of one message. Returns how the answers ended: the first that was cut, else the last. */
async function callModel(run: AgentRun<Definition>, model: RunModel, maxBytes: number): Promise<FinishReason> {
  const { task, definition, context } = run;
  const { maxSteps = MAX_STEPS } = definition;
  const prompt = await contentOf(task.input, context.attachments, maxBytes);
  const messages: ModelMessage[] = [...(await context.history()).flatMap(messagesOfTurn), { role: 'user', content: prompt }];
  const endings: FinishReason[] = [];
  for (let step = 1; ; step += 1) {
    const { text: answer, ...ending } = await readStream(openStream(run, model, messages), run, model);
    if (step === 1) assertAnswered(answer, ending);
    endings.push(ending.finishReason);
    // The last step takes no messages, because none would be answered.
    const inputs = step < maxSteps ? await context.input() : [];
    if (inputs.length === 0) return endings.find(isTruncated) ?? ending.finishReason;
    if (answer !== '') {
      context.write(STEP_BREAK);
      messages.push({ role: 'assistant', content: answer });
    }
    for (const { text, attachments } of inputs) messages.push({ role: 'user', content: await contentOf(text, attachments, maxBytes) });
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

function openStream(run: AgentRun<Definition>, { model, signal }: RunModel, messages: readonly ModelMessage[]): AsyncIterable<Part> {
  const { definition } = run;
  const instructions = instructionsOf(run);
  return streamText({
    model,
    messages: [...messages],
    // The queue retries; a retry in here would redact a throttle from it.
    maxRetries: 0,
    abortSignal: signal,
    // Errors are read from the stream; by default they would be printed too.
    onError: () => undefined,
    ...(instructions === '' ? {} : { instructions }),
    ...(definition.temperature === undefined ? {} : { temperature: definition.temperature }),
    ...(definition.maxOutputTokens === undefined ? {} : { maxOutputTokens: definition.maxOutputTokens }),
  }).stream;
}

/** How one call ended. */
interface Ending {
  finishReason: FinishReason;
  /** Whether any of it was reasoning. */
  hasReasoned: boolean;
}

/**
 * Reads the answer of one call. Errors and aborts are parts of the stream here: reading only the text would take a failed answer for a
 * short one.
 */
async function readStream(
  stream: AsyncIterable<Part>,
  { context }: AgentRun<Definition>,
  { failureOf }: RunModel,
): Promise<Ending & { text: string }> {
  let text = '';
  const ending: Ending = { finishReason: 'unknown', hasReasoned: false };
  for await (const part of stream) {
    // Output that arrives after an abort is dropped.
    context.signal.throwIfAborted();
    if (part.type === 'text-delta') {
      text += part.text;
      context.write(part.text);
    } else if (part.type === 'reasoning-start') {
      ending.hasReasoned = true;
      context.progress('thinking');
    } else if (part.type === 'error') throw failureOf(part.error);
    else if (part.type === 'finish') ending.finishReason = readEnding(part, context);
  }
  context.signal.throwIfAborted();
  return { text, ...ending };
}

function readEnding({ rawFinishReason, finishReason: unified }: Extract<Part, { type: 'finish' }>, { log }: AgentContext): FinishReason {
  // A refusal ends by `stop`, and the SDK knows better.
  const finishReason = unified === 'content-filter' ? 'content_filter' : readFinishReason(rawFinishReason);
  if (finishReason !== 'stop') log.warn({ finishReason: rawFinishReason ?? finishReason }, 'The model stopped early');
  return finishReason;
}

/** Fails an attempt whose model ended without any text, although it was cut, thought, or called a tool: nobody would see that from an empty output. */
function assertAnswered(text: string, { finishReason, hasReasoned }: Ending): void {
  if (text.trim() !== '') return;
  const details = { details: { finishReason } };
  if (finishReason === 'length')
    throw new TaskFailure('NO_ANSWER', 'The model used its bound of tokens up before it answered: raise "maxOutputTokens"', details);
  if (finishReason === 'content_filter') throw new TaskFailure('NO_ANSWER', 'A filter of the provider kept the answer back', details);
  if (finishReason === 'tool_calls')
    throw new TaskFailure('PROVIDER_ERROR', 'The model called a tool that it was not given, and ended without an answer', details);
  if (hasReasoned) throw new TaskFailure('PROVIDER_ERROR', 'The model thought, and ended without an answer', details);
}
