import type { AgentDefinition } from '../../config/index.ts';
import { TaskFailure } from '../../errors/index.ts';
import { keyDigestOf, ModelBatchStore } from '../../providers/index.ts';
import { systemClock } from '../../time/index.ts';
import type { AgentRunnersOptions } from '../agent-kind.ts';
import { createModelFetch, resolveOpenaiEndpoint } from '../kinds/openai-endpoint.ts';
import type { BatchPorts } from './answer-request.ts';
import { BatchClient } from './batch-client.ts';
import { type RunBatchesPorts, runModelBatches } from './run-model-batches.ts';

/** What a file of results has at most for each byte of the file with their requests. */
const GROWTH = 20;

/** Opens the chore that runs the batches of the fleet; `options` as for the runners of agents. */
export function openBatchRunner(
  given: Omit<BatchPorts, 'store'>,
  options: AgentRunnersOptions,
): (signal: AbortSignal) => Promise<number | undefined> {
  const { stepMs, maxBytes } = given.settings.modelBatches;
  const fetchFor = createModelFetch({ ...options, maxResponseBytes: GROWTH * maxBytes });
  const clientOf: RunBatchesPorts['clientOf'] = ({ agent, keyDigest }) => {
    const endpoint = resolveOpenaiEndpoint(endpointOf(options.operatorAgents?.[agent], agent), options, true);
    if (keyDigestOf(endpoint.apiKey) !== keyDigest) throw new TaskFailure('PERMISSION_DENIED', `The agent "${agent}" has another key now`);
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

/** Where the models of an agent are. Those of functions are behind the fleet's own endpoint. */
function endpointOf(definition: AgentDefinition | undefined, agent: string): Parameters<typeof resolveOpenaiEndpoint>[0] {
  if (definition?.kind === 'openai') return definition;
  if (definition?.kind === 'function') return {};
  throw new TaskFailure('AGENT_NOT_FOUND', `The configuration has no agent "${agent}" any more`);
}
