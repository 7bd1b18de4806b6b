import { z } from 'zod';
import { route, type Route } from '#shared/http/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { QUEUE_NAMES } from '#shared/queue/index.ts';
import { assertFleetOwner } from '../assert-fleet-owner.ts';
import { countQueues } from './queue-counts.ts';

const queueSchema = z
  .strictObject({
    name: z.enum(QUEUE_NAMES),
    paused: z.boolean(),
    waiting: z.int(),
    prioritized: z.int(),
    delayed: z.int(),
    active: z.int(),
    completed: z.int(),
    failed: z.int(),
    workers: z.int(),
    oldestWaitingAgeMs: z.int().nullable(),
  })
  .meta({ id: 'Queue', description: 'Counts are of tickets; `completed` and `failed` of those that are kept.' });

/** `GET /v1/queues`. */
export function getQueues({ queues }: Parts): Route {
  return route({
    method: 'get',
    path: '/v1/queues',
    summary: 'What is in the queues',
    description: 'For keys of the tenant `default`.',
    scope: 'read',
    responses: { 200: z.strictObject({ items: z.array(queueSchema), nextCursor: z.null() }) },
    handle: async (_input, call) => {
      assertFleetOwner(call);
      return { status: 200, body: { items: await countQueues(queues, Date.now()), nextCursor: null } };
    },
  });
}
