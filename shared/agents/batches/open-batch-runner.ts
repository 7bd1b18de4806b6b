import type { AgentDefinition } from '../../config/index.ts';
import { TaskFailure } from '../../errors/index.ts';
import { keyDigestOf, type ModelBatch, ModelBatchStore } from '../../providers/index.ts';
import { systemClock } from '../../time/index.ts';
import type { CatalogEntry } from '../agent-catalog.ts';
import type { AgentRunnersOptions } from '../agent-kind.ts';
import { createModelFetch, type OpenaiEndpoint, resolveOpenaiEndpoint } from '../kinds/openai-endpoint.ts';
import type { BatchPorts } from './answer-request.ts';
import { BatchClient } from './batch-client.ts';
import { type RunBatchesPorts, runModelBatches } from './run-model-batches.ts';

/** What a file of results has at most for each byte of the file with their requests. */
const GROWTH = 20;

/** Finds agents that tenants made by API. */
type FindAgent = (tenant: string, agent: string) => Promise<CatalogEntry | null>;

/** Opens the chore that runs the batches of the fleet; `options` as for the runners of agents. */
export function openBatchRunner(
  given: Omit<BatchPorts, 'store'>,
  options: AgentRunnersOptions & { findAgent: FindAgent },
): (signal: AbortSignal) => Promise<number | undefined> {
  const { stepMs, maxBytes } = given.settings.modelBatches;
  const fetchFor = createModelFetch({ ...options, maxResponseBytes: GROWTH * maxBytes });
  const clientOf: RunBatchesPorts['clientOf'] = async (target) => {
    const endpoint = await endpointOf(options, target);
    const { agent, tenant, keyDigest } = target;
    if (keyDigestOf(endpoint.apiKey, tenant) !== keyDigest)
      throw new TaskFailure('PERMISSION_DENIED', `The agent "${agent}" has another key now`);
    const { maxValueBytes } = given.settings.journal;
    return new BatchClient({
      endpoint,
      fetch: fetchFor(endpoint.baseUrl),
      timeoutMs: stepMs,
      maxLineBytes: maxValueBytes,
      now: () => systemClock.now(),
    });
  };
  const ports = { ...given, store: new ModelBatchStore(given), clientOf };
  return (signal) => runModelBatches(ports, signal);
}

/** Where the model of an agent is, and with which key. */
async function endpointOf(
  options: AgentRunnersOptions & { findAgent: FindAgent },
  { agent, tenant, baseUrl }: ModelBatch['record']['target'],
): Promise<OpenaiEndpoint> {
  const definition = tenant === undefined ? options.operatorAgents?.[agent] : (await options.findAgent(tenant, agent))?.definition;
  const mayUseFleetKey = tenant === undefined || options.fleetKeyForApiAgents === true;
  const endpoint = resolveOpenaiEndpoint(ownEndpoint(definition, agent), options, mayUseFleetKey);
  // A key goes nowhere else than where its requests were to go.
  if (endpoint.baseUrl !== baseUrl) throw new TaskFailure('PERMISSION_DENIED', `The agent "${agent}" has another address now`);
  return endpoint;
}

/** What an agent says of that itself. Models of functions are behind the fleet's own endpoint. */
function ownEndpoint(definition: AgentDefinition | undefined, agent: string): Parameters<typeof resolveOpenaiEndpoint>[0] {
  if (definition?.kind === 'openai') return definition;
  if (definition?.kind === 'function') return {};
  throw new TaskFailure('AGENT_NOT_FOUND', `There is no agent "${agent}" any more`);
}
