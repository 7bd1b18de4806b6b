import type { RequestHandler, Request, Response } from 'express';
import helmet from 'helmet';
import { Histogram, type Registry } from 'prom-client';
import type { Log } from '../log/index.ts';
import { traceIdOf } from '../tasks/index.ts';
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
  return helmet({
    contentSecurityPolicy: { useDefaults: false, directives },
    referrerPolicy: { policy: 'no-referrer' },
    xFrameOptions: { action: 'deny' },
  });
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
    response.set('X-Request-Id', traceIdOf(context.traceparent));
    response.once('close', () => {
      const durationMs = performance.now() - startedAt;
      const labels = { method: request.method, route: context.route ?? 'other', status: response.statusCode };
      durations.observe(labels, durationMs / 1000);
      report(request, response, context, durationMs);
    });
    next();
  };
}

function report(request: Request, response: Response, context: RequestContext, durationMs: number): void {
  const [path = ''] = request.originalUrl.split('?');
  const line = {
    event: 'http.request',
    method: request.method,
    path: path.slice(0, 500),
    status: response.statusCode,
    durationMs: Math.round(durationMs * 10) / 10,
    ...(context.tenant === null ? {} : { tenant: context.tenant }),
    ...(response.writableFinished ? {} : { isCut: true }),
  };
  if (QUIET.has(path)) context.log.trace(line, 'request');
  else if (response.statusCode >= 500) context.log.warn(line, 'request failed');
  else context.log.info(line, 'request');
}
