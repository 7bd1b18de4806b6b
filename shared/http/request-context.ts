import type { Request } from 'express';
import type { Log } from '../log/index.ts';
import { childTraceparent, traceIdOf } from '../tasks/index.ts';
import type { Settings, Environment } from '../config/index.ts';
import { OpenBodies, OpenStreams } from './server-load.ts';
import type { Keys, RedisClient } from '../redis/index.ts';
import type { Tenant } from '../tenants/index.ts';

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

/** The request's context, made on first use. */
export function contextOf(request: Request, log: Log, load: ServerLoad): RequestContext {
  const known = contexts.get(request);
  if (known) return known;
  const traceparent = childTraceparent(request.get('traceparent'));
  const context = { log: log.child({ trace: traceIdOf(traceparent) }), traceparent, load, route: null, tenant: null };
  contexts.set(request, context);
  return context;
}

/** What one server has open for its callers, each within its bounds. */
export interface ServerLoad {
  readonly streams: OpenStreams;
  readonly bodies: OpenBodies;
}

export function createServerLoad(http: Settings['http']): ServerLoad {
  const { maxStreams, maxStreamsPerTenant, maxStreamsPerKey, maxStreamsPerVisitor, slowReaderMs, streamCheckMs } = http;
  return {
    streams: new OpenStreams(maxStreams, {
      slowReaderMs,
      checkMs: streamCheckMs,
      perTenant: maxStreamsPerTenant,
      perKey: maxStreamsPerKey,
      perVisitor: maxStreamsPerVisitor,
    }),
    bodies: new OpenBodies({
      maxBytes: http.maxOpenBodyBytes,
      maxBytesPerAddress: http.maxOpenBodyBytesPerAddress,
      idleMs: http.bodyIdleMs,
    }),
  };
}

/** What serving requests needs of a process. */
export interface HttpPorts {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly config: { readonly settings: Settings; readonly env: Pick<Environment, 'MUSTER_PUBLIC_URL'> };
  readonly tenants: { get(id: string): Tenant | null; find(name: string): Tenant | null };
}
