import type { Request as HttpRequest, RequestHandler, Response as HttpResponse } from 'express';
import { type ErrorCode, MusterError } from '#shared/errors/index.ts';
import {
  assertBodyBounds,
  contextOf,
  type JsonBounds,
  readRawBody,
  type RefusalLimit,
  type RequestContext,
  sendProblem,
  serveAsSpan,
  type ServerLoad,
  toMusterError,
  type RouteDescription,
} from '#shared/http/index.ts';
import type { Log, Traces } from '#shared/log/index.ts';
import { z } from 'zod';
import { CHAT_PLATFORMS } from '#shared/config/index.ts';
import { PLATFORMS } from '../platforms/registry.ts';

export interface ReceiveUpdateParts {
  readonly log: Log;
  /** Without it updates are no spans. */
  readonly traces: Traces | undefined;
  readonly maxBodyBytes: number;
  readonly bounds: JsonBounds;
  /** Used where this is mounted without the server, which has its own. */
  readonly load: ServerLoad;
  /** Counts refused requests by address and platform. */
  readonly refusals: RefusalLimit;
  /** The platforms that are on, by name. */
  readonly platforms: ReadonlyMap<string, { receive(request: Request): Promise<Response> }>;
}

export const RECEIVER_PATH = '/chat/:platform';

/** What the refusals of all platforms that are not on are counted for. */
const UNKNOWN_PLATFORMS = 'chat';

/**
 * `POST /chat/:platform`, and the GET by which WhatsApp checks the address: gives a platform's request to its adapter unchanged. It needs
 * no key: the platform's signature proves the sender. Answers 200 for an update that was accepted or never can be. Refuses a wrong
 * signature (401), a body that is no JSON (400), too large (413) or compressed (415), and an unknown platform (404). Answers 5xx or 429
 * when the message was not accepted, so that the platform sends it again.
 */
export function receiveUpdate(parts: ReceiveUpdateParts): RequestHandler {
  return async (request: HttpRequest, response: HttpResponse): Promise<void> => {
    const context = contextOf(request, parts.log, parts.load);
    context.route = RECEIVER_PATH;
    await serveAsSpan(parts.traces, { request, response, context }, () => receive(parts, request, response, context));
  };
}

async function receive(parts: ReceiveUpdateParts, request: HttpRequest, response: HttpResponse, context: RequestContext): Promise<void> {
  const name = String(request.params['platform']);
  const platform = parts.platforms.get(name);
  const receiver = platform === undefined ? UNKNOWN_PLATFORMS : `chat/${name}`;
  try {
    parts.refusals.assertOpen(request.ip, receiver);
    // Before the body, so that no sender makes us read one for a platform that is off.
    if (platform === undefined) throw new MusterError('request.not-found', 'There is no such chat platform here');
    const body = await readRawBody(request, response, { maxBytes: parts.maxBodyBytes, bodies: context.load.bodies });
    assertBodyBounds(body, request.get('content-type'), parts.bounds);
    const answer = await platform.receive(toFetchRequest(request, body));
    if (answer.ok) parts.refusals.trust(request.ip, receiver);
    await sendAnswer(response, answer);
  } catch (error) {
    const { code, message: reason } = toMusterError(error);
    context.log.info({ event: 'chat.not-taken', platform: name.slice(0, 20), code, reason }, 'a request of a chat platform was refused');
    if (isSendersFault(code)) void parts.refusals.count(request.ip, receiver);
    sendProblem(response, error, context.log);
  }
}

/** Limits and failures of ours do not count. */
function isSendersFault(code: ErrorCode): boolean {
  return code.startsWith('request.') || code === 'auth.bad-signature' || code === 'auth.forbidden';
}

/** The adapters take a request of the web's `fetch`. Only the query of its address is kept, because a sender chooses the rest. */
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

const params = z.object({ platform: z.enum(CHAT_PLATFORMS) });

const PROOFS = z.object(
  Object.fromEntries(
    CHAT_PLATFORMS.flatMap((platform) =>
      Object.entries(PLATFORMS[platform].proofs).map(([header, meaning]) => [
        header,
        z
          .string()
          .optional()
          .meta({ description: `\`${platform}\`: ${meaning}.` }),
      ]),
    ),
  ),
);

const NOT_ON = '`request.not-found`: there is no such platform, or it is not on.';

/** Describes the receiver for the documentation. It is no `Route`, because each platform's adapter reads its requests and answers them. */
export function describeReceiver(path: string): RouteDescription[] {
  return [
    {
      method: 'post',
      path,
      operationId: 'receiveChatUpdate',
      summary: 'Receive what a chat platform sends',
      description: "The platform's signature is the key. Its messages become messages of sessions before they are answered with 200.",
      tag: 'chat',
      scope: 'none',
      request: { params, headers: PROOFS, body: z.unknown().meta({ description: 'What the platform sends.' }) },
      bodyMedia: ['application/json', 'application/x-www-form-urlencoded'],
      media: '*/*',
      responses: {
        200: z
          .unknown()
          .describe('Accepted; with an answer where the platform shows one, to a slash command or to its check of the address.'),
        400: z.unknown().describe('The adapter cannot read it.'),
        401: z.unknown().describe('The signature does not match.'),
      },
      problems: {
        404: NOT_ON,
        413: '`request.too-large`: the body is over `chat.maxBodyBytes`, or has more members and elements than `http.maxBodyValues`.',
        415: '`request.unsupported-media-type`: the body is compressed.',
        429: 'Over a limit; the platform sends it again.',
        503: '`unavailable.redis`, `unavailable.chat`: not accepted; the platform sends it again.',
      },
    },
    {
      method: 'get',
      path,
      operationId: 'verifyChatWebhook',
      summary: 'Answer a chat platform that checks this address',
      description: 'WhatsApp does so, with the verify token of its app.',
      tag: 'chat',
      scope: 'none',
      request: {
        params,
        query: z.object({
          'hub.mode': z.string().optional(),
          'hub.verify_token': z.string().optional(),
          'hub.challenge': z.string().optional(),
        }),
      },
      media: 'text/plain',
      responses: { 200: z.string().describe('The challenge.'), 403: z.string().describe('The token is another.') },
      problems: { 404: NOT_ON },
    },
  ];
}
