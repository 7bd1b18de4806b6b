import { Headers, type Response } from 'undici';
import type { AgentResult, AgentTask } from '../config/index.ts';
import { TaskFailure } from '../errors/index.ts';
import type { Clock } from '../time/index.ts';
import type { DefinitionOf } from './agent-definition-of.ts';
import type { AgentRun } from './agent-runner.ts';
import type { GuardedFetch } from './create-guarded-fetch.ts';
import { createSecretRedactor, type Redactor } from './create-hider.ts';
import { failureFromNetwork } from './failure-from-network.ts';
import { failureFromStatus } from './failure-from-status.ts';
import { parseAgentAnswer } from './read-agent-answer.ts';
import { readHttpEvents } from './read-http-events.ts';
import { signHttpTask } from './sign-http-task.ts';

export interface HttpOptions {
  readonly fetch: GuardedFetch;
  readonly clock: Clock;
}

/** Headers that belong to the connection, which an agent's own ones must not bend. */
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
 * POSTs `{ task, attempt, history, traceparent }` as JSON to the agent's URL, signed by Standard Webhooks when it has a secret;
 * `history` has the session's earlier turns, oldest first: `[{ taskId, input, output }]`.
 * The answer is JSON, `{ output?, result?, usage? }`, a stream of server-sent events (see `readHttpEvents`), or 204.
 * Fails as `failureFromStatus` says; with PERMISSION_DENIED for an address that is not public; NETWORK_ERROR for a
 * connection that is refused or cut; OUTPUT_TOO_LARGE for a body over the limit; AGENT_ERROR for an answer in no such form.
 */
export async function runHttp(run: AgentRun<DefinitionOf<'http'>>, options: HttpOptions): Promise<AgentResult> {
  const { signal } = run.context;
  signal.throwIfAborted();
  // An answer that is left before its end must not keep its connection.
  const request = new AbortController();
  const hide = createSecretRedactor([run.definition.secret, ...Object.values(run.definition.headers ?? {})]);
  try {
    const response = await post(run, options, AbortSignal.any([signal, request.signal]));
    if (!response.ok) throw await describeFailure(response, options.clock, hide);
    return await readAnswer(response, run);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw failureFromNetwork(error, hide);
  } finally {
    request.abort();
  }
}

async function post(
  { task, definition, context }: AgentRun<DefinitionOf<'http'>>,
  { fetch, clock }: HttpOptions,
  signal: AbortSignal,
): Promise<Response> {
  const { traceparent } = context.trace;
  const body = JSON.stringify({ ...describeTask(task), history: await context.history(), traceparent });
  const headers = readHeaders(definition.headers ?? {});
  const own = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', traceparent };
  const signature =
    definition.secret === undefined ? {} : signHttpTask(definition.secret, { id: `${task.id}-${task.attempt}`, body, nowMs: clock.now() });
  for (const [name, value] of Object.entries({ ...own, ...signature })) headers.set(name, value);
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

async function readAnswer(response: Response, { context }: AgentRun<DefinitionOf<'http'>>): Promise<AgentResult> {
  if (response.status === 204 || response.body === null) return {};
  const type = response.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() ?? '';
  if (type === 'text/event-stream') return await readHttpEvents(response.body, context);
  if (type === 'application/json' || type.endsWith('+json')) return parseAgentAnswer(await response.text());
  throw new TaskFailure('AGENT_ERROR', `The endpoint answered with "${type}" instead of application/json or text/event-stream`);
}

async function describeFailure(response: Response, clock: Clock, hide: Redactor): Promise<TaskFailure> {
  // The status says enough when the text of it does not arrive or is too long.
  const message = await response.text().then(hide, () => undefined);
  return failureFromStatus({ status: response.status, header: (name) => response.headers.get(name), message, nowMs: clock.now() });
}
