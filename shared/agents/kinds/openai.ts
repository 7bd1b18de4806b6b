import type { AgentResult, Settings } from '../../config/index.ts';
import type { CallUsage } from '../../models/index.ts';
import { accountOf } from '../../providers/index.ts';
import { type Clock, systemClock } from '../../time/index.ts';
import type { AgentRun, AgentRunnersOptions, DefinitionOf, KindOfAgent } from '../agent-kind.ts';
import type { GuardedFetch } from '../guarded-fetch.ts';
import type { CalledModel } from '../loop/model-step.ts';
import { formatAnswer } from '../loop/answer-format.ts';
import { noJournal } from '../loop/run-journal.ts';
import { runLoop } from '../loop/run-loop.ts';
import { callsTools, configuredTools, keepsJournal, ToolBox } from '../loop/tool-box.ts';
import { type LoopDefinition, loopDefinitionSchema } from '../loop/tool-spec.ts';
import { messagesOfTurn, modelMessages } from '../loop/turn-messages.ts';
import type { McpClients } from '../mcp/mcp-clients.ts';
import { mcpOpener, type OpenMcp } from '../mcp/open-mcp.ts';
import { contentOf } from './attachment-parts.ts';
import { batchLoop } from '../batches/batched-model.ts';
import { type EndpointModel, openElsewhere, openModelSource } from '../model-source.ts';
import { createModelFetch, type OpenaiDefaults, resolveOpenaiEndpoint } from './openai-endpoint.ts';

type Definition = DefinitionOf<'openai'>;
type Tokens = Pick<CallUsage, 'inputTokens' | 'outputTokens'>;

/** Agents that are models behind an OpenAI-compatible endpoint. */
export const openai: KindOfAgent<Definition> = {
  openRunner: (options) => {
    const fetchFor = createModelFetch(options);
    const openMcp = mcpOpener(options);
    return (run) => runOpenai(run, { ...options, fetchFor, openMcp, clock: options.clock ?? systemClock });
  },
  check: (definition, environment) => void resolveOpenaiEndpoint(definition, environment, true),
  secretsOf: ({ apiKey }) => [apiKey],
};

interface OpenaiOptions extends OpenaiDefaults, Pick<AgentRunnersOptions, 'models' | 'operatorAgents' | 'parameters' | 'tools'> {
  readonly openMcp: OpenMcp;
  /** The `fetch` for a base URL: guarded unless the operator named the address. */
  readonly fetchFor: (baseUrl: string) => GuardedFetch;
  readonly clock: Clock;
  readonly providers?: Settings['providers'];
  /** Whether agents made by API may use the default key. */
  readonly fleetKeyForApiAgents?: boolean;
  readonly maxModelBytes?: number;
}

/** Model calls of one run, by default; more where it has tools. */
const MAX_STEPS = 10;
const MAX_STEPS_WITH_TOOLS = 25;

/**
 * Streams the answer of a model behind an OpenAI-compatible endpoint, with its token usage and cost. The session's earlier turns come
 * before the prompt. It is called again after it called tools, and when messages arrived while it answered, see `runLoop`. What each call used is
 * counted as it ends. Fails with NO_ANSWER (cut before any text), THROTTLED (429, with `retryAfterMs`), PERMISSION_DENIED (401, 403),
 * INVALID_INPUT (400, 422), RESOURCE_NOT_FOUND (404), PROVIDER_ERROR (5xx, or an error inside the stream), NETWORK_ERROR (no connection, or
 * cut).
 */
async function runOpenai(run: AgentRun<Definition>, options: OpenaiOptions): Promise<AgentResult> {
  const { signal } = run.context;
  signal.throwIfAborted();
  // Leaving the stream does not end the request, which the SDK keeps reading for its other readers.
  const request = new AbortController();
  const ended = AbortSignal.any([signal, request.signal]);
  const mcp = options.openMcp(run, ended);
  try {
    const model = modelOf(run, options);
    const called = openModel(run, options, { model, signal: ended });
    // A tool that ignores its signal does not keep the slot.
    const { finishReason } = await run.untilStopped(answer(run, options, { called, model, mcp }));
    return { finishReason };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw error;
  } finally {
    request.abort();
    await mcp.close();
  }
}

