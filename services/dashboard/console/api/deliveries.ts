import { z } from 'zod';
import { callApi } from './call-api.ts';
import { listOf } from './records.ts';

const deliverySchema = z.object({
  id: z.string(),
  task: z.string(),
  kind: z.enum(['reply', 'callback']),
  platform: z.string().nullable(),
  status: z.enum(['pending', 'delivered', 'failed', 'unknown']),
  attempts: z.number(),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  createdAt: z.string().nullable(),
  deliveredAt: z.string().nullable(),
  nextTryAt: z.string().nullable(),
});
export type Delivery = z.infer<typeof deliverySchema>;

const endpointSchema = z.object({
  url: z.string(),
  failures: z.number(),
  error: z.string(),
  failingSince: z.string(),
  lastFailureAt: z.string(),
  disabledAt: z.string().nullable(),
});
export type CallbackEndpoint = z.infer<typeof endpointSchema>;

const deliveriesSchema = listOf(deliverySchema).extend({ nextCursor: z.string().nullable() });
export type DeliveriesPart = z.infer<typeof deliveriesSchema>;
const endpointsSchema = listOf(endpointSchema);
const SHOWN = 100;

export const DELIVERIES_KEY = ['deliveries'] as const;
export const ENDPOINTS_KEY = ['callback-endpoints'] as const;

/** A page of deliveries, newest first; the first page without a cursor. `search` is the API's query of the filters. */
export function readDeliveries(search: string, cursor: string | null, signal: AbortSignal): Promise<DeliveriesPart> {
  const query = new URLSearchParams(search);
  query.set('limit', String(SHOWN));
  if (cursor !== null) query.set('cursor', cursor);
  return callApi(deliveriesSchema, `/v1/deliveries?${query}`, { signal });
}

export const retryDelivery = (id: string): Promise<unknown> =>
  callApi(z.unknown(), `/v1/deliveries/${encodeURIComponent(id)}/retry`, { method: 'POST' });

export const readEndpoints = async (signal: AbortSignal): Promise<CallbackEndpoint[]> =>
  (await callApi(endpointsSchema, '/v1/callbacks/endpoints', { signal })).items;

export const enableEndpoint = (url: string): Promise<null> =>
  callApi(z.null(), '/v1/callbacks/endpoints/enable', { method: 'POST', body: { url } });
