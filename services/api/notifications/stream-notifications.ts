import { z } from 'zod';
import { MusterError } from '#shared/errors/index.ts';
import { type Call, route, type Route } from '#shared/http/index.ts';
import { DEFAULT_TENANT, hasScope } from '#shared/tenants/index.ts';
import { notificationStreamSchema } from './notification-view.ts';
import { type NotificationPorts, parsePosition, type ReadPosition, writeNotifications } from './notification-writer.ts';

/** `GET /v1/notifications/stream`: the events of a tenant while they happen. It stays open. */
export function streamNotifications(parts: NotificationPorts): Route {
  return route({
    method: 'get',
    path: '/v1/notifications/stream',
    operationId: 'streamNotifications',
    summary: 'Events of the tenant while they happen',
    description:
      'Server-sent events: first `open`, then each `notification`. `kinds` chooses: names, beginnings like `run.*`, or `*`; by default all but `task.*`, of which only `task.permanently_failed`, `task.sla_breached`, `task.runaway`, `task.repeated`, `task.waiting-for-daemon` and `task.blocked`. `fleet.*` is for keys of the tenant `default` with the scope `operate`. A comment comes every 30 s. With `Last-Event-ID` (or `?lastEventId=`) later notifications are sent first; `gap` says that some may be lost: `GET /v1/runs?since=` has the runs.',
    scope: 'read',
    media: 'text/event-stream',
    request: {
      headers: z.object({ 'last-event-id': z.string().optional() }),
      query: z.object({
        kinds: z.string().max(2000).optional().meta({ description: 'Separated by commas: `run.*,task.failed`.' }),
        lastEventId: z.string().optional(),
      }),
    },
    responses: { 200: notificationStreamSchema },
    handle: ({ query, headers }, call) => {
      const after = requestedPosition(headers['last-event-id'] ?? query.lastEventId ?? '');
      const options = { tenant: call.tenant, kinds: readKinds(query.kinds, canReadFleet(call)), after };
      return { status: 200, hasOwnComments: true, events: (stream) => writeNotifications(parts, options, stream) };
    },
  });
}

function canReadFleet({ tenant, key }: Call): boolean {
  return tenant === DEFAULT_TENANT && key !== null && hasScope(key.scopes, 'operate');
}

function requestedPosition(id: string): ReadPosition | null {
  if (id === '') return null;
  const position = parsePosition(id);
  if (!position) throw new MusterError('request.invalid', 'Last-Event-ID: expected the id of a notification');
  return position;
}

/** Which kinds of notifications a reader wants. */
export interface WantedKinds {
  /** Whether this kind is among them. */
  has(kind: string): boolean;
}

/** The kinds for a reader that names none: not each step of each task. */
const DEFAULT_KINDS = [
  'run.*',
  'schedule.*',
  'action.*',
  'question.*',
  'agent.*',
  'budget.*',
  'circuit.*',
  'daemon.*',
  'backpressure.*',
  'finding.*',
  'fleet.*',
  'task.permanently_failed',
  'task.sla_breached',
  'task.runaway',
  'task.repeated',
  'task.waiting-for-daemon',
  'task.blocked',
];
const MAX_KINDS = 50;
const KIND =
  /^(?:\*|(?:run|task|schedule|action|question|agent|budget|circuit|daemon|backpressure|finding|fleet)\.(?:\*|[a-z_-]{1,40}(?:\.[a-z_-]{1,40})?(?:\.\*)?))$/;

/**
 * Reads `?kinds=run.*,task.failed`: names, or beginnings with `.*` behind them; `*` is all. Events of the fleet are left out for
 * callers that may not have them. Errors: `request.invalid`; `auth.forbidden` for such callers that name them.
 */
function readKinds(text: string | undefined, mayHaveFleet: boolean): WantedKinds {
  const kinds = text === undefined ? DEFAULT_KINDS : text.split(',').map((kind) => kind.trim());
  const wrong = kinds.find((kind) => !KIND.test(kind));
  if (wrong !== undefined || kinds.length > MAX_KINDS)
    throw new MusterError(
      'request.invalid',
      `kinds: expected up to ${MAX_KINDS} like run.*, task.completed, schedule.paused, backpressure.*, fleet.* or *`,
      { details: { kinds: (wrong ?? text ?? '').slice(0, 100) } },
    );
  if (text !== undefined && !mayHaveFleet && kinds.some((kind) => kind.startsWith('fleet.')))
    throw new MusterError('auth.forbidden', 'Events of the fleet need a key of the tenant "default" with the scope "operate"');
  const names = new Set(kinds);
  const beginnings = kinds.filter((kind) => kind.endsWith('*')).map((kind) => kind.slice(0, -1));
  return {
    has: (kind) =>
      (mayHaveFleet || !kind.startsWith('fleet.')) && (names.has(kind) || beginnings.some((beginning) => kind.startsWith(beginning))),
  };
}
