import { z } from 'zod';
import { route, type Route } from '#shared/http/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { findState, taskPathSchema } from './find-task.ts';
import { streamPlace } from './stream-place.ts';
import { writeTaskEvents } from './write-task-events.ts';

/**
 * `GET /v1/tasks/:id/stream`: the output as it is written, from the start or after the last event that the reader saw.
 * Events: `output {attempt, seq, text}`, `log` and `progress` as `GET /v1/tasks/:id/log` has them, `status {status}`, and `end {status}`
 * once, after which the stream closes.
 */
export function streamTask(parts: Parts): Route {
  return route({
    method: 'get',
    path: '/v1/tasks/:id/stream',
    summary: 'The output of a task while it is written',
    description:
      'Server-sent events: `output {attempt, seq, text}`, `log {at, attempt, level, text, fields}`, `progress {at, attempt, note, percent}`, `status {status}`, and last `end {status}`. Resumes after `Last-Event-ID` (or `?lastEventId=`). A later attempt starts over with its own number.',
    scope: 'read',
    media: 'text/event-stream',
    request: {
      params: taskPathSchema,
      headers: z.object({ 'last-event-id': z.string().optional() }),
      query: z.object({ lastEventId: z.string().optional() }),
    },
    responses: { 200: z.string() },
    handle: async ({ params, query, headers }, { tenant }) => {
      const after = streamPlace(headers['last-event-id'] ?? query.lastEventId);
      await findState(parts.ledger, tenant, params.id);
      return {
        status: 200,
        events: (stream) => writeTaskEvents(parts, { tenant, id: params.id, after }, stream),
      };
    },
  });
}
