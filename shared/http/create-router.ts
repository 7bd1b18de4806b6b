import { Router, type Request, type Response } from 'express';
import { ERROR_CODES } from '../errors/index.ts';
import type { Log, Traces } from '../log/index.ts';
import type { ApiKey } from '../tenants/index.ts';
import { type AccessTokenReader, assertScope, Authenticator } from './authentication.ts';
import { sendAwaited } from './answers/awaited-answer.ts';
import { sendEvents } from './answers/event-stream.ts';
import type { OpenPlace } from './answers/open-answer.ts';
import { contextOf, createServerLoad, type HttpPorts, type RequestContext, type ServerLoad } from './request-context.ts';
import { parseInput } from './parse-input.ts';
import { readBody, type BodyBounds } from './bodies/read-body.ts';
import { CostlyCalls } from './costly-calls.ts';
import { dropBody, streamBody } from './bodies/stream-body.ts';
import { pipeline } from 'node:stream/promises';
import type { Readable } from 'node:stream';
import { type Answer, type Call, rememberRoutes, type RequestSchemas, type Route, type SentParts } from './route.ts';
import { serveAsSpan } from './request-span.ts';
import { sendProblem, toMusterError } from './answers/problems.ts';
import { RequestAudit } from './request-audit.ts';

export interface RouterOptions {
  parts: HttpPorts;
  routes: readonly Route[];
  log: Log;
  /** Who comes with an access token of the identity provider; by default nobody does. */
  accessTokens?: AccessTokenReader | undefined;
  /** Whether the OpenAPI document has them; by default it does. */
  isDocumented?: boolean;
}

/**
 * Serves routes: key and scope, limits, body, schemas, handler, answer; every error becomes a problem.
 * Only the routes' own paths are touched; what it does not know goes to the next router.
 */
export function createRouter(options: RouterOptions): Router {
  const { routes, parts, log, accessTokens, isDocumented = true } = options;
  const { traces } = parts;
  const { settings } = parts.config;
  const router = Router();
  const authenticator = new Authenticator(parts, accessTokens);
  const audit = new RequestAudit({ ...parts, log });
  // Used only where a router is mounted without the server, which has its own for all of them.
  const load = createServerLoad(settings.http);
  const costly = new CostlyCalls();
  for (const each of routes) {
    const bounds = each.request?.body && each.takesFile !== true ? bodyBounds(each, settings.http) : null;
    router[each.method](each.path, (request, response) =>
      serveRoute(each, { bounds, authenticator, audit, log, load, costly, traces }, { request, response }),
    );
  }
  if (isDocumented) rememberRoutes(router, routes);
  return router;
}

interface RouteServing {
  /** Null for a route that reads no body. */
  readonly bounds: BodyBounds | null;
  readonly authenticator: Authenticator;
  readonly audit: RequestAudit;
  readonly log: Log;
  readonly load: ServerLoad;
  readonly costly: CostlyCalls;
  readonly traces: Traces | undefined;
}

interface Exchange {
  readonly request: Request;
  readonly response: Response;
}

async function serveRoute(each: Route, serving: RouteServing, exchange: Exchange): Promise<void> {
  const { log, load, traces } = serving;
  const context = contextOf(exchange.request, log, load);
  context.route = each.path;
  await serveAsSpan(traces, { ...exchange, context }, () => answerRoute(each, serving, exchange, context));
}

async function answerRoute(each: Route, serving: RouteServing, exchange: Exchange, context: RequestContext): Promise<void> {
  const { bounds, authenticator, audit } = serving;
  const { request, response } = exchange;
  try {
    const key = await authenticator.authenticate(request, each, context);
    context.tenant = key?.tenant ?? null;
    // After the key: no body is read for a caller without one.
    if (bounds) await readBody(request, response, bounds, context.load.bodies);
    const input = parseInput(schemasOf(each), request);
    const forward = (to: Route, sent: SentParts): Promise<Answer> => serveForwarded(to, serving, { request, context, key, call }, sent);
    const call: RequestCall = new RequestCall({ ...exchange, context, key, authenticator, forward });
    const answer = await handle(each, serving, input, call);
    await audit.recordAnswer({ route: each, request, own: context.caller, key }, answer);
    const { streams } = context.load;
    const place = { streams, hasOwnComments: answer.hasOwnComments ?? false, ...readerOf(authenticator, request, key) };
    await send(exchange, answer, place);
  } catch (error) {
    await audit.recordProblem({ route: each, request, own: context.caller, key: context.caller }, error);
    if (each.takesFile === true) dropBody(request);
    refuse(each, exchange, { error, log: context.log });
  }
}

function refuse({ challenge }: Route, { request, response }: Exchange, { error, log }: { error: unknown; log: Log }): void {
  const { status } = ERROR_CODES[toMusterError(error).code];
  if (challenge && status === 401) response.set('WWW-Authenticate', challenge(request));
  sendProblem(response, error, log);
}

interface Forwarding {
  readonly request: Request;
  readonly context: RequestContext;
  readonly key: ApiKey | null;
  readonly call: Call;
}

