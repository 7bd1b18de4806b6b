import { Router, type Request, type Response } from 'express';
import type { Log } from '../log/index.ts';
import type { ApiKey } from '../tenants/index.ts';
import { Authenticator } from './authentication.ts';
import { sendEvents, type EventsPlace } from './event-stream.ts';
import { contextOf, createServerLoad, type HttpPorts, type RequestContext, type ServerLoad } from './request-context.ts';
import { parseInput } from './parse-input.ts';
import { readBody, type BodyBounds } from './bodies/read-body.ts';
import { CostlyCalls } from './costly-calls.ts';
import { dropBody, streamBody } from './bodies/stream-body.ts';
import { pipeline } from 'node:stream/promises';
import type { Readable } from 'node:stream';
import { type Answer, type Call, rememberRoutes, type RequestSchemas, type Route } from './route.ts';
import { sendProblem } from './problems.ts';
import { RequestAudit } from './request-audit.ts';

export interface RouterOptions {
  parts: HttpPorts;
  routes: readonly Route[];
  log: Log;
}

/**
 * Serves routes: key and scope, limits, body, schemas, handler, answer; every error becomes a problem.
 * Only the routes' own paths are touched; what it does not know goes to the next router.
 */
export function createRouter(options: RouterOptions): Router {
  const { routes, parts, log } = options;
  const { settings } = parts.config;
  const router = Router();
  const authenticator = new Authenticator(parts);
  const audit = new RequestAudit({ ...parts, log });
  // Used only where a router is mounted without the server, which has its own for all of them.
  const load = createServerLoad(settings.http);
  const costly = new CostlyCalls();
  for (const each of routes) {
    const bounds = each.request?.body && each.takesFile !== true ? bodyBounds(each, settings.http) : null;
    router[each.method](each.path, (request, response) =>
      serveRoute(each, { bounds, authenticator, audit, log, load, costly }, { request, response }),
    );
  }
  rememberRoutes(router, routes);
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
}

interface Exchange {
  readonly request: Request;
  readonly response: Response;
}

async function serveRoute(each: Route, serving: RouteServing, exchange: Exchange): Promise<void> {
  const { bounds, authenticator, audit, log, load } = serving;
  const { request, response } = exchange;
  const context = contextOf(request, log, load);
  context.route = each.path;
  try {
    const key = await authenticator.authenticate(request, each, context);
    context.tenant = key?.tenant ?? null;
    // After the key: no body is read for a caller without one.
    if (bounds) await readBody(request, response, bounds, context.load.bodies);
    const input = parseInput(schemasOf(each), request);
    const call = new RequestCall({ ...exchange, context, key, authenticator });
    const answer = await handle(each, serving, input, call);
    await audit.recordAnswer({ route: each, request, own: context.caller, key }, answer);
    if (answer.stream) return await sendStream(response, answer, answer.stream);
    if (!answer.events) return sendAnswer(response, answer);
    const { streams } = context.load;
    const place = { streams, hasOwnComments: answer.hasOwnComments ?? false, ...readerOf(authenticator, request, key) };
    await sendEvents(request, response, place, answer.events);
  } catch (error) {
    await audit.recordProblem({ route: each, request, own: context.caller, key: context.caller }, error);
    if (each.takesFile === true) dropBody(request);
    sendProblem(response, error, context.log);
  }
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
}

class RequestCall implements Call {
  readonly tenant: string;
  readonly key: Call['key'];
  readonly log: Log;
  readonly headers: Call['headers'];
  readonly address: string | undefined;
  readonly traceparent: string;
  readonly #response: Response;
  readonly #request: Request;
  readonly #idleMs: number;
  readonly #isStillAdmitted: () => Promise<boolean>;
  readonly #closing: AbortSignal;

  constructor({ request, response, context, key, authenticator }: CallOptions) {
    this.tenant = key?.tenant ?? '';
    this.key = key;
    this.log = context.log;
    this.headers = request.headers;
    this.address = request.ip;
    this.traceparent = context.traceparent;
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
function readerOf(authenticator: Authenticator, request: Request, key: ApiKey | null): Pick<EventsPlace, 'mayStay' | 'owner'> {
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
