import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { z } from 'zod';
import type { ErrorCode } from '../errors/index.ts';
import type { Log } from '../log/index.ts';
import type { ApiKey, Scope } from '../tenants/index.ts';
import type { EventStream } from './event-stream.ts';
import type { Router } from 'express';

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

export type Input<Request extends RequestSchemas> = {
  [Part in keyof Request]: Request[Part] extends z.ZodType ? z.output<Request[Part]> : undefined;
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
  /** Aborts when the caller went away or the server closes. */
  readonly signal: AbortSignal;
}

export interface Answer {
  status: number;
  /** JSON; absent or null for no body. */
  body?: unknown;
  headers?: Record<string, string>;
  /** Instead of a body: the bytes of a file. */
  stream?: Readable;
  /** Instead of a body: writes server-sent events. The stream ends when it resolves. */
  events?: (stream: EventStream) => Promise<void>;
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

export interface RouteOptions<Request extends RequestSchemas> extends RouteDescription {
  request?: Request;
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
  handle(input: Input<Request>, call: Call): Promise<Answer> | Answer;
}

/** An endpoint, described once for the router and for the documentation. */
export type Route = RouteOptions<RequestSchemas>;

/** Makes a route; its handler's input has the types of its schemas. */
export function route<const Request extends RequestSchemas>(options: RouteOptions<Request>): Route {
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
