import { z } from 'zod';
import type { RouteDescription } from '#shared/http/index.ts';
import { PROVIDERS } from './providers/registry.ts';

/** The headers of all providers; each is read by one provider. */
const PROVIDER_HEADERS = z.object(
  Object.fromEntries(
    Object.entries(PROVIDERS).flatMap(([provider, { headers }]) =>
      Object.entries(headers).map(([name, text]) => [
        name,
        z
          .string()
          .optional()
          .meta({ description: `\`${provider}\`: ${text}` }),
      ]),
    ),
  ),
);

const taken = z.strictObject({ id: z.string().meta({ description: 'The task.' }), status: z.string() });
const handshake = z.strictObject({ challenge: z.string() }).meta({ description: "Slack's check of a new address." });

/** The receiver for the documentation. It is no `Route`: signatures are over the bytes, and each provider's are checked in their own way. */
export function describeReceiver(path: string): RouteDescription {
  return {
    method: 'post',
    path,
    operationId: 'receiveWebhook',
    summary: 'Take a webhook of a provider and make its task',
    description:
      "The provider's signature is the key: a hook of provider `hmac` has it in the header that its `options.header` names, one of provider `none` has none. The body is taken as it came and must not be compressed.",
    tag: 'hooks',
    scope: 'none',
    request: {
      params: z.object({ id: z.string() }),
      headers: PROVIDER_HEADERS,
      body: z.unknown().meta({ description: 'What the provider sends.' }),
    },
    bodyMedia: ['application/json', 'application/x-www-form-urlencoded', 'text/plain'],
    responses: {
      202: taken.describe('A new task.'),
      200: z.union([taken, handshake]).describe("The task of the same delivery that came before; or the answer to Slack's handshake."),
    },
    problems: {
      400: '`request.malformed`: the body or a header cannot be read.',
      401: '`auth.bad-signature`: the signature is missing, does not match, or is outside of its window.',
      404: '`hook.not-found`: there is no such hook, or it or its tenant is disabled.',
      413: '`request.too-large`: the body is over `webhooks.maxBodyBytes`, or has more members and elements than `webhooks.maxBodyValues`.',
      415: '`request.unsupported-media-type`: the body is compressed.',
      422: '`agent.unknown`: the agent of the hook is gone. `request.invalid`: the body is nested deeper than `webhooks.maxBodyDepth`.',
      408: '`request.timeout`: the body did not go on.',
      429: 'Over a limit of the tenant, or too many requests of this address were refused, or too many bodies are open; `Retry-After` says when to send it again.',
      503: '`unavailable.redis`: send it again.',
    },
  };
}
