/**
 * The HTTP server that every service shares: routes with their schemas, authentication, bounds on bodies and streams, problems, OpenAPI
 * and probes.
 */
export { assertSameOrigin } from './sign-ins.ts';
export { createRouter } from './create-router.ts';
export type { EventStream } from './event-stream.ts';
export { networkOf } from './rate-limits.ts';
export { pageLimitSchema } from './parse-input.ts';
export { type JsonBounds, assertBodyBounds, assertFormBounds, isFormType, parseBoundedJson } from './bodies/parse-bounded-json.ts';
export { invalidRequest, problemsOf } from './parse-input.ts';
export { readRawBody } from './bodies/read-body.ts';
export { RefusalLimit } from './rate-limits.ts';
export { contextOf } from './request-context.ts';
export { requestError } from './problems.ts';
export { type Answer, type Call, type Route, type RouteDescription, route } from './route.ts';
export { rememberRoutes } from './route.ts';
export { sendProblem, toMusterError, toProblem } from './problems.ts';
export { type ServerLoad, createServerLoad } from './request-context.ts';
export { SignIns } from './sign-ins.ts';
export { type HttpServer, type HttpServerOptions, startHttpServer } from './start-http-server.ts';
export { withoutNulls } from './bodies/without-nulls.ts';
