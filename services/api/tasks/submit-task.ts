import { z } from 'zod';
import { route, type Route } from '#shared/http/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { acceptTask } from '#shared/queue/index.ts';
import { taskRecord, taskRequestSchema } from '#shared/tasks/index.ts';
import { acceptedView } from './accepted-view.ts';
import { assertCallersSource } from './assert-callers-source.ts';
import { idempotencyHeadersSchema, idempotencyOf } from './idempotency-key.ts';
import { acceptedViewSchema, taskViewSchema } from './task-view.ts';
import { waitForEnd } from './wait-for-end.ts';

/**
 * `POST /v1/tasks`. Answers 202; 200 for a key that came before, with the task it made; with `waitMs` 200 and the whole
 * record when the task ended in time.
 */
export function submitTask(parts: Parts): Route {
  const { maxWaitMs } = parts.config.settings.http;
  return route({
    method: 'post',
    path: '/v1/tasks',
    summary: 'Submit a task',
    description:
      'Send `Idempotency-Key` to be able to send again without making a second task. A task with a `session` waits its turn in it; with a `mode` besides it meets the running task of its session like a message in that mode.',
    scope: 'submit',
    request: {
      headers: idempotencyHeadersSchema,
      query: z.strictObject({
        waitMs: z.coerce.number().int().min(0).max(maxWaitMs).optional().meta({ description: 'Wait so long for the end of the task.' }),
      }),
      body: taskRequestSchema,
    },
    responses: {
      200: z.union([taskViewSchema, acceptedViewSchema]).meta({ description: 'It ended within `waitMs`, or the key came before.' }),
      202: acceptedViewSchema.meta({ description: 'Accepted: it will reach its end.' }),
    },
    handle: async ({ headers, query, body }, call) => {
      assertCallersSource(body);
      const accepted = await acceptTask(parts, {
        ...body,
        tenant: call.tenant,
        traceparent: call.traceparent,
        ...idempotencyOf(headers['idempotency-key']),
      });
      if (query.waitMs) {
        const ended = await waitForEnd(parts, {
          tenant: call.tenant,
          id: accepted.id,
          waitMs: query.waitMs,
          signal: call.signal,
          mayRead: () => call.isStillAdmitted(),
        });
        if (ended) return { status: 200, body: taskRecord(ended) };
      }
      return { status: accepted.isDuplicate ? 200 : 202, body: acceptedView(accepted), headers: { Location: `/v1/tasks/${accepted.id}` } };
    },
  });
}
