import { TaskFailure } from '../../errors/index.ts';
import type { AgentEnvironment, AgentRunnersOptions, DefinitionOf } from '../agent-kind.ts';
import { createGuardedFetch, type GuardedFetch } from '../guarded-fetch.ts';

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
  definition: DefinitionOf<'openai'>,
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

function readNamed({ apiKeyEnv }: DefinitionOf<'openai'>, { readSecret }: OpenaiDefaults): string | undefined {
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
