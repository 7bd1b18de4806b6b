import type { Route } from '#shared/http/route.ts';
import type { Parts } from '#shared/lifecycle/open-parts.ts';
import { deleteAgent } from './agents/delete-agent.ts';
import { getAgent } from './agents/get-agent.ts';
import { getAgents } from './agents/get-agents.ts';
import { putAgent } from './agents/put-agent.ts';
import { getQueues } from './queues/get-queues.ts';
import { pauseQueue, resumeQueue } from './queues/pause-queue.ts';
import { cancelTask } from './tasks/cancel-task.ts';
import { changePriority } from './tasks/change-priority.ts';
import { getAttempts } from './tasks/get-attempts.ts';
import { getTask } from './tasks/get-task.ts';
import { getTasks } from './tasks/get-tasks.ts';
import { getTimeline } from './tasks/get-timeline.ts';
import { getWhy } from './tasks/get-why.ts';
import { retryTask } from './tasks/retry-task.ts';
import { streamTask } from './tasks/stream-task.ts';
import { submitTask } from './tasks/submit-task.ts';
import { submitTasks } from './tasks/submit-tasks.ts';
import { changeTenant } from './tenants/change-tenant.ts';
import { createTenant } from './tenants/create-tenant.ts';
import { getTenant, getTenants } from './tenants/get-tenants.ts';
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
  streamTask,
  cancelTask,
  retryTask,
  changePriority,
  getAgents,
  getAgent,
  putAgent,
  deleteAgent,
  getQueues,
  pauseQueue,
  resumeQueue,
  createTenant,
  getTenants,
  getTenant,
  changeTenant,
  createTenantKey,
  getTenantKeys,
  deleteTenantKey,
] as const satisfies ((parts: Parts) => Route)[];

export function apiRoutes(parts: Parts): Route[] {
  return ROUTES.map((create) => create(parts));
}
