import { ulid } from 'ulid';
import { z } from 'zod';
import { route, type Route } from '#shared/http/index.ts';
import type { Ledger } from '#shared/ledger/index.ts';
import { DELIVERS, eventNameSchema, sendEvent } from '#shared/waits/index.ts';

const MAX_ID = 200;

const eventSchema = z
  .strictObject({
    name: eventNameSchema.meta({ description: 'What runs wait for by `context.waitFor(name)`.' }),
    data: z.unknown().default(null).meta({ description: 'JSON that the runs get. Runs with `match` compare fields of it.' }),
    id: z
      .string()
      .min(1)
      .max(MAX_ID)
      .optional()
      .meta({ description: 'Names the event: what is sent again under its id resumes no run twice, for a day. By default a new one.' }),
    deliver: z
      .enum(DELIVERS)
      .default('all')
      .meta({ description: 'Whether it goes to all runs that wait for it, or to one: the first by priority, then age.' }),
  })
  .meta({ id: 'EventRequest', examples: [{ name: 'order.paid', data: { order: 'A-17', amount: 1200 }, id: 'payment-4711' }] });

const sentSchema = z
  .strictObject({
    resumed: z.int().meta({ description: 'How many runs waited for it, and go on. Those that begin to wait later are not in it.' }),
  })
  .meta({ id: 'EventSent', examples: [{ resumed: 1 }] });

/** `POST /v1/events`. */
export function postEvent({ ledger }: { readonly ledger: Ledger }): Route {
  return route({
    method: 'post',
    path: '/v1/events',
    operationId: 'sendEvent',
    summary: 'Send an event to the runs that wait for it',
    description:
      'It is kept for `events.keepMs`, and runs that begin to wait within that time get it, too. An event with the `id` of an earlier one answers as that did.',
    scope: 'submit',
    errors: ['request.too-large', 'limit.storage'],
    request: { body: eventSchema },
    responses: { 200: sentSchema },
    handle: async ({ body: { id = ulid(), ...event } }, { tenant, log }) => {
      const { resumed } = await sendEvent(ledger, tenant, { id, ...event });
      log.info({ event: 'event.sent', id, name: event.name, resumed }, 'an event was sent');
      return { status: 200, body: { resumed } };
    },
  });
}
