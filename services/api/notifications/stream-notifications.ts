import { z } from 'zod';
import { MusterError } from '#shared/errors/index.ts';
import { route, type Call, type Route } from '#shared/http/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { DEFAULT_TENANT, hasScope } from '#shared/tenants/index.ts';
import { readKinds } from './read-kinds.ts';
import { parsePlace, type ReaderPlace } from './reader-place.ts';
import { writeNotifications } from './write-notifications.ts';

/** `GET /v1/notifications/stream`: what happens to a tenant, as it happens. It stays open. */
export function streamNotifications(parts: Parts): Route {
  return route({
    method: 'get',
    path: '/v1/notifications/stream',
    summary: 'What happens to the tenant while it happens',
    description:
      "Server-sent events. First `open {ok}`, then `notification {kind, at, ...}`: `run.started`, `run.completed`, `run.failed` and `run.skipped` with `runId, status, startedAt, completedAt` and `resultSummary`, `error` or `reason`; `task.*`; both with `taskId, agent, session, source, scheduleId`, the schedule's `number` and `name`, and `attempt`; failures with `code, willRetry`; `schedule.*` with `scheduleId, number, name, agent, session, reason`; `backpressure.warning`, `.critical` and `.cleared` with `queueDepth`; `fleet.*` with `worker`, for keys of the tenant `default` with the scope `operate`. `kinds` chooses: names, beginnings like `run.*`, or `*`; by default all but `task.*`, of which only `task.permanently_failed`. A comment comes every 30 s. With `Last-Event-ID` (or `?lastEventId=`) all that came since is told first; `gap {from, oldest}` says that some of it may not be there any more: `GET /v1/runs?since=` has the runs.",
    scope: 'read',
    media: 'text/event-stream',
    request: {
      headers: z.object({ 'last-event-id': z.string().optional() }),
      query: z.object({
        kinds: z.string().max(2000).optional().meta({ description: 'Separated by commas: `run.*,task.failed`.' }),
        lastEventId: z.string().optional(),
      }),
    },
    responses: { 200: z.string() },
    handle: ({ query, headers }, call) => {
      const after = placeOf(headers['last-event-id'] ?? query.lastEventId ?? '');
      const options = { tenant: call.tenant, kinds: readKinds(query.kinds, mayHaveFleet(call)), after };
      return { status: 200, hasOwnComments: true, events: (stream) => writeNotifications(parts, options, stream) };
    },
  });
}

function mayHaveFleet({ tenant, key }: Call): boolean {
  return tenant === DEFAULT_TENANT && key !== null && hasScope(key.scopes, 'operate');
}

function placeOf(id: string): ReaderPlace | null {
  if (id === '') return null;
  const place = parsePlace(id);
  if (!place) throw new MusterError('request.invalid', 'Last-Event-ID: expected the id of a notification');
  return place;
}
