import type { Request, Response } from 'express';
import { parseTraceparent, type Span, type Traces } from '../log/index.ts';
import { publicTenantId } from '../tenants/index.ts';
import type { RequestContext } from './request-context.ts';

interface Served {
  readonly request: Request;
  readonly response: Response;
  /** With the route, which names the span. */
  readonly context: RequestContext;
}

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Serves a request as a span, which ends with the answer: it stands below the caller's, or begins a trace. What only reads is one where the caller asks for
 * it, because pages and programs read every few seconds.
 */
export async function serveAsSpan(traces: Traces | undefined, served: Served, serve: () => Promise<void>): Promise<void> {
  const { request, response, context } = served;
  const parent = request.get('traceparent') ?? null;
  if (traces === undefined || (READS.has(request.method) && !parseTraceparent(parent ?? '')?.isSampled)) return await serve();
  const { method } = request;
  const span = traces.enter(`${method} ${context.route ?? ''}`, {
    parent,
    as: context.traceparent,
    kind: 'server',
    attributes: { 'http.request.method': method, 'http.route': context.route ?? '' },
  });
  context.traceparent = span.traceparent;
  if (span.isRecorded) response.once('close', () => endSpan(span, response, context));
  await span.run(serve);
}

function endSpan(span: Span, { statusCode }: Response, { tenant }: RequestContext): void {
  span.set({ 'http.response.status_code': statusCode, 'muster.tenant': tenant === null ? undefined : publicTenantId(tenant) });
  if (statusCode >= 500) span.fail(`${statusCode}`);
  span.end();
}
