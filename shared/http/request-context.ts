import type { Request, Response } from 'express';
import { childTraceparent, type Log, traceIdOf, type Traces } from '../log/index.ts';
import type { Settings, Environment } from '../config/index.ts';
import { OpenBodies, OpenStreams } from './server-load.ts';
import type { Keys, RedisClient } from '../redis/index.ts';
import type { ApiKey, Tenant } from '../tenants/index.ts';

/** RequestContext is responsible for what the server knows about a request besides the request. */
export class RequestContext {
  /** W3C trace context of the request: of its span, where it is recorded. */
  traceparent: string;
  readonly trace: string;
  /** What the server that the request came to has open. */
  readonly load: ServerLoad;
  /** The matched route's path, once there is one: for metrics, which cannot take every address. */
  route: string | null = null;
  tenant: string | null = null;
  /** The key that the request came with, also when it is refused; with a person's role. */
  caller: ApiKey | null = null;
  /** Whether the server will write a line about the request once it is over. */
  isWatched = false;
  /** What nobody expected, for that line. */
  failure: unknown;
  readonly #serverLog: Log;
  #log: Log | undefined;

  constructor(traceparent: string, log: Log, load: ServerLoad) {
    this.traceparent = traceparent;
    this.trace = traceIdOf(traceparent);
    this.load = load;
    this.#serverLog = log;
  }

  /** Names the trace in each line. Made on demand: few requests have more to say than that they came. */
  get log(): Log {
    return (this.#log ??= this.#serverLog.child({ trace: this.trace }));
  }
}

/** On the request itself: a weak map would be searched for each request by each collection of garbage. */
const CONTEXT = Symbol('context');

interface Contextual {
  [CONTEXT]?: RequestContext;
}

/** Logs an error that nobody expected, in the one line that the server writes about its request. */
export function logFailure({ req }: Response, error: unknown, log?: Log): void {
  const context = (req as Request & Contextual)[CONTEXT];
  if (context?.isWatched) context.failure = error;
  else log?.error({ event: 'http.failed', err: error }, 'A request failed');
}

/** The request's context, made on first use. */
export function contextOf(request: Request & Contextual, log: Log, load: ServerLoad): RequestContext {
  return (request[CONTEXT] ??= new RequestContext(childTraceparent(request.get('traceparent')), log, load));
}

/** What one server has open for its callers, each within its bounds. */
export interface ServerLoad {
  readonly streams: OpenStreams;
  readonly bodies: OpenBodies;
}

export function createServerLoad(http: Settings['http']): ServerLoad {
  const { maxStreams, maxStreamsPerTenant, maxStreamsPerKey, maxStreamsPerVisitor, awaitedHeadersMs, slowReaderMs, streamCheckMs } = http;
  return {
    streams: new OpenStreams(maxStreams, {
      headersMs: awaitedHeadersMs,
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
  /** Without it requests are no spans. */
  readonly traces?: Traces | undefined;
}
