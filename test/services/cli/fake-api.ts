import type { IncomingMessage, ServerResponse } from 'node:http';
import { startFakeHttpEndpoint, type FakeHttpEndpoint } from '../../support/fake-http-endpoint.ts';

export const TASK_ID = '01JQZX5M8Q2V7W3K4N6P9R0T1S';

/** A record as the API writes it. */
export function record(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    id: TASK_ID,
    tenant: 'default',
    agent: 'echo',
    source: 'api',
    session: null,
    status: 'completed',
    priority: 8,
    queue: 'tasks',
    input: 'Hello',
    output: 'Hello you',
    error: null,
    attempt: 1,
    outcome: null,
    usage: null,
    worker: 'w1',
    createdAt: '2026-01-01T00:00:00.000Z',
    startedAt: '2026-01-01T00:00:01.000Z',
    completedAt: '2026-01-01T00:00:02.500Z',
    ...changes,
  };
}

export function answer(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'Content-Type': status >= 400 ? 'application/problem+json' : 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

export function event(name: string, data: unknown, id?: string): string {
  return `event: ${name}\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`;
}

export function openStream(response: ServerResponse): void {
  response.writeHead(200, { 'Content-Type': 'text/event-stream' });
}

type Handler = (response: ServerResponse, request: IncomingMessage) => void;

/**
 * A server with as much of the API as a test needs. By default a sent task writes "Hello you" and completes.
 * Keys of `handlers` are `METHOD /path`, without the query.
 */
export function startFakeApi(handlers: Record<string, Handler> = {}): Promise<FakeHttpEndpoint> {
  const routes: Record<string, Handler> = {
    'POST /v1/tasks': (response) =>
      answer(response, 202, { id: TASK_ID, status: 'queued', position: 0, estimatedStartMs: 0, pressure: 'normal' }),
    [`GET /v1/tasks/${TASK_ID}`]: (response) => answer(response, 200, record()),
    [`GET /v1/tasks/${TASK_ID}/stream`]: (response) => {
      openStream(response);
      response.write(event('status', { status: 'running' }));
      response.write(event('output', { attempt: 1, seq: 1, text: 'Hello ' }, '1-0'));
      response.write(event('output', { attempt: 1, seq: 2, text: 'you' }, '2-0'));
      response.end(event('end', { status: 'completed' }));
    },
    ...handlers,
  };
  return startFakeHttpEndpoint((response, request) => {
    const [path = ''] = (request.url ?? '').split('?');
    const handle = routes[`${request.method ?? ''} ${path}`];
    if (handle) handle(response, request);
    else answer(response, 404, { code: 'request.not-found', detail: 'There is nothing at this address' });
  });
}
