import { z } from 'zod';
import { route, type Route } from '#shared/http/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { outputPlace } from '../tasks/output-place.ts';
import { sessionPathSchema } from './session-path.ts';
import { writeSessionEvents } from './write-session-events.ts';

/** `GET /v1/sessions/:id/stream`: all that happens in a session, for a chat's page. It stays open. */
export function streamSession(parts: Parts): Route {
  return route({
    method: 'get',
    path: '/v1/sessions/:id/stream',
    summary: 'All that happens in a session while it happens',
    description:
      'Server-sent events. First `history {items}`: the latest messages that have their outcome, each `{taskId, text, user, agent, status, outcome, output, error, createdAt, completedAt}`; `output` of one that was stopped is what it had written, while that is kept. Then, for each message that has none yet and each new one: `message {taskId, text, user, agent, status, createdAt}`, `status {taskId, status, outcome}`, `output {taskId, attempt, seq, text}` and once `end {taskId, status, output, outcome, error}`. A run that begins anew starts at `seq` 1 again. With `Last-Event-ID` (or `?lastEventId=`) the output goes on behind that event; the rest is told again.',
    scope: 'read',
    forVisitors: true,
    media: 'text/event-stream',
    request: {
      params: sessionPathSchema,
      headers: z.object({ 'last-event-id': z.string().optional() }),
      query: z.object({ lastEventId: z.string().optional() }),
    },
    responses: { 200: z.string() },
    handle: ({ params, query, headers }, { tenant, key }) => {
      const after = outputPlace(headers['last-event-id'] ?? query.lastEventId);
      const options = { tenant, session: params.id, after, until: key?.expiresAt ?? Infinity };
      return { status: 200, events: (stream) => writeSessionEvents(parts, options, stream) };
    },
  });
}
