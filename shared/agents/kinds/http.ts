import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { Headers, type Response } from 'undici';
import type { AgentContext, AgentResult, AgentTask } from '../../config/index.ts';
import { TaskFailure } from '../../errors/index.ts';
import { NO_ERROR, parseJson, readProviderError } from '../../providers/index.ts';
import { wellFormed } from '../../text/index.ts';
import { type Clock, systemClock } from '../../time/index.ts';
import type { AgentRun, DefinitionOf, KindOfAgent } from '../agent-kind.ts';
import { createGuardedFetch, type GuardedFetch } from '../guarded-fetch.ts';
import { failureFromNetwork, failureFromStatus } from '../network-failures.ts';
import { parseAgentAnswer, readHttpEvents } from '../read-agent-answer.ts';
import { createSecretRedactor, type Redactor } from '../redactor.ts';

/** Agents behind an HTTP endpoint. */
export const http: KindOfAgent<DefinitionOf<'http'>> = {
  openRunner: ({ allowNetworks, maxResponseBytes, clock = systemClock }) => {
    const fetch = createGuardedFetch({ allowNetworks, maxResponseBytes });
    return (run) => runHttp(run, { fetch, clock });
  },
  check: ({ secret }) => {
    if (secret !== undefined) signHttpTask(secret, { id: 'check', body: '', nowMs: 0 });
  },
  secretsOf: ({ secret, headers = {} }) => [secret, ...Object.values(headers)],
};

interface HttpOptions {
  readonly fetch: GuardedFetch;
  readonly clock: Clock;
}

