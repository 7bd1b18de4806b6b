import type { Request } from 'express';
import type { Log } from '../log/create-log.ts';
import { childTraceparent, traceIdOf } from '../tasks/trace.ts';
import type { OpenStreams } from './open-streams.ts';

/** What the server knows about a request besides the request. */
export interface RequestContext {
  readonly log: Log;
  readonly traceparent: string;
  /** The streams of the server that the request came to. */
  readonly streams: OpenStreams;
  /** The matched route's path, once there is one: for metrics, which cannot take every address. */
  route: string | null;
  tenant: string | null;
}

const contexts = new WeakMap<Request, RequestContext>();

/** The request's context; made now when nobody did before. */
export function contextOf(request: Request, log: Log, streams: OpenStreams): RequestContext {
  const known = contexts.get(request);
  if (known) return known;
  const traceparent = childTraceparent(request.get('traceparent'));
  const context = { log: log.child({ trace: traceIdOf(traceparent) }), traceparent, streams, route: null, tenant: null };
  contexts.set(request, context);
  return context;
}
