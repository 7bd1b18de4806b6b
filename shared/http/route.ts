import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { z } from 'zod';
import type { ErrorCode } from '../errors/index.ts';
import type { Log } from '../log/index.ts';
import type { ApiKey, Scope } from '../tenants/index.ts';
import type { EventStream } from './answers/event-stream.ts';
import type { Request, Router } from 'express';

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/**
 * What a request has to look like; what does not fit answers 422 `request.invalid`. A part without a schema is not read, and a query without
 * one is empty.
 */
export interface RequestSchemas {
  params?: z.ZodType;
  query?: z.ZodType;
  /** JSON. Make it optional where a request may come without a body. */
  body?: z.ZodType;
  /** Names in lower case. */
  headers?: z.ZodType;
}

export type Input<Schemas extends RequestSchemas> = {
  [Part in keyof Schemas]: Schemas[Part] extends z.ZodType ? z.output<Schemas[Part]> : undefined;
};

/** Who calls, and what a handler may need of the connection. */
export interface Call {
  /** The tenant of the key; empty for a route without a key. */
  readonly tenant: string;
  /** Null for a route without a key. */
  readonly key: ApiKey | null;
  readonly log: Log;
  readonly headers: IncomingHttpHeaders;
  /** Where the request came from; a proxy's word counts where `MUSTER_TRUST_PROXY` says so. */
  readonly address: string | undefined;
  /** W3C trace context of this request. */
  readonly traceparent: string;
  /**
   * The body as it comes, of a route that `takesFile`. Errors while it is read: `request.too-large`, `request.timeout`, `request.malformed`,
   * `request.unsupported-media-type`.
   */
  readFile(maxBytes: number): AsyncIterable<Buffer>;
  /** Whether the key that the request came with would still be accepted: for a handler that waits. */
  isStillAdmitted(): Promise<boolean>;
  /**
   * Serves another route to the same caller, as if it had sent this as a request of its own: with the scope, the schemas, the bounds and the entry
   * in the audit log of that route. For protocols whose messages say what to do. Errors: `auth.forbidden`, `request.invalid`, those of the route.
   */
  forward(to: Route, sent: SentParts): Promise<Answer>;
  /** Aborts when the caller went away or the server closes. */
  readonly signal: AbortSignal;
}

/** The parts of a request by which another protocol calls a route. */
export interface SentParts {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export interface Answer {
  status: number;
  /** JSON; absent or null for no body. */
  body?: unknown;
  headers?: Record<string, string>;
  /** Instead of a body: the bytes of a file. */
  stream?: Readable;
  /** Instead of a body: writes server-sent events. The stream ends when it resolves, and is cut when it rejects. */
  events?: (stream: EventStream) => Promise<void>;
  /** Instead of a body: comes to one that may take long. The status of an answer counts only where that comes soon. */
  awaited?: (gone: AbortSignal) => Promise<Answer>;
  /** Whether the writer of the events sends its own comments on a quiet stream. */
  hasOwnComments?: boolean;
}

/** An endpoint as the documentation shows it. An endpoint that reads its requests itself, and so is no `Route`, has a description too. */
export interface RouteDescription {
  method: Method;
  /** As Express writes it: `/v1/tasks/:id`. */
  path: string;
  /** Names it for generated clients and never changes: `submitTask`. */
  operationId: string;
  /** One sentence for the documentation. */
  summary: string;
  description?: string;
  /** Groups routes in the documentation; by default the word after `/v1/`. */
  tag?: string;
  /** What the caller's key must be allowed; `none` needs no key. */
  scope: Scope | 'none';
  /** Whether a visitor's token will do as well, where `:id` is its session. */
  forVisitors?: boolean;
  request?: RequestSchemas;
  /** In which forms a body may come; by default `application/json`. */
  bodyMedia?: readonly string[];
  /** Status and schema of each answer that is not a problem; `z.null()` for one without a body. */
  responses: Record<number, z.ZodType>;
  /** What the answers are; by default `application/json`. */
  media?: string;
  /** A request and answers by status as they were, for the documentation; without them it makes some of the schemas. */
  examples?: { readonly request?: unknown; readonly answers: Readonly<Record<string, unknown>> };
  /** Codes that it may answer with, besides those of any route with such a key and such a request. */
  errors?: readonly ErrorCode[];
  /** Statuses of problems that say something of their own here, each with what it means. */
  problems?: Record<number, string>;
}

export interface RouteOptions<Schemas extends RequestSchemas> extends RouteDescription {
  request?: Schemas;
  /** By default `http.maxBodyBytes` of the configuration. */
  maxBodyBytes?: number;
  /**
   * Whether a number that would lose digits refuses only the part of the body that it is in: the handler finds it there by `findRaw`. By
   * default it refuses the request.
   */
  keepsDigits?: boolean;
  /** Whether the body is a file, which the handler reads; its schema is for the documentation. */
  takesFile?: boolean;
  /** Whether it computes for long although it only reads: a key has one such call at a time. */
  isCostly?: boolean;
  /** Whether calls are entries of the audit log: by default those that change something, `work` only where `audit.work` says so. */
  audit?: 'work' | 'never';
  /** Whether an access token of the identity provider will do as well as a key, where its router takes them. */
  takesAccessTokens?: boolean;
  /** What `WWW-Authenticate` of its 401 says, for callers that find their way in by it; by default that it takes a key. */
  challenge?: (request: Request) => string;
  handle(input: Input<Schemas>, call: Call): Promise<Answer> | Answer;
}

/** An endpoint, described once for the router and for the documentation. */
export type Route = RouteOptions<RequestSchemas>;

/** Makes a route; its handler's input has the types of its schemas. */
export function route<const Schemas extends RequestSchemas>(options: RouteOptions<Schemas>): Route {
  return options;
}

const known = new WeakMap<object, readonly RouteDescription[]>();

/** Notes what a router itself serves, besides the routers mounted in it, for the documentation. */
export function rememberRoutes(router: Router, routes: readonly RouteDescription[]): void {
  known.set(router, routes);
}

/** The described routes of a router and of the routers mounted in it. */
export function routesOf(router: Router): RouteDescription[] {
  const mounted = router.stack.map((layer) => layer.handle).filter(isRouter);
  return [...(known.get(router) ?? []), ...mounted.flatMap((each) => routesOf(each))];
}

export function isRouter(handle: unknown): handle is Router {
  return typeof handle === 'function' && 'stack' in handle && Array.isArray(handle.stack);
}
