import { z } from 'zod';
import type { Settings } from '#shared/config/index.ts';
import { MusterError } from '#shared/errors/index.ts';
import { createRateLimit, isLoopback, route, type Route, secretOf } from '#shared/http/index.ts';
import type { Keys, RedisClient } from '#shared/redis/index.ts';
import { SignInLinks, signInLinkPath } from '#shared/tenants/index.ts';

export interface SignInLinkPorts {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly config: { readonly settings: Settings };
}

const linkSchema = z
  .strictObject({
    path: z.string().meta({ description: 'Open it in a browser, after the address of the console. It works once.' }),
    expiresAt: z.iso.datetime().meta({ description: 'Until when it works.' }),
  })
  .meta({ id: 'SignInLink', examples: [{ path: '/sign-in/link?token=ml_...', expiresAt: '2026-05-01T09:10:00.000Z' }] });

/**
 * `POST /v1/sign-in-links`. A link that is made on the server's own machine works on that machine only. Each link is an entry of the audit log
 * and becomes a sign-in, so a key makes no more of them a minute than it may sign in. Errors: `auth.forbidden`, `limit.rate`.
 */
export function postSignInLink({ redis, keys, config }: SignInLinkPorts): Route {
  const { limits, signIn } = config.settings;
  const links = new SignInLinks({ redis, keys, lifetimeMs: signIn.linkMs });
  const countKey = createRateLimit({ redis, prefix: `${keys.fleet.http}:sign-in-link`, perMinute: limits.signInsOfKeyPerMinute });
  return route({
    method: 'post',
    path: '/v1/sign-in-links',
    operationId: 'createSignInLink',
    summary: 'Make a link that signs a browser in once',
    description: 'The browser then acts with the key of this request, until its sign-in or the key ends.',
    scope: 'read',
    responses: { 201: linkSchema },
    problems: { 429: '`limit.rate`: this key made as many links in the last minute as it may sign in (`limits.signInsOfKeyPerMinute`).' },
    handle: async (_input, call) => {
      const secret = secretOf(call);
      if (secret === undefined || call.key === null)
        throw new MusterError('auth.forbidden', 'A link is made with an API key: Authorization: Bearer <key>');
      await countKey(call.key.id);
      const { token, expiresAt } = await links.create({ secret, isLocal: isLoopback(call.address) });
      call.log.info({ event: 'sign-in.link', by: call.key.id }, 'A link that signs a browser in was made');
      return { status: 201, body: { path: signInLinkPath(token), expiresAt: new Date(expiresAt).toISOString() } };
    },
  });
}
