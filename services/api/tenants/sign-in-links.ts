import { z } from 'zod';
import type { Settings } from '#shared/config/index.ts';
import { MusterError } from '#shared/errors/index.ts';
import { isLoopback, route, type Route, secretOf } from '#shared/http/index.ts';
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

/** `POST /v1/sign-in-links`. A link that is made on the server's own machine works on that machine only. */
export function postSignInLink({ redis, keys, config }: SignInLinkPorts): Route {
  const links = new SignInLinks({ redis, keys, lifetimeMs: config.settings.signIn.linkMs });
  return route({
    method: 'post',
    path: '/v1/sign-in-links',
    operationId: 'createSignInLink',
    summary: 'Make a link that signs a browser in once',
    description: 'The browser then acts with the key of this request, until its sign-in or the key ends.',
    scope: 'read',
    responses: { 201: linkSchema },
    handle: async (_input, call) => {
      const secret = secretOf(call);
      if (secret === undefined) throw new MusterError('auth.forbidden', 'A link is made with an API key: Authorization: Bearer <key>');
      const { token, expiresAt } = await links.create({ secret, isLocal: isLoopback(call.address) });
      call.log.info({ event: 'sign-in.link', by: call.key?.id }, 'A link that signs a browser in was made');
      return { status: 201, body: { path: signInLinkPath(token), expiresAt: new Date(expiresAt).toISOString() } };
    },
  });
}
