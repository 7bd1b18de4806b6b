/**
 * The HTTP server that every service shares: routes with their schemas, authentication, bounds on bodies and streams, problems, OpenAPI
 * and probes.
 */
export { assertSameOrigin } from './assert-same-origin.ts';
export { createRouter } from './create-router.ts';
export type { EventStream } from './event-stream.ts';
export { networkOf } from './network-of.ts';
export { pageLimitSchema } from './page-limit.ts';
export { type JsonBounds, assertBodyBounds, assertFormBounds, isFormType, parseBoundedJson } from './parse-bounded-json.ts';
export { invalidRequest, problemsOf } from './parse-input.ts';
export { readRawBody } from './read-raw-body.ts';
export { RefusalLimit } from './refusal-limit.ts';
export { contextOf } from './request-context.ts';
export { requestError } from './request-error.ts';
export { type Answer, type Call, type Route, type RouteDescription, route } from './route.ts';
export { rememberRoutes } from './routes-of.ts';
export { sendProblem, toMusterError, toProblem } from './send-problem.ts';
export { type ServerLoad, createServerLoad } from './server-load.ts';
export { SignIns } from './sign-ins.ts';
export { type HttpServer, type HttpServerOptions, startHttpServer } from './start-http-server.ts';
export { withoutNulls } from './without-nulls.ts';
