import { OpenAICompatibleChatLanguageModel } from '@ai-sdk/openai-compatible';
import { z } from 'zod';
import type { AttemptModels, ModelSource, ModelUsage, SdkModel } from '../models/index.ts';
import { accountOf, type ParameterChanges, readTokens } from '../providers/index.ts';
import { type Clock, systemClock } from '../time/index.ts';
import type { AgentRunnersOptions } from './agent-kind.ts';
import { adaptAnswer } from './endpoint/adapt-answer.ts';
import { askAgain, type ParameterMemory } from './endpoint/refused-parameters.ts';
import { addressBelow, isOpenai, keyHeaders } from './endpoint/model-address.ts';
import {
  createModelFetch,
  failureFromModel,
  type OpenaiDefaults,
  type OpenaiEndpoint,
  resolveOpenaiEndpoint,
} from './kinds/openai-endpoint.ts';
import type { GuardedFetch } from './guarded-fetch.ts';
import { createSecretRedactor } from './redactor.ts';

type ChatConfig = ConstructorParameters<typeof OpenAICompatibleChatLanguageModel>[1];

export interface EndpointModel extends OpenaiEndpoint, Pick<ModelSource, 'name' | 'account' | 'ownCostOf' | 'elsewhere'> {
  readonly fetch: GuardedFetch;
  readonly traceparent: string;
  /** Names of parameters that its agent changes; null leaves one out. */
  readonly ownParameters?: Readonly<Record<string, string | null>> | undefined;
  /** What the fleet knows of parameters that servers refuse. By default each call finds out by itself. */
  readonly parameters?: AgentRunnersOptions['parameters'];
}

/** A model behind an OpenAI-compatible endpoint. Its failures have the codes that `failureFromModel` gives, and no key in their text. */
export function openModelSource(model: EndpointModel, clock: Clock = systemClock): ModelSource {
  const { name, account, ownCostOf, elsewhere, baseUrl, apiKey, fetch, traceparent } = model;
  const redact = createSecretRedactor([apiKey]);
  let contentType: string | null = null;
  const own = ownChanges(model);
  const fetchAdapted: GuardedFetch = async (url, init) => {
    const response = await fetch(url, init);
    contentType = response.headers.get('content-type');
    return await adaptAnswer(response, isStreamed(init));
  };
  const fetchModel = askAgain(fetchAdapted, { own, memory: memoryOf(model) });
  const config: ChatConfig = {
    provider: 'openai.chat',
    url: ({ path }) => addressBelow(baseUrl, path),
    includeUsage: true,
    // Else the schema of an answer would be left out.
    supportsStructuredOutputs: true,
    headers: { ...keyHeaders(baseUrl, apiKey), traceparent },
    errorStructure: ERROR_STRUCTURE,
    convertUsage,
    transformRequestBody: (body) => (isOpenai(baseUrl) && !('max_tokens' in own) ? withCompletionBound(body) : body),
    // The types of `fetch` in undici and in Node describe the same function by different classes.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    fetch: fetchModel as unknown as typeof globalThis.fetch,
  };
  return {
    name,
    account,
    modelFor: (called) => new OpenAICompatibleChatLanguageModel(called, config),
    failureOf: (error) => failureFromModel(error, { nowMs: clock.now(), redact, contentType }),
    ownCostOf,
    ...(elsewhere === undefined ? {} : { elsewhere }),
  };
}

function ownChanges({ ownParameters = {} }: EndpointModel): ParameterChanges {
  return Object.fromEntries(Object.entries(ownParameters).map(([name, as]) => [name, { as }]));
}

function memoryOf({ account, parameters }: EndpointModel): ParameterMemory {
  return {
    read: async (model) => (await parameters?.read({ account, model })) ?? {},
    learn: async (model, changes) => await parameters?.learn({ account, model }, changes),
  };
}

