import { z } from 'zod';
import { CHAT_PLATFORMS } from '#shared/config/index.ts';
import type { RouteDescription } from '#shared/http/index.ts';
import { PLATFORMS } from '../platforms/registry.ts';

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
