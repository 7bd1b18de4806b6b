import { APICallError, RetryError, StreamProviderError } from 'ai';
import { parseJson, type ProviderAnswer, readProviderError } from '../providers/index.ts';

type HeaderValues = Readonly<Record<string, string | undefined>>;

/** The answer of a call that went well. */
export function goodAnswer(headers: HeaderValues = {}): ProviderAnswer {
  return { status: 200, headers: lowerCase(headers) };
}

/**
 * The answer in an error of the AI SDK, or of one of the SDKs that OpenAI, Anthropic, Groq, Together and Google give out; null when
 * none came, and for any other error.
 */
export function answerIn(error: unknown): ProviderAnswer | null {
  if (RetryError.isInstance(error)) return answerIn(error.lastError);
  if (StreamProviderError.isInstance(error))
    return { status: error.statusCode, error: readProviderError(error.data ?? error.message, true) ?? undefined };
  if (APICallError.isInstance(error)) return fromCall(error);
  return error instanceof Error ? fromSdk(error) : null;
}

function fromCall({ statusCode: status, responseHeaders = {}, responseBody = '' }: APICallError): ProviderAnswer | null {
  if (status === undefined || status < 300) return null;
  const error = responseBody === '' ? null : readProviderError(parseJson(responseBody) ?? responseBody, true);
  return { status, headers: lowerCase(responseHeaders), error: error ?? undefined };
}

/** Errors of the SDKs have these fields; a status alone is not enough, because errors of other services have one too. */
function fromSdk(error: Error): ProviderAnswer | null {
  const [status, headers, body] = ['status', 'headers', 'error'].map((name): unknown => Reflect.get(error, name));
  const isSdk = typeof status === 'number' && ((isHeaders(headers) && 'error' in error) || error.name === 'ApiError');
  if (!isSdk) return null;
  const read = readProviderError(body ?? textOf(error.message), true);
  return { status, headers: isHeaders(headers) ? lowerCase(entriesOf(headers)) : {}, error: read ?? undefined };
}

/** The SDK of Google has the body in the message only; others put the status before it. */
function textOf(message: string): unknown {
  return parseJson(message) ?? message;
}

function isHeaders(headers: unknown): headers is object {
  return typeof headers === 'object' && headers !== null;
}

function entriesOf(headers: object): HeaderValues {
  const entries: Iterable<[string, unknown]> = headers instanceof Headers ? headers : Object.entries(headers);
  return Object.fromEntries([...entries].map(([name, value]) => [name, typeof value === 'string' ? value : undefined]));
}

function lowerCase(headers: HeaderValues): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name.toLowerCase(), value] as const])),
  );
}
