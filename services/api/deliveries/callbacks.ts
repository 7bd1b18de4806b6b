import { z } from 'zod';
import {
  type CallbackSecrets,
  endpointView,
  endpointViewSchema,
  forgetFailures,
  listEndpoints,
  readCallbackSecrets,
  rotateCallbackSecret,
} from '#shared/deliveries/index.ts';
import { MusterError } from '#shared/errors/index.ts';
import { route, type Route } from '#shared/http/index.ts';
import type { Ledger } from '#shared/ledger/index.ts';
import { systemClock } from '#shared/time/index.ts';
import { answerList, onePageOf } from '../lists.ts';

const secretViewSchema = z
  .strictObject({ secret: z.string().meta({ description: 'As Standard Webhooks writes it: `whsec_...`.' }), createdAt: z.iso.datetime() })
  .meta({ id: 'CallbackSecret' });

interface CallbackPorts {
  readonly ledger: Ledger;
}

/** `/v1/callbacks`: the secret that signs callbacks, and the endpoints that fail. */
export function callbackRoutes(ports: CallbackPorts): Route[] {
  return [getCallbackSecret(ports), postCallbackSecret(ports), getEndpoints(ports), postEndpointEnable(ports)];
}

/** `GET /v1/callbacks/secret`: what signs the tenant's callbacks; made on first use. */
function getCallbackSecret({ ledger }: CallbackPorts): Route {
  return route({
    method: 'get',
    path: '/v1/callbacks/secret',
    operationId: 'getCallbackSecret',
    summary: 'The secret that signs callbacks',
    scope: 'operate',
    responses: { 200: secretViewSchema },
    handle: async (_input, { tenant }) => ({ status: 200, body: secretView(await readCallbackSecrets(ledger, tenant, systemClock.now())) }),
  });
}

/** `POST /v1/callbacks/secret`: a new one. The secret before signs too for `deliveries.callbacks.secretOverlapMs` (a day). */
function postCallbackSecret({ ledger }: CallbackPorts): Route {
  return route({
    method: 'post',
    path: '/v1/callbacks/secret',
    operationId: 'changeCallbackSecret',
    summary: 'Change the secret that signs callbacks',
    description: 'For a day callbacks carry a second signature, by the old secret.',
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

/** `GET /v1/callbacks/endpoints`: the endpoints whose last call failed, latest failure first. */
function getEndpoints({ ledger }: CallbackPorts): Route {
  return route({
    method: 'get',
    path: '/v1/callbacks/endpoints',
    operationId: 'listCallbackEndpoints',
    summary: 'Callback endpoints that fail',
    description: 'An endpoint that failed for five days without a success is disabled, and its deliveries fail at once.',
    scope: 'read',
    responses: { 200: onePageOf(endpointViewSchema, 'Latest failure first.').meta({ id: 'CallbackEndpointList' }) },
    handle: async (_input, { tenant }) => {
      const endpoints = await listEndpoints(ledger, tenant);
      return answerList(endpoints.map(endpointView));
    },
  });
}

/** `POST /v1/callbacks/endpoints/enable`: forgets that it failed, so that it is called again. */
function postEndpointEnable({ ledger }: CallbackPorts): Route {
  return route({
    method: 'post',
    path: '/v1/callbacks/endpoints/enable',
    operationId: 'enableCallbackEndpoint',
    summary: 'Call a disabled endpoint again',
    scope: 'operate',
    errors: ['callback.endpoint-not-found'],
    request: { body: z.strictObject({ url: z.url({ protocol: /^https?$/ }).max(2000) }).meta({ id: 'EndpointRequest' }) },
    responses: { 204: z.null() },
    handle: async ({ body: { url } }, { tenant }) => {
      if (!(await forgetFailures(ledger, tenant, url))) {
        throw new MusterError('callback.endpoint-not-found', 'No such endpoint failed', { details: { url } });
      }
      return { status: 204 };
    },
  });
}
