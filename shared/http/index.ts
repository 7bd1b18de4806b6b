/**
 * The HTTP server that every service shares: routes with their schemas, authentication, bounds on bodies and streams, problems, OpenAPI
 * and probes.
 */
export { assertMethodAllowed, readsOnly } from './allowed-methods.ts';
export { secretOf } from './authentication.ts';
export {
  type JsonBounds,
  assertBodyBounds,
  assertFormBounds,
  inexactRequest,
  isFormType,
  parseBoundedJson,
  parseSafeJson,
} from './bodies/parse-bounded-json.ts';
export { readRawBody } from './bodies/read-bytes.ts';
export { createRouter } from './create-router.ts';
export type { EventStream } from './event-stream.ts';
export { countSchema, invalidRequest, onlyNewHeadersSchema, pageLimitSchema, problemsOf, withoutNulls } from './parse-input.ts';
export { refuseSocket, requestError, sendProblem, toMusterError, toProblem } from './problems.ts';
export type { Readiness } from './probes.ts';
export { RefusalLimit, createRateLimit, isLoopback, networkOf } from './rate-limits.ts';
export { type ServerLoad, contextOf, createServerLoad, logFailure } from './request-context.ts';
export {
  type Answer,
  type Call,
  type RequestSchemas,
  type Route,
  type RouteDescription,
  type RouteOptions,
  rememberRoutes,
  route,
} from './route.ts';
export { SharedCalls } from './shared-calls.ts';
export { streamSchema } from './openapi/stream-schema.ts';
export { HostCookie, SignIns, assertSameOrigin } from './sign-ins.ts';
export { type HttpServer, type HttpServerOptions, startHttpServer, type UpgradeHandler } from './start-http-server.ts';
