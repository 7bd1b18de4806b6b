import { z } from 'zod';
import { readCallbackSecrets, rotateCallbackSecret, type CallbackSecrets } from '#shared/deliveries/index.ts';
import { route, type Route } from '#shared/http/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { systemClock } from '#shared/time/index.ts';

const secretViewSchema = z
  .strictObject({ secret: z.string().meta({ description: 'As Standard Webhooks writes it: `whsec_...`.' }), createdAt: z.iso.datetime() })
  .meta({ id: 'CallbackSecret' });

/** `GET /v1/callbacks/secret`: what signs the tenant's callbacks; made on first use. */
export function getCallbackSecret({ ledger }: Parts): Route {
  return route({
    method: 'get',
    path: '/v1/callbacks/secret',
    summary: 'The secret that signs callbacks',
    scope: 'operate',
    responses: { 200: secretViewSchema },
    handle: async (_input, { tenant }) => ({ status: 200, body: secretView(await readCallbackSecrets(ledger, tenant, systemClock.now())) }),
  });
}

/** `POST /v1/callbacks/secret`: a new one. The one before signs too for `deliveries.callbacks.secretOverlapMs` (a day). */
export function postCallbackSecret({ ledger }: Parts): Route {
  return route({
    method: 'post',
    path: '/v1/callbacks/secret',
    summary: 'Change the secret that signs callbacks',
    description: 'For a day callbacks carry two signatures, the one of the secret before as well.',
    scope: 'operate',
    responses: { 200: secretViewSchema },
    handle: async (_input, { tenant }) => ({
      status: 200,
      body: secretView(await rotateCallbackSecret(ledger, tenant, systemClock.now())),
    }),
  });
}

function secretView({ secret, createdAt }: CallbackSecrets): z.infer<typeof secretViewSchema> {
  return { secret, createdAt: new Date(createdAt).toISOString() };
}
