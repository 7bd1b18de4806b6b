import { z } from 'zod';
import { DELIVERY_ID, deliveryView, deliveryViewSchema, retryDelivery as retry } from '#shared/deliveries/index.ts';
import { MusterError } from '#shared/errors/index.ts';
import { route, type Route } from '#shared/http/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { systemClock } from '#shared/time/index.ts';

/** `POST /v1/deliveries/:id/retry`: one that failed, or of which nobody knows, with all its tries anew. */
export function postDeliveryRetry({ ledger, queues }: Parts): Route {
  return route({
    method: 'post',
    path: '/v1/deliveries/:id/retry',
    summary: 'Try a delivery again',
    description: 'One that is `failed` or `unknown`. Parts that were posted are not posted again.',
    scope: 'submit',
    request: { params: z.object({ id: z.string().meta({ description: "The delivery's id." }) }) },
    responses: { 202: deliveryViewSchema },
    handle: async ({ params: { id } }, { tenant }) => {
      const answer = DELIVERY_ID.test(id) ? await retry({ ledger, queues, clock: systemClock }, tenant, id) : ({ kind: 'none' } as const);
      if (answer.kind === 'none')
        throw new MusterError('delivery.not-found', 'There is no such delivery', { details: { id: id.slice(0, 100) } });
      if (answer.kind === 'refused') {
        const { status } = answer;
        throw new MusterError('delivery.wrong-state', `The delivery did not fail: it is ${status}`, { details: { status } });
      }
      return { status: 202, body: deliveryView(answer.delivery) };
    },
  });
}
