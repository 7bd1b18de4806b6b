import type { Route } from '#shared/http/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { agentRoutes } from './agents.ts';
import { callbackRoutes } from './callbacks.ts';
import { deliveryRoutes } from './deliveries.ts';
import { streamNotifications } from './notifications/stream-notifications.ts';
import { queueRoutes } from './queues.ts';
import { runRoutes } from './schedules/runs.ts';
import { scheduleRoutes } from './schedules/schedules.ts';
import { postMessage } from './sessions/messages.ts';
import { getSession, getSessions, getTranscript, postSessionStop, putSessionMode } from './sessions/sessions.ts';
import { streamSession } from './sessions/stream-session.ts';
import { deleteVisitor, getVisitors, postVisitor } from './sessions/visitors.ts';
import { taskRoutes } from './tasks/task-routes.ts';
import { tenantKeyRoutes } from './tenant-keys.ts';
import { tenantRoutes } from './tenants.ts';

/** Every endpoint of the API. Each resource composes its own; the order is that of the documentation. */
export function apiRoutes(parts: Parts): Route[] {
  return [
    ...taskRoutes(parts),
    getSessions(parts),
    getSession(parts),
    postMessage(parts),
    streamSession(parts),
    getTranscript(parts),
    postSessionStop(parts),
    putSessionMode(parts),
    postVisitor(parts),
    getVisitors(parts),
    deleteVisitor(parts),
    ...deliveryRoutes(parts),
    ...callbackRoutes(parts),
    ...agentRoutes(parts),
    ...scheduleRoutes(parts),
    ...runRoutes(parts),
    streamNotifications(parts),
    ...queueRoutes(parts),
    ...tenantRoutes(parts),
    ...tenantKeyRoutes(parts),
  ];
}
