import { z } from 'zod';
import { endpointView, endpointViewSchema, forgetFailures, listEndpoints } from '#shared/deliveries/index.ts';
import { MusterError } from '#shared/errors/index.ts';
import { route, type Route } from '#shared/http/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';

/** `GET /v1/callbacks/endpoints`: those whose last call failed, the latest first. */
export function getEndpoints({ ledger }: Parts): Route {
  return route({
    method: 'get',
    path: '/v1/callbacks/endpoints',
    summary: 'Callback endpoints that fail',
    description: 'One that failed for five days without a success is disabled, and its deliveries fail at once.',
    scope: 'read',
    responses: { 200: z.strictObject({ items: z.array(endpointViewSchema), nextCursor: z.null() }) },
    handle: async (_input, { tenant }) => {
      const endpoints = await listEndpoints(ledger, tenant);
      return { status: 200, body: { items: endpoints.map(endpointView), nextCursor: null } };
    },
  });
}

/** `POST /v1/callbacks/endpoints/enable`: forgets that it failed, so that it is called again. */
export function postEndpointEnable({ ledger }: Parts): Route {
  return route({
    method: 'post',
    path: '/v1/callbacks/endpoints/enable',
    summary: 'Call a disabled endpoint again',
    scope: 'operate',
    request: { body: z.strictObject({ url: z.url({ protocol: /^https?$/ }).max(2000) }) },
    responses: { 204: z.null() },
    handle: async ({ body: { url } }, { tenant }) => {
      if (!(await forgetFailures(ledger, tenant, url))) {
        throw new MusterError('callback.endpoint-not-found', 'No such endpoint failed', { details: { url } });
      }
      return { status: 204 };
    },
  });
}
