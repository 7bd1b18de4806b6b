import { TaskFailure } from '../../errors/index.ts';
import type { AgentEnvironment, AgentRunnersOptions, DefinitionOf } from '../agent-kind.ts';
import { createGuardedFetch, type GuardedFetch } from '../guarded-fetch.ts';
import { EmptyResponseBodyError, InvalidPromptError, InvalidResponseDataError, JSONParseError, TypeValidationError } from 'ai';
import { answerIn } from '../../models/index.ts';
import { truncate } from '../../text/index.ts';
import type { Redactor } from '../redactor.ts';
import { failureFromModelAnswer, failureFromNetwork, listCauses, redactFailure } from '../network-failures.ts';

export type OpenaiDefaults = Pick<AgentEnvironment, 'openaiBaseUrl' | 'openaiApiKey' | 'readSecret'>;

export interface OpenaiEndpoint {
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
}

/** Where a key without a base URL belongs. */
const PUBLIC_BASE_URL = 'https://api.openai.com/v1';

/**
 * Where an agent's model is and with which key. The default key goes to its own origin only, so that an agent made by API cannot send it
 * elsewhere. Such an agent uses it only where the operator allows it (`mayUseFleetKey`). Throws INVALID_INPUT when there is no address,
 * PERMISSION_DENIED when its variable is not set, or it may not use the default key.
 */
export function resolveOpenaiEndpoint(
  definition: Pick<DefinitionOf<'openai'>, 'baseUrl' | 'apiKey' | 'apiKeyEnv'>,
  defaults: OpenaiDefaults,
  mayUseFleetKey: boolean,
): OpenaiEndpoint {
  const ownBaseUrl = defaults.openaiBaseUrl ?? (defaults.openaiApiKey === undefined ? undefined : PUBLIC_BASE_URL);
  const baseUrl = definition.baseUrl ?? ownBaseUrl;
  if (baseUrl === undefined) {
    throw new TaskFailure('INVALID_INPUT', 'There is no model to call: set OPENAI_BASE_URL, OPENAI_API_KEY or the agent\'s "baseUrl"');
  }
  return {
    baseUrl,
    apiKey: definition.apiKey ?? readNamed(definition, defaults) ?? fleetKey({ baseUrl, ownBaseUrl, mayUseFleetKey }, defaults),
  };
}

/** Throws PERMISSION_DENIED when an agent without a key may not use the default key. */
function fleetKey(
  { baseUrl, ownBaseUrl, mayUseFleetKey }: { baseUrl: string; ownBaseUrl: string | undefined; mayUseFleetKey: boolean },
  defaults: OpenaiDefaults,
): string | undefined {
  if (defaults.openaiApiKey === undefined || !isSameOrigin(baseUrl, ownBaseUrl)) return undefined;
  if (mayUseFleetKey) return defaults.openaiApiKey;
  throw new TaskFailure(
    'PERMISSION_DENIED',
    'An agent made by API needs an "apiKey" of its own: the installation keeps its own to agents of the configuration (limits.fleetKeyForApiAgents)',
  );
}

function readNamed({ apiKeyEnv }: Pick<DefinitionOf<'openai'>, 'apiKeyEnv'>, { readSecret }: OpenaiDefaults): string | undefined {
  if (apiKeyEnv === undefined) return undefined;
  const key = readSecret(apiKeyEnv);
  if (key === undefined) throw new TaskFailure('PERMISSION_DENIED', `The variable ${apiKeyEnv}, which should hold the key, is not set`);
  return key;
}

function isSameOrigin(baseUrl: string, ownBaseUrl: string | undefined): boolean {
  return ownBaseUrl !== undefined && new URL(baseUrl).origin === new URL(ownBaseUrl).origin;
}

/** A model's answer comes as one JSON event of about 250 bytes per token, so the limit for one body is far too small for it. */
const MODEL_BYTES_FACTOR = 32;
const ANYWHERE = ['0.0.0.0/0', '::/0'];

/** The `fetch` for a model's base URL. Only a URL of the operator's may be private. */
export function createModelFetch({
  openaiBaseUrl,
  operatorAgents = {},
  allowNetworks,
  maxResponseBytes,
}: AgentRunnersOptions): (baseUrl: string) => GuardedFetch {
  const trusted = new Set(openaiBaseUrl === undefined ? [] : [openaiBaseUrl]);
  for (const agent of Object.values(operatorAgents)) if (agent.kind === 'openai' && agent.baseUrl !== undefined) trusted.add(agent.baseUrl);
  const limits = { maxResponseBytes: maxResponseBytes * MODEL_BYTES_FACTOR, maxEventBytes: maxResponseBytes };
  const guarded = createGuardedFetch({ ...limits, allowNetworks });
  const open = createGuardedFetch({ ...limits, allowNetworks: ANYWHERE });
  return (baseUrl) => (trusted.has(baseUrl) ? open : guarded);
}

interface ModelFailureOptions {
  /** Now, in milliseconds since the epoch. */
  readonly nowMs: number;
  /** Takes the key out of the provider's text. */
  readonly redact: Redactor;
  /** The answer's content type; null when there was none. */
  readonly contentType: string | null;
}

const STREAM = 'text/event-stream';
/** Of an unreadable answer: enough to recognize it. */
const EXCERPT_LENGTH = 200;

/**
 * The failure of an attempt by an error of the AI SDK: by status when the provider named one, in its answer or within a stream.
 * PROVIDER_ERROR stands for a stream's error without a status and for a foreign protocol; NETWORK_ERROR for the rest, also for a cut
 * stream. The SDK's error itself is not passed on: it contains the request, prompt included.
 */
export function failureFromModel(error: unknown, options: ModelFailureOptions): TaskFailure {
  const { nowMs, redact } = options;
  if (error instanceof TaskFailure) return failureFromNetwork(error, redact);
  if (InvalidPromptError.isInstance(error)) return new TaskFailure('INVALID_INPUT', error.message);
  const answer = answerIn(error);
  if (answer !== null) return redactFailure(failureFromModelAnswer(answer, nowMs), redact);
  // Else the answer broke off, or is none of this protocol.
  return (
    listCauses(error)
      .map((cause) => fromUnreadable(cause, options))
      .find((failure) => failure !== undefined) ?? failureFromNetwork(error, redact)
  );
}

function fromUnreadable(error: Error, { redact, contentType }: ModelFailureOptions): TaskFailure | undefined {
  if (EmptyResponseBodyError.isInstance(error)) return new TaskFailure('PROVIDER_ERROR', 'The endpoint answered without a body');
  if (JSONParseError.isInstance(error)) return noCompletion(error.text, redact);
  if (TypeValidationError.isInstance(error)) return noCompletion(JSON.stringify(error.value) ?? 'nothing', redact);
  // A stream without an end was cut; a page or a document is none.
  if (!InvalidResponseDataError.isInstance(error) || contentType === null || contentType.startsWith(STREAM)) return undefined;
  return new TaskFailure('PROVIDER_ERROR', `The endpoint answered with "${contentType.slice(0, EXCERPT_LENGTH)}" instead of ${STREAM}`);
}

function noCompletion(sent: string, redact: Redactor): TaskFailure {
  return new TaskFailure('PROVIDER_ERROR', `The endpoint sent what is no chat completion: ${truncate(redact(sent), EXCERPT_LENGTH)}`);
}
