import { z } from 'zod';
import { MusterError } from '#shared/errors/index.ts';
import { route, type Route } from '#shared/http/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { isQueueName } from '#shared/queue/index.ts';
import { assertFleetOwner } from '../assert-fleet-owner.ts';

/** `POST /v1/queues/:name/pause`: no ticket of it starts until it is resumed; what runs goes on. */
export function pauseQueue(parts: Parts): Route {
  return switchQueue(parts, { action: 'pause', summary: 'Start no more work of a queue' });
}

/** `POST /v1/queues/:name/resume`. */
export function resumeQueue(parts: Parts): Route {
  return switchQueue(parts, { action: 'resume', summary: 'Let a paused queue go on' });
}

function switchQueue({ queues }: Parts, { action, summary }: { action: 'pause' | 'resume'; summary: string }): Route {
  return route({
    method: 'post',
    path: `/v1/queues/:name/${action}`,
    summary,
    description: 'For keys of the tenant `default`.',
    scope: 'operate',
    request: { params: z.object({ name: z.string() }) },
    responses: { 200: z.strictObject({ name: z.string(), paused: z.boolean() }) },
    handle: async ({ params: { name } }, call) => {
      assertFleetOwner(call);
      if (!isQueueName(name))
        throw new MusterError('queue.not-found', 'There is no such queue', { details: { queue: name.slice(0, 100) } });
      const shards = queues.all().filter((each) => each.name === name);
      await Promise.all(shards.map(({ queue }) => queue[action]()));
      call.log.info({ event: `queue.${action}d`, queue: name, by: call.key?.id }, `The queue ${name} was ${action}d`);
      return { status: 200, body: { name, paused: action === 'pause' } };
    },
  });
}
