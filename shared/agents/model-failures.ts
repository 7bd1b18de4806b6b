import {
  APICallError,
  EmptyResponseBodyError,
  InvalidPromptError,
  InvalidResponseDataError,
  JSONParseError,
  StreamProviderError,
  TypeValidationError,
} from 'ai';
import { TaskFailure } from '../errors/index.ts';
import { truncate } from '../text/index.ts';
import type { Redactor } from './redactor.ts';
import { failureFromNetwork, failureFromStatus, listCauses } from './network-failures.ts';
import type { HeaderReader } from './retry-after.ts';

export interface ModelFailureOptions {
  /** Now, in milliseconds since the epoch. */
  readonly nowMs: number;
  /** Takes the key out of the provider's text. */
  readonly redact: Redactor;
  /** The answer's content type; null when there was none. */
  readonly contentType: string | null;
}

const NO_HEADERS: HeaderReader = () => null;

/** An error in a stream has no status; providers name what it would have been by its code or type. */
const STATUS_BY_NAME: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  context_length_exceeded: 400,
  authentication_error: 401,
  invalid_api_key: 401,
  permission_error: 403,
  not_found_error: 404,
  model_not_found: 404,
  rate_limit_exceeded: 429,
  rate_limit_error: 429,
};
const UNNAMED_STATUS = 500;

const STREAM = 'text/event-stream';
/** Of an unreadable answer: enough to recognize it. */
const EXCERPT_LENGTH = 200;

/**
 * The failure of an attempt by an error of the AI SDK: by status when the provider named one, in its answer or within a stream.
 * PROVIDER_ERROR stands for a stream's error without a status and for a foreign protocol; NETWORK_ERROR for the rest, also for a cut
 * stream. The SDK's error itself is not passed on: it contains the request, prompt included.
 */
export function failureFromModel(error: unknown, options: ModelFailureOptions): TaskFailure {
  if (error instanceof TaskFailure) return failureFromNetwork(error, options.redact);
  if (InvalidPromptError.isInstance(error)) return new TaskFailure('INVALID_INPUT', error.message);
  if (APICallError.isInstance(error) && error.statusCode !== undefined && error.statusCode >= 300) return fromAnswer(error, options);
  if (StreamProviderError.isInstance(error)) return fromStream(error, options);
  // Else the answer broke off, or is none of this protocol.
  return (
    listCauses(error)
      .map((cause) => fromUnreadable(cause, options))
      .find((failure) => failure !== undefined) ?? failureFromNetwork(error, options.redact)
  );
}

function fromAnswer(
  { statusCode = UNNAMED_STATUS, responseHeaders, message }: APICallError,
  { nowMs, redact }: ModelFailureOptions,
): TaskFailure {
  const headers = new Map(Object.entries(responseHeaders ?? {}).map(([name, value]) => [name.toLowerCase(), value]));
  return failureFromStatus({ status: statusCode, header: (name) => headers.get(name) ?? null, message: redact(message), nowMs });
}

function fromStream({ statusCode, code, type, message }: StreamProviderError, { nowMs, redact }: ModelFailureOptions): TaskFailure {
  const named = STATUS_BY_NAME[`${code}`] ?? STATUS_BY_NAME[`${type}`];
  const status = statusCode ?? named ?? UNNAMED_STATUS;
  return failureFromStatus({ status, header: NO_HEADERS, message: redact(message), nowMs, isInStream: true });
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
