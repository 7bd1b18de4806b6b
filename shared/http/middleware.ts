import type { RequestHandler, Request, Response } from 'express';
import helmet from 'helmet';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { Histogram, type Registry } from 'prom-client';
import type { Log } from '../log/index.ts';
import { contextOf, type RequestContext, type ServerLoad } from './request-context.ts';

/** Everything from this installation only: pages work offline and contact no other server. */
const STRICT = {
  defaultSrc: ["'self'"],
  baseUri: ["'none'"],
  connectSrc: ["'self'"],
  fontSrc: ["'self'"],
  formAction: ["'self'"],
  frameAncestors: ["'none'"],
  imgSrc: ["'self'", 'data:'],
  objectSrc: ["'none'"],
  scriptSrc: ["'self'"],
  styleSrc: ["'self'"],
};

type Directive = keyof typeof STRICT;

/**
 * Sets the security headers. A mounted page that needs more names its additions per directive, such as `{ styleSrc: ["'unsafe-inline'"] }`,
 * and uses this again in front of itself: the last policy wins.
 */
export function secureHeaders(more: Partial<Record<Directive, string[]>> = {}): RequestHandler {
  const directives: Record<string, string[]> = { ...STRICT };
  for (const [name, added] of Object.entries(more))
    directives[name] = [...(directives[name] ?? []), ...added].filter((source) => source !== "'none'");
  const headers = headersOf(
    helmet({
      contentSecurityPolicy: { useDefaults: false, directives },
      referrerPolicy: { policy: 'no-referrer' },
      xFrameOptions: { action: 'deny' },
    }),
  );
  return (_request, response, next) => {
    response.setHeaders(headers);
    next();
  };
}

type SetsHeaders = (request: IncomingMessage, response: ServerResponse, next: () => void) => void;

/** The headers that a handler sets, where they are the same for each answer: a dozen handlers an answer become one call. */
function headersOf(handle: SetsHeaders): Map<string, string> {
  const request = new IncomingMessage(new Socket());
  const response = new RecordingResponse(request);
  handle(request, response, () => undefined);
  return response.headers;
}

class RecordingResponse extends ServerResponse {
  readonly headers = new Map<string, string>();

  override setHeader(name: string, value: number | string | readonly string[]): this {
    this.headers.set(name, String(value));
    return this;
  }
}

export interface WatchOptions {
  log: Log;
  load: ServerLoad;
  registry: Registry;
}

/** Probes and scrapes come every few seconds and say nothing new; what keeps a process from being ready is logged by itself. */
const QUIET = new Set(['/healthz', '/readyz', '/metrics']);

/**
 * Gives each request its context and trace id (also in the answer, as `X-Request-Id`), and logs and times it when it is
 * over. Neither headers nor the query are logged: both may hold secrets.
 */
export function watchRequests({ log, load, registry }: WatchOptions): RequestHandler {
  const durations = new Histogram({
    name: 'muster_http_request_duration_seconds',
    help: 'Time from a request to the end of its answer.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60],
    registers: [registry],
  });
  return (request, response, next) => {
    const context = contextOf(request, log, load);
    const startedAt = performance.now();
    response.setHeader('X-Request-Id', context.trace);
    context.isWatched = true;
    response.once('close', () => {
      context.isWatched = false;
      const durationMs = performance.now() - startedAt;
      const labels = { method: request.method, route: context.route ?? 'other', status: response.statusCode };
      durations.observe(labels, durationMs / 1000);
      report(log, { request, response, context, durationMs });
    });
    next();
  };
}

interface Served {
  readonly request: Request;
  readonly response: Response;
  readonly context: RequestContext;
  readonly durationMs: number;
}

/** Not with the log of the request, which most requests never need. */
function report(log: Log, { request, response, context, durationMs }: Served): void {
  const [path = ''] = request.originalUrl.split('?');
  const line = {
    event: 'http.request',
    trace: context.trace,
    method: request.method,
    path: path.slice(0, 500),
    status: response.statusCode,
    durationMs: Math.round(durationMs * 10) / 10,
    ...(context.tenant === null ? {} : { tenant: context.tenant }),
    ...(response.writableFinished ? {} : { isCut: true }),
  };
  if (QUIET.has(path)) log.trace(line, 'request');
  else if (context.failure !== undefined) log.error({ ...line, err: context.failure }, 'request failed');
  else if (response.statusCode >= 500) log.warn(line, 'request failed');
  else log.info(line, 'request');
}
