import type { Route } from '#shared/http/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { LoadReader } from '#shared/queue/index.ts';
import { openScheduleParts } from '#shared/schedules/index.ts';
import { agentRoutes } from './agents/agents.ts';
import { daemonRoutes } from './daemons/daemons.ts';
import { callbackRoutes } from './deliveries/callbacks.ts';
import { deliveryRoutes } from './deliveries/deliveries.ts';
import { getFailures } from './failures.ts';
import { taskFileRoutes } from './tasks/files/artifacts.ts';
import { postEvent } from './tasks/send-event.ts';
import { postCheckpoint } from './tasks/files/post-checkpoint.ts';
import { fileLinkRoutes } from './tasks/files/file-links.ts';
import { postSessionUpload, postUpload } from './tasks/files/uploads.ts';
import { fleetRoutes } from './fleet/fleet.ts';
import { alertRoutes } from './fleet/alerts.ts';
import { getScaling } from './fleet/scaling.ts';
import { getUsage } from './money/usage.ts';
import { getProviders } from './fleet/providers.ts';
import { getNow } from './metrics/now.ts';
import { attentionRoutes } from './fleet/attention.ts';
import { openFindings } from './fleet/open-findings.ts';
import { getAgentMetrics } from './metrics/agent-metrics.ts';
import { getMetricsHistory } from './metrics/history.ts';
import { getMetrics } from './metrics/queue-metrics.ts';
import { getChecks } from './fleet/checks.ts';
import { getConfiguration } from './fleet/configuration.ts';
import { fleetLimitRoutes } from './limits/fleet-limits.ts';
import { postLimitsPreview } from './limits/preview-limits.ts';
import { streamNotifications } from './notifications/stream-notifications.ts';
import { getAudit } from './tenants/audit.ts';
import { erasureRoutes } from './tenants/erasures.ts';
import { peopleRoutes } from './tenants/people.ts';
import { postSignInLink } from './tenants/sign-in-links.ts';
import { questionRoutes } from './tasks/questions.ts';
import { queueRoutes } from './fleet/queues.ts';
import { budgetRoutes } from './money/budgets.ts';
import { runRoutes } from './schedules/runs.ts';
import { scheduleRoutes } from './schedules/schedules.ts';
import { postMessage } from './sessions/messages.ts';
import { getSession, getSessions, getTranscript, postSessionStop, putSessionMode } from './sessions/sessions.ts';
import { streamSession } from './sessions/stream-session.ts';
import { deleteVisitor, getVisitors, postVisitor } from './sessions/visitors.ts';
import { taskActionRoutes } from './tasks/act-on-task.ts';
import { bulkActionRoutes } from './tasks/act-on-tasks.ts';
import { getTaskFacets, getTasks } from './tasks/list-tasks.ts';
import { taskReadRoutes } from './tasks/read-task.ts';
import { streamTask } from './tasks/stream-task.ts';
import { postTask } from './tasks/submit-task.ts';
import { postTasks } from './tasks/submit-tasks.ts';
import { tenantKeyRoutes } from './tenants/tenant-keys.ts';
import { tenantRoutes } from './tenants/tenants.ts';

/** Every endpoint of the API. Each resource composes its own; the order is that of the documentation. */
export function apiRoutes(parts: Parts): Route[] {
  const scheduling = openScheduleParts(parts);
  const loads = new LoadReader(parts);
  const findings = openFindings(parts);
  return [
    postTask(parts),
    postTasks(parts),
    getTasks(parts),
    // These two before the routes of one task, which would take `facets` or `actions` for its id.
    getTaskFacets(parts),
    ...bulkActionRoutes(parts),
    ...taskReadRoutes(parts),
    ...taskFileRoutes(parts),
    streamTask(parts),
    ...taskActionRoutes(parts),
    ...questionRoutes(parts),
    postUpload(parts),
    postSessionUpload(parts),
    ...fileLinkRoutes(parts),
    postCheckpoint(parts),
    postEvent(parts),
    getFailures(parts),
    getUsage(parts),
    getSessions(parts),
    getSession(parts),
    postMessage(parts, scheduling),
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
    ...budgetRoutes(parts),
    ...scheduleRoutes(scheduling),
    ...runRoutes(scheduling),
    streamNotifications(parts),
    ...queueRoutes(parts, loads),
    ...fleetRoutes(parts),
    ...operatingRoutes(parts, loads),
    ...daemonRoutes(parts),
    getProviders(parts),
    getMetrics(parts, loads),
    getMetricsHistory(parts),
    getAgentMetrics(parts),
    ...attentionRoutes(findings),
    getNow(parts, loads),
    ...tenantRoutes(parts),
    postLimitsPreview(parts),
    ...fleetLimitRoutes(parts),
    ...tenantKeyRoutes(parts),
    postSignInLink(parts),
    getChecks(findings),
    getConfiguration(parts),
    ...peopleRoutes(parts),
    getAudit(parts),
  ];
}

/** What autoscalers ask, who is alerted, and what is erased. */
function operatingRoutes(parts: Parts, loads: LoadReader): Route[] {
  return [getScaling(parts, loads), ...alertRoutes(parts), ...erasureRoutes(parts)];
}
