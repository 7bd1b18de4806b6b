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
export type { EventStream } from './answers/event-stream.ts';
export { countSchema, invalidRequest, onlyNewHeadersSchema, pageLimitSchema, problemsOf, withoutNulls } from './parse-input.ts';
export { openaiError } from './answers/openai-errors.ts';
export { refuseSocket, requestError, sendProblem, toMusterError, toProblem } from './answers/problems.ts';
export type { Readiness } from './probes.ts';
export { RefusalLimit, createRateLimit, isLoopback, networkOf } from './rate-limits.ts';
export { type RequestContext, type ServerLoad, contextOf, createServerLoad, logFailure } from './request-context.ts';
export { serveAsSpan } from './request-span.ts';
export {
  type Answer,
  type Call,
  type RequestSchemas,
  type Route,
  type RouteDescription,
  type RouteOptions,
  type SentParts,
  rememberRoutes,
  route,
} from './route.ts';
export { SharedCalls } from './shared-calls.ts';
export { argumentsSchema } from './openapi/arguments-schema.ts';
export type { JsonSchema } from './openapi/complete-document.ts';
export { streamSchema } from './openapi/stream-schema.ts';
export { HostCookie, SignIns, assertOwnOrigin, assertSameOrigin } from './sign-ins.ts';
export { type HttpServer, type HttpServerOptions, startHttpServer, type UpgradeHandler } from './start-http-server.ts';