/** Headers of the connection, which an agent's own must not replace. */
const CONNECTION_HEADERS = [
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

/**
 * POSTs `{ task, attempt, history, attachments, artifactsUrl, traceparent }` as JSON to the agent's URL, signed by Standard Webhooks when it has a secret. `history`
 * has the session's earlier turns, oldest first: `[{ taskId, input, output }]`; `attachments` has files of the task with addresses that open
 * them, `[{ name, mediaType, bytes, url }]`; `checkpoint` and `resumed` are what earlier attempts left, and what the run waited for last; what is PUT to `<artifactsUrl>/<name>` while the attempt runs becomes an artifact. The answer is JSON, `{ output?, result?, usage? }`, a
 * stream of server-sent events (see `readHttpEvents`), or 204. Fails as `failureFromStatus` says; with PERMISSION_DENIED for an address
 * that is not public; NETWORK_ERROR for a connection that is refused or cut; OUTPUT_TOO_LARGE for a body over the limit; AGENT_ERROR for an
 * answer in no such form. The task is held while the circuit of the agent and the endpoint is open.
 */
export async function runHttp(run: AgentRun<DefinitionOf<'http'>>, options: HttpOptions): Promise<AgentResult> {
  const { signal } = run.context;
  signal.throwIfAborted();
  const redact = createSecretRedactor(http.secretsOf(run.definition, () => undefined));
  return await run.requests.send({
    url: run.definition.url,
    signal,
    run: (onPart) => request(run, { ...options, redact, onPart }),
    failureOf: (error) => failureFromNetwork(error, redact),
  });
}

interface RequestOptions extends HttpOptions {
  readonly redact: Redactor;
  /** Called with each part of an answer. */
  readonly onPart: () => void;
}

async function request(run: AgentRun<DefinitionOf<'http'>>, options: RequestOptions): Promise<AgentResult> {
  // An answer that is not read to its end must not keep its connection.
  const leaving = new AbortController();
  try {
    const response = await post(run, options, AbortSignal.any([run.context.signal, leaving.signal]));
    if (!response.ok) throw await describeFailure(response, options);
    options.onPart();
    return await readAnswer(response, run.context, options.onPart);
  } finally {
    leaving.abort();
  }
}

async function post(
  { task, token, definition, context, files, checkpoint }: AgentRun<DefinitionOf<'http'>>,
  { fetch, clock }: HttpOptions,
  signal: AbortSignal,
): Promise<Response> {
  const { traceparent } = context.trace;
  const attachments = await Promise.all(
    context.attachments.map(async ({ name, mediaType, bytes, url }) => ({ name, mediaType, bytes, url: await url() })),
  );
  const artifactsUrl = files?.uploadUrl === undefined ? {} : { artifactsUrl: await files.uploadUrl() };
  const history = (await context.history()).map(({ taskId, input, output }) => ({ taskId, input, output }));
  const left = checkpoint === undefined ? {} : { checkpoint: checkpoint.text, resumed: parseJson(checkpoint.resumed ?? '') ?? null };
  const body = JSON.stringify(wellFormed({ ...describeTask(task), history, attachments, ...artifactsUrl, ...left, traceparent }));
  const headers = readHeaders(definition.headers ?? {});
  const key = checkpoint === undefined ? {} : { 'muster-attempt-key': checkpoint.key };
  const own = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', traceparent };
  const id = `${task.id}-${task.attempt}-${token}`;
  const signature = definition.secret === undefined ? {} : signHttpTask(definition.secret, { id, body, nowMs: clock.now() });
  for (const [name, value] of Object.entries({ ...own, ...key, ...signature })) headers.set(name, value);
  return await fetch(definition.url, { method: 'POST', headers, body, signal });
}

function describeTask({ attempt, ...task }: AgentTask): object {
  const { id, tenant, agent, input, system, session, source, visitor, context, metadata, correlationId } = task;
  return { task: { id, tenant, agent, input, system, session, source, visitor, context, metadata, correlationId }, attempt };
}

function readHeaders(given: Record<string, string>): Headers {
  try {
    const headers = new Headers(given);
    for (const name of CONNECTION_HEADERS) headers.delete(name);
    return headers;
  } catch (cause) {
    throw new TaskFailure('INVALID_INPUT', 'The agent\'s "headers" cannot be sent', { cause });
  }
}

async function readAnswer(response: Response, context: AgentContext, onPart: () => void): Promise<AgentResult> {
  if (response.status === 204 || response.body === null) return {};
  const type = response.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() ?? '';
  if (type === 'text/event-stream') return await readHttpEvents(observeParts(response.body, onPart), context);
  if (type === 'application/json' || type.endsWith('+json')) return parseAgentAnswer(await text(observeParts(response.body, onPart)));
  throw new TaskFailure('AGENT_ERROR', `The endpoint answered with "${type}" instead of application/json or text/event-stream`);
}

async function* observeParts(body: AsyncIterable<Uint8Array>, onPart: () => void): AsyncGenerator<Uint8Array> {
  for await (const part of body) {
    onPart();
    yield part;
  }
}

async function describeFailure(response: Response, { clock, redact }: RequestOptions): Promise<TaskFailure> {
  // The status is enough when the text does not arrive or is too long.
  const message = await response.text().then(redact, () => '');
  const error = message === '' ? NO_ERROR : { ...(readProviderError(parseJson(message) ?? message, true) ?? NO_ERROR), message };
  return failureFromStatus({ status: response.status, headers: Object.fromEntries(response.headers), error, nowMs: clock.now() });
}

interface MessageToSign {
  /** Unique per attempt: a receiver that drops repeated ids must not drop a retry. */
  readonly id: string;
  readonly body: string;
  /** Now, in milliseconds since the epoch. */
  readonly nowMs: number;
}

/** The three headers of Standard Webhooks. Throws INVALID_INPUT when the secret is not base64. */
function signHttpTask(secret: string, { id, body, nowMs }: MessageToSign): Record<string, string> {
  const at = new Date(nowMs);
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(nowMs / 1000)),
    'webhook-signature': readSecret(secret).sign(id, at, body),
  };
}

function readSecret(secret: string): Webhook {
  try {
    return new Webhook(secret);
  } catch {
    // Without the cause, whose text might quote the secret.
    throw new TaskFailure('INVALID_INPUT', 'The agent\'s "secret" is not a Standard Webhooks secret (base64, with or without "whsec_")');
  }
}
