import { Router, type Request, type Response } from 'express';
import type { Log } from '../log/create-log.ts';
import type { ApiKey } from '../tenants/api-key.ts';
import { createAuthenticator, type Authenticator, type AuthenticatorOptions } from './create-authenticator.ts';
import { sendEvents, type EventsPlace } from './event-stream.ts';
import { OpenStreams } from './open-streams.ts';
import { parseInput } from './parse-input.ts';
import { readBody } from './read-body.ts';
import { contextOf, type RequestContext } from './request-context.ts';
import type { Answer, Call, Route } from './route.ts';
import { rememberRoutes } from './routes-of.ts';
import { sendProblem } from './send-problem.ts';

export interface RouterOptions extends AuthenticatorOptions {
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
  const authenticator = createAuthenticator(options);
  // Used only where a router is mounted without the server, which has its own for all of them.
  const streams = new OpenStreams(settings.http.maxStreams);
  for (const each of routes) {
    const read = each.request?.body ? readBody(each.maxBodyBytes ?? settings.http.maxBodyBytes) : null;
    router[each.method](each.path, async (request: Request, response: Response) => {
      const context = contextOf(request, log, streams);
      context.route = each.path;
      try {
        const key = await authenticator.admit(request, each);
        context.tenant = key?.tenant ?? null;
        // After the key: nobody without one makes us read a body.
        await read?.(request, response);
        const input = parseInput(each.request ?? {}, request);
        const answer = await each.handle(input, new RequestCall(request, response, context, key));
        if (!answer.events) sendAnswer(response, answer);
        else await sendEvents(request, response, { streams: context.streams, ...stayOf(authenticator, request, key) }, answer.events);
      } catch (error) {
        sendProblem(response, error, context.log);
      }
    });
  }
  rememberRoutes(router, routes);
  return router;
}

class RequestCall implements Call {
  readonly tenant: string;
  readonly key: Call['key'];
  readonly log: Log;
  readonly headers: Call['headers'];
  readonly traceparent: string;
  readonly #response: Response;
  readonly #closing: AbortSignal;

  constructor(request: Request, response: Response, context: RequestContext, key: Call['key']) {
    this.tenant = key?.tenant ?? '';
    this.key = key;
    this.log = context.log;
    this.headers = request.headers;
    this.traceparent = context.traceparent;
    this.#response = response;
    this.#closing = context.streams.closing;
  }

  /** Made on demand: few handlers wait for anything. */
  get signal(): AbortSignal {
    const gone = new AbortController();
    if (this.#response.closed) gone.abort();
    else this.#response.once('close', () => gone.abort());
    return AbortSignal.any([gone.signal, this.#closing]);
  }
}

/** For as long as a stream lasts, its key has to be one that would open it. */
function stayOf(authenticator: Authenticator, request: Request, key: ApiKey | null): Pick<EventsPlace, 'mayStay'> {
  return key === null ? {} : { mayStay: () => authenticator.isStillAdmitted(request, key) };
}

function sendAnswer(response: Response, answer: Answer): void {
  // Answers are of one tenant and of this moment.
  response.status(answer.status).set({ 'Cache-Control': 'no-store', ...answer.headers });
  if (answer.body === undefined || answer.body === null) response.end();
  else response.json(answer.body);
}
