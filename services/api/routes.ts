import type { Route } from '#shared/http/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { deleteAgent } from './agents/delete-agent.ts';
import { getAgent } from './agents/get-agent.ts';
import { getAgents } from './agents/get-agents.ts';
import { putAgent } from './agents/put-agent.ts';
import { postEndpointEnable, getEndpoints } from './callbacks/callback-endpoints.ts';
import { postCallbackSecret, getCallbackSecret } from './callbacks/callback-secret.ts';
import { getDeliveries, getTaskDeliveries } from './deliveries/get-deliveries.ts';
import { postDeliveryRetry } from './deliveries/retry-delivery.ts';
import { streamNotifications } from './notifications/stream-notifications.ts';
import { getQueues } from './queues/get-queues.ts';
import { pauseQueue, resumeQueue } from './queues/pause-queue.ts';
import { getRuns, getScheduleRuns, postScheduleRun } from './schedules/runs.ts';
import { deleteSchedule, getSchedule, getSchedules, patchSchedule, postSchedule, postSchedulePreview } from './schedules/schedules.ts';
import { deleteVisitor, getVisitors, postVisitor } from './sessions/visitors.ts';
import { getSession, getSessions, getTranscript, postSessionStop, putSessionMode } from './sessions/sessions.ts';
import { postMessage } from './sessions/messages.ts';
import { streamSession } from './sessions/stream-session.ts';
import { cancelTask } from './tasks/cancel-task.ts';
import { deleteTask } from './tasks/delete-task.ts';
import { changePriority } from './tasks/change-priority.ts';
import { getAttempts } from './tasks/get-attempts.ts';
import { getLog } from './tasks/get-log.ts';
import { getTask } from './tasks/get-task.ts';
import { getTasks } from './tasks/get-tasks.ts';
import { getTimeline } from './tasks/get-timeline.ts';
import { getWhy } from './tasks/get-why.ts';
import { postInput } from './tasks/post-input.ts';
import { retryTask } from './tasks/retry-task.ts';
import { streamTask } from './tasks/stream-task.ts';
import { submitTask } from './tasks/submit-task.ts';
import { submitTasks } from './tasks/submit-tasks.ts';
import { changeTenant } from './tenants/change-tenant.ts';
import { createTenant } from './tenants/create-tenant.ts';
import { getTenant, getTenants } from './tenants/get-tenants.ts';
import { deleteTenant } from './tenants/delete-tenant.ts';
import { createTenantKey, deleteTenantKey, getTenantKeys } from './tenants/tenant-keys.ts';

/** Every endpoint of the API, each in the file of its name. */
const ROUTES = [
  submitTask,
  submitTasks,
  getTasks,
  getTask,
  getWhy,
  getAttempts,
  getTimeline,
  getLog,
  deleteTask,
  streamTask,
  cancelTask,
  retryTask,
  postInput,
  changePriority,
  getSessions,
  getSession,
  postMessage,
  streamSession,
  getTranscript,
  postSessionStop,
  putSessionMode,
  postVisitor,
  getVisitors,
  deleteVisitor,
  getDeliveries,
  getTaskDeliveries,
  postDeliveryRetry,
  getCallbackSecret,
  postCallbackSecret,
  getEndpoints,
  postEndpointEnable,
  getAgents,
  getAgent,
  putAgent,
  deleteAgent,
  postSchedule,
  getSchedules,
  postSchedulePreview,
  getSchedule,
  patchSchedule,
  deleteSchedule,
  postScheduleRun,
  getScheduleRuns,
  getRuns,
  streamNotifications,
  getQueues,
  pauseQueue,
  resumeQueue,
  createTenant,
  getTenants,
  getTenant,
  changeTenant,
  deleteTenant,
  createTenantKey,
  getTenantKeys,
  deleteTenantKey,
] as const satisfies ((parts: Parts) => Route)[];

export function apiRoutes(parts: Parts): Route[] {
  return ROUTES.map((create) => create(parts));
}
