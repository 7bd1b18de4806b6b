import type { Request as HttpRequest, RequestHandler, Response as HttpResponse } from 'express';
import { MusterError } from '#shared/errors/index.ts';
import {
  assertBodyBounds,
  contextOf,
  type JsonBounds,
  readRawBody,
  type RefusalLimit,
  sendProblem,
  type ServerLoad,
  toMusterError,
} from '#shared/http/index.ts';
import type { Log } from '#shared/log/index.ts';

export interface ReceiveUpdateParts {
  readonly log: Log;
  readonly maxBodyBytes: number;
  readonly bounds: JsonBounds;
  /** For where this is mounted without the server, which has its own. */
  readonly load: ServerLoad;
  /** Of addresses that send what is refused. */
  readonly refusals: RefusalLimit;
  /** The platforms that are on, by name. */
  readonly platforms: ReadonlyMap<string, { receive(request: Request): Promise<Response> }>;
}

/** What adapters answer to who is not the platform. */
const REFUSED = new Set([400, 401, 403]);

export const RECEIVER_PATH = '/chat/:platform';

/**
 * `POST /chat/:platform`, and the GET by which WhatsApp checks the address: gives a platform's request to its adapter unchanged.
 * It needs no key: the platform's signature proves the sender. Answers 200 for what was accepted or never can be; 401 for a signature
 * that does not match and 400 for a body that is no JSON; 404 for a platform that is unknown or off; 413 and 415 for a body too large
 * or compressed; and 5xx or 429 when the message did not become the session's, so that the platform sends it again.
 */
export function receiveUpdate(parts: ReceiveUpdateParts): RequestHandler {
  return async (request: HttpRequest, response: HttpResponse): Promise<void> => {
    const name = String(request.params['platform']);
    const context = contextOf(request, parts.log, parts.load);
    context.route = RECEIVER_PATH;
    try {
      parts.refusals.assertOpen(request.ip);
      // Before the body: nobody makes us read one for a platform that is off.
      const platform = parts.platforms.get(name);
      if (platform === undefined) throw new MusterError('request.not-found', 'There is no such chat platform here');
      const body = await readRawBody(request, response, { maxBytes: parts.maxBodyBytes, bodies: context.load.bodies });
      assertBodyBounds(body, request.get('content-type'), parts.bounds);
      const answer = await platform.receive(toFetchRequest(request, body));
      if (REFUSED.has(answer.status)) void parts.refusals.count(request.ip);
      await sendAnswer(response, answer);
    } catch (error) {
      const { code, message: reason } = toMusterError(error);
      context.log.info({ event: 'chat.not-taken', platform: name.slice(0, 20), code, reason }, 'a request of a chat platform was refused');
      if (code.startsWith('request.')) void parts.refusals.count(request.ip);
      sendProblem(response, error, context.log);
    }
  };
}

/** The adapters take what the web's own `fetch` has. Of its address, which anybody may write as they like, they read the query only. */
function toFetchRequest(request: HttpRequest, body: Buffer): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value);
  }
  const hasBody = request.method !== 'GET' && request.method !== 'HEAD';
  const [, query = ''] = request.originalUrl.split(/\?(.*)/s);
  return new Request(`http://chat.invalid/?${query}`, {
    method: request.method,
    headers,
    ...(hasBody ? { body: new Uint8Array(body) } : {}),
  });
}

async function sendAnswer(response: HttpResponse, answer: Response): Promise<void> {
  const type = answer.headers.get('content-type') ?? 'text/plain; charset=utf-8';
  response
    .status(answer.status)
    .set({ 'Content-Type': type, 'Cache-Control': 'no-store' })
    .send(Buffer.from(await answer.arrayBuffer()));
}