/** Serves a route within a request of another: the request was counted and its body bounded, all else is as if it had come to the route itself. */
async function serveForwarded(
  to: Route,
  serving: RouteServing,
  { request, context, key, call }: Forwarding,
  sent: SentParts,
): Promise<Answer> {
  const { params = {}, query = {}, headers = {}, body } = sent;
  const audited = { route: to, request: { params, body, ip: request.ip, headers: request.headers }, own: context.caller };
  try {
    if (key !== null && to.scope !== 'none') assertScope(key, to.scope);
    const input = parseInput(schemasOf(to), { method: to.method.toUpperCase(), params, query, headers, body });
    const answer = await handle(to, serving, input, call);
    await serving.audit.recordAnswer({ ...audited, key }, answer);
    return answer;
  } catch (error) {
    await serving.audit.recordProblem({ ...audited, key: context.caller }, error);
    throw error;
  }
}

async function send({ request, response }: Exchange, answer: Answer, place: OpenPlace): Promise<void> {
  if (answer.stream) await sendStream(response, answer, answer.stream);
  else if (answer.events) await sendEvents(request, response, place, answer.events);
  else if (answer.awaited) await sendAwaited(response, place, answer.awaited, (ended) => sendAnswer(response, ended));
  else sendAnswer(response, answer);
}

async function handle(each: Route, { costly }: RouteServing, input: Parameters<Route['handle']>[0], call: Call): Promise<Answer> {
  if (each.isCostly !== true) return await each.handle(input, call);
  return await costly.run(call.key?.id ?? '', () => each.handle(input, call));
}

function schemasOf({ request = {}, takesFile }: Route): RequestSchemas {
  if (takesFile !== true) return request;
  const { body: _file, ...schemas } = request;
  return schemas;
}

/** How long the reader of a file may leave what was written unread. */
const SLOW_READER_MS = 30_000;

/** A route that takes a larger body takes as many more values in it. */
function bodyBounds({ maxBodyBytes, keepsDigits = false }: Route, http: HttpPorts['config']['settings']['http']): BodyBounds {
  const maxBytes = maxBodyBytes ?? http.maxBodyBytes;
  const factor = Math.max(1, maxBytes / http.maxBodyBytes);
  return { maxBytes, keepsDigits, maxDepth: http.maxBodyDepth, maxValues: Math.ceil(http.maxBodyValues * factor) };
}

interface CallOptions extends Exchange {
  readonly context: RequestContext;
  readonly key: Call['key'];
  readonly authenticator: Authenticator;
  readonly forward: Call['forward'];
}

class RequestCall implements Call {
  readonly tenant: string;
  readonly key: Call['key'];
  readonly log: Log;
  readonly headers: Call['headers'];
  readonly address: string | undefined;
  readonly traceparent: string;
  readonly forward: Call['forward'];
  readonly #response: Response;
  readonly #request: Request;
  readonly #idleMs: number;
  readonly #isStillAdmitted: () => Promise<boolean>;
  readonly #closing: AbortSignal;

  constructor({ request, response, context, key, authenticator, forward }: CallOptions) {
    this.tenant = key?.tenant ?? '';
    this.key = key;
    this.log = context.log;
    this.headers = request.headers;
    this.address = request.ip;
    this.traceparent = context.traceparent;
    this.forward = forward;
    this.#response = response;
    this.#request = request;
    this.#idleMs = context.load.bodies.idleMs;
    this.#isStillAdmitted = () => (key === null ? Promise.resolve(true) : authenticator.isStillAdmitted(request, key));
    this.#closing = context.load.streams.closing;
  }

  readFile(maxBytes: number): AsyncIterable<Buffer> {
    return streamBody(this.#request, { maxBytes, idleMs: this.#idleMs });
  }

  isStillAdmitted(): Promise<boolean> {
    return this.#isStillAdmitted();
  }

  /** Made on demand: few handlers wait for anything. */
  get signal(): AbortSignal {
    const gone = new AbortController();
    if (this.#response.closed) gone.abort();
    else this.#response.once('close', () => gone.abort());
    return AbortSignal.any([gone.signal, this.#closing]);
  }
}

/** While a stream lasts, its key must still be allowed to open it; it counts for its key and its tenant. */
function readerOf(authenticator: Authenticator, request: Request, key: ApiKey | null): Pick<OpenPlace, 'mayStay' | 'owner'> {
  if (key === null) return {};
  const owner = { tenant: key.tenant, key: key.id, isVisitor: key.session !== undefined };
  return { owner, mayStay: () => authenticator.isStillAdmitted(request, key) };
}

/** A reader that went away, or that reads nothing for so long, ends the stream; that is no failure of ours. */
async function sendStream(response: Response, { status, headers }: Answer, stream: Readable): Promise<void> {
  response.status(status).set({ 'Cache-Control': 'no-store', ...headers });
  response.setTimeout(SLOW_READER_MS, () => response.destroy());
  await pipeline(stream, response).catch((error: unknown) => {
    if (!response.closed && !response.destroyed) throw error;
  });
}

/** Written at once: Express would look up settings and freshness, which these answers do not have, for each of them. */
function sendAnswer(response: Response, { status, headers, body }: Answer): void {
  // Answers are of one tenant and of this moment.
  response.status(status).set({ 'Cache-Control': 'no-store', ...headers });
  if (body === undefined || body === null) {
    response.end();
    return;
  }
  const text = JSON.stringify(body);
  response.setHeader('Content-Type', 'application/json; charset=utf-8').setHeader('Content-Length', Buffer.byteLength(text)).end(text);
}
