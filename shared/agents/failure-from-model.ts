import { APICallError, InvalidPromptError, StreamProviderError } from 'ai';
import { TaskFailure } from '../errors/task-failure.ts';
import { failureFromNetwork } from './failure-from-network.ts';
import { failureFromStatus } from './failure-from-status.ts';
import type { HeaderReader } from './retry-after-ms.ts';

const NO_HEADERS: HeaderReader = () => null;

/**
 * The failure that an error of the AI SDK makes of an attempt: by status when the provider gave one, in its answer or in the
 * middle of a stream; PROVIDER_ERROR for an error in a stream without one; else NETWORK_ERROR, also for a stream that was cut.
 * The SDK's error itself is not handed on: it carries the whole request, prompt included.
 */
export function failureFromModel(error: unknown, nowMs: number): TaskFailure {
  if (error instanceof TaskFailure) return error;
  if (InvalidPromptError.isInstance(error)) return new TaskFailure('INVALID_INPUT', error.message);
  if (APICallError.isInstance(error)) return fromAnswer(error, nowMs);
  if (StreamProviderError.isInstance(error)) {
    // OpenAI names a throttle in a stream by this code alone.
    const status = error.code === 'rate_limit_exceeded' ? 429 : (error.statusCode ?? 500);
    return failureFromStatus({ status, header: NO_HEADERS, message: error.message, nowMs });
  }
  return failureFromNetwork(error);
}

function fromAnswer(error: APICallError, nowMs: number): TaskFailure {
  const { statusCode, responseHeaders, message } = error;
  // A status of 2xx here is an answer that broke off, or that does not speak the protocol.
  if (statusCode === undefined || statusCode < 300) return failureFromNetwork(error);
  const headers = new Map(Object.entries(responseHeaders ?? {}).map(([name, value]) => [name.toLowerCase(), value]));
  return failureFromStatus({ status: statusCode, header: (name) => headers.get(name) ?? null, message, nowMs });
}
