import type { Request } from 'express';
import type { Log } from '../log/index.ts';
import { childTraceparent, traceIdOf } from '../tasks/index.ts';
import type { ServerLoad } from './server-load.ts';

/** What the server knows about a request besides the request. */
export interface RequestContext {
  readonly log: Log;
  readonly traceparent: string;
  /** What the server that the request came to has open. */
  readonly load: ServerLoad;
  /** The matched route's path, once there is one: for metrics, which cannot take every address. */
  route: string | null;
  tenant: string | null;
}

const contexts = new WeakMap<Request, RequestContext>();

/** The request's context; made now when nobody did before. */
export function contextOf(request: Request, log: Log, load: ServerLoad): RequestContext {
  const known = contexts.get(request);
  if (known) return known;
  const traceparent = childTraceparent(request.get('traceparent'));
  const context = { log: log.child({ trace: traceIdOf(traceparent) }), traceparent, load, route: null, tenant: null };
  contexts.set(request, context);
  return context;
}