async function answer(
  run: AgentRun<Definition>,
  options: OpenaiOptions,
  { called, model, mcp }: { called: CalledModel; model: EndpointModel; mcp: McpClients },
): Promise<Awaited<ReturnType<typeof runLoop>>> {
  const { definition, context, task } = run;
  const { maxModelBytes = Infinity } = options;
  const box = new ToolBox({ ...configuredTools(options), mcp, agents: options.operatorAgents ?? {} });
  const request = run.request ?? null;
  const isKept = keepsJournal(definition, request, run.callBatch !== undefined);
  const journal = isKept ? run.journal : noJournal(() => context.signal);
  const define = async (): Promise<LoopDefinition> => ({
    model: definition.model,
    instructions: instructionsOf(run),
    tools: await box.list({ ...definition, functions: run.request?.functions }),
  });
  const { maxSteps = callsTools(definition, request) ? MAX_STEPS_WITH_TOOLS : MAX_STEPS, temperature } = definition;
  const history = await context.history();
  const { format, after = [], mustCall } = run.request ?? {};
  const { check, ...answering } = formatAnswer(format, { write: context.write, isHeld: isKept });
  const ended = await runLoop({
    called: { ...called, model: answering.ask(called.model) },
    definition: loopDefinitionSchema.parse(await journal.define(define)),
    box,
    journal,
    context,
    messages: [
      ...history.flatMap(messagesOfTurn),
      { role: 'user', content: await contentOf(task.input, context.attachments, maxModelBytes) },
      ...modelMessages(after),
    ],
    maxSteps,
    temperature,
    maxOutputTokens: boundOf(run),
    mustCall,
    callCaller: run.callCaller,
    callBatch: batchLoop(run, {
      called,
      endpoint: model,
      providers: options.providers,
      isOwn: !run.isOperators,
      ownPrice: definition.priceMicroUsdPerMillion,
      ask: answering.ask,
    }),
    write: answering.write,
    takeInput: context.input,
    maxModelBytes,
  });
  check(ended);
  return ended;
}

/** The lower bound of tokens counts, the agent's or its caller's. */
function boundOf({ definition, request }: AgentRun<Definition>): number | undefined {
  const bounds = [definition.maxOutputTokens, request?.maxOutputTokens].filter((bound) => bound !== undefined);
  return bounds.length === 0 ? undefined : Math.min(...bounds);
}

/** Where the model of a run is called. */
function modelOf({ definition, isOperators, context }: AgentRun<Definition>, options: OpenaiOptions): EndpointModel {
  const endpoint = resolveOpenaiEndpoint(definition, options, isOperators || options.fleetKeyForApiAgents === true);
  const { traceparent } = context.trace;
  const account = accountOf(options.providers ?? {}, { ...endpoint, isOperators });
  const fetch = options.fetchFor(endpoint.baseUrl);
  const ownCostOf = (usage: Tokens): number | undefined => ownCost(definition.priceMicroUsdPerMillion, usage);
  const elsewhere = isOperators ? { elsewhere: openElsewhere(options, options.fetchFor, traceparent) } : {};
  const { parameters } = options;
  const called = { name: definition.model, traceparent, fetch, parameters, ownParameters: definition.parameters };
  return { ...endpoint, ...called, account, ownCostOf, ...elsewhere };
}

function openModel(
  { models }: Pick<AgentRun, 'models'>,
  { clock }: Pick<OpenaiOptions, 'clock'>,
  { model, signal }: { model: EndpointModel; signal: AbortSignal },
): CalledModel {
  const source = openModelSource(model, clock);
  return { model: models.wrap(source), signal, failureOf: source.failureOf };
}

function ownCost(price: Definition['priceMicroUsdPerMillion'], { inputTokens, outputTokens }: Tokens): number | undefined {
  return price === undefined ? undefined : Math.round((inputTokens * price.input + outputTokens * price.output) / 1_000_000);
}

/** The agent's own instructions, and then its task's. */
function instructionsOf({ definition, task }: AgentRun<Definition>): string {
  return [definition.system, task.system].filter((each) => each !== undefined && each !== null).join('\n\n');
}