/** An error in a stream, with all that its provider says. */
const ERROR_STRUCTURE: NonNullable<ChatConfig['errorStructure']> = {
  errorSchema: z.looseObject({ error: z.looseObject({ message: z.string() }) }),
  // The text is read where the failure is made.
  errorToMessage: () => 'The endpoint answered with an error',
};

function isStreamed({ body }: Parameters<GuardedFetch>[1]): boolean {
  return typeof body === 'string' && /"stream":\s*true/.test(body);
}

function convertUsage(usage: unknown): ModelUsage {
  const { inputTokens, outputTokens, cachedInputTokens = 0, reasoningTokens = 0 } = readTokens(usage) ?? {};
  return {
    inputTokens: {
      total: inputTokens,
      noCache: inputTokens === undefined ? undefined : Math.max(0, inputTokens - cachedInputTokens),
      cacheRead: cachedInputTokens,
      cacheWrite: undefined,
    },
    outputTokens: {
      total: outputTokens,
      text: outputTokens === undefined ? undefined : Math.max(0, outputTokens - reasoningTokens),
      reasoning: reasoningTokens,
    },
  };
}

/** Opens fallbacks at the endpoints of other agents of the configuration (`endpointOf`). Only the operator's agents may: the keys are theirs. */
export function openElsewhere(
  options: Pick<AgentRunnersOptions, 'models' | 'operatorAgents' | 'providers' | 'parameters'> & OpenaiDefaults,
  fetchFor: (baseUrl: string) => GuardedFetch,
  traceparent: string,
): NonNullable<ModelSource['elsewhere']> {
  return (name) => {
    const { endpointOf } = options.models?.[name] ?? {};
    const agent = endpointOf === undefined ? undefined : options.operatorAgents?.[endpointOf];
    if (agent?.kind !== 'openai') return null;
    const endpoint = resolveOpenaiEndpoint(agent, options, true);
    const account = accountOf(options.providers ?? {}, { ...endpoint, isOperators: true });
    const { parameters } = options;
    const called = { name, traceparent, fetch: fetchFor(endpoint.baseUrl), parameters, ownParameters: agent.parameters };
    return openModelSource({ ...endpoint, ...called, account, ownCostOf: () => undefined });
  };
}

/** OpenAI's newer models refuse the old name of the bound, and its older ones know the new. */
function withCompletionBound({ max_tokens: bound, ...body }: Record<string, unknown>): Record<string, unknown> {
  return bound === undefined ? body : { ...body, max_completion_tokens: bound };
}

/** A model behind the fleet's own endpoint. */
export interface FleetModel {
  readonly model: SdkModel;
  /** Where that is called, as what its provider may do besides says. */
  readonly endpoint: EndpointModel;
  readonly providers: AgentRunnersOptions['providers'];
}

/** Opens models for agents that are functions: by name, for the calls of one attempt. */
export type FleetModels = (models: AttemptModels, call: { name: string | undefined; traceparent: string }) => FleetModel;

export interface FleetModelsOptions extends AgentRunnersOptions {
  /** The model of a call that names none. */
  readonly defaultModel: string;
}

/** The models behind the fleet's own endpoint. Opening one fails with INVALID_INPUT when there is none. */
export function createFleetModels(options: FleetModelsOptions): FleetModels {
  const fetchFor = createModelFetch(options);
  return (models, { name = options.defaultModel, traceparent }) => {
    const endpoint = resolveOpenaiEndpoint({}, options, true);
    const account = accountOf(options.providers ?? {}, { ...endpoint, isOperators: true });
    const fetch = fetchFor(endpoint.baseUrl);
    const elsewhere = openElsewhere(options, fetchFor, traceparent);
    const { parameters, providers } = options;
    const own = { ...endpoint, account, name, traceparent, fetch, parameters, elsewhere, ownCostOf: () => undefined };
    return { model: models.wrap(openModelSource(own)), endpoint: own, providers };
  };
}
