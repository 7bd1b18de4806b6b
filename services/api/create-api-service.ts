import { hostname } from 'node:os';
import type { Registry } from 'prom-client';
import { outboundMetrics } from '#shared/deliveries/index.ts';
import type { TaskQueue } from '#shared/config/index.ts';
import { publishFleetEvent } from '#shared/events/index.ts';
import { openFindingLooks } from '#shared/findings/index.ts';
import { createRouter, type Route } from '#shared/http/index.ts';
import { createRouterService, type Parts, type Service } from '#shared/lifecycle/index.ts';
import { ChoreRunner, type FleetNotice, handlersFor, isHeldForWorker, watchWorkersOnce } from '#shared/queue/index.ts';
import { readFleetCounts } from '#shared/metrics/index.ts';
import { systemClock } from '#shared/time/index.ts';
import { EXAMPLES } from './examples.gen.ts';
import { watchDaemons } from './fleet/daemon-watch.ts';
import { openAlerts, openFindings } from './fleet/open-findings.ts';
import { addStoredFamilies } from './metrics/fleet-families.ts';
import { addFleetGauges } from './metrics/fleet-gauges.ts';
import { mcpRouter } from './mcp/mcp-router.ts';
import { openOpenai } from './openai/open-openai.ts';
import { apiRoutes } from './routes.ts';

/** The HTTP API under `/v1`. It keeps nothing in memory, so any number of it may run. It notices workers that are gone and queues without
 * one, and looks for findings. */
export function createApiService(parts: Parts): Service {
  const { redis, keys, queues, log, config } = parts;
  const { settings } = config;
  const routes = apiRoutes(parts);
  const router = createRouter({ routes: routes.map(withExamples), parts, log });
  const openai = openOpenai(parts);
  router.use(createRouter({ routes: openai.routes, parts, log, isDocumented: false }));
  router.use(mcpRouter(parts, routes));
  const fleet = { redis, keys, settings, log };
  const onNotice = (notice: FleetNotice): void => void publishFleetEvent(fleet, notice);
  const isHeld = (queue: TaskQueue): Promise<boolean> => isHeldForWorker(parts, queue);
  const list = openFindings(parts);
  const handlers = handlersFor('api', {
    'watch-workers': () => watchWorkersOnce({ ...fleet, queues, isHeld, onNotice }),
    'watch-daemons': () => watchDaemons(fleet),
    'run-batches': ({ signal }) => openai.runBatches(signal),
    'look-for-findings': openFindingLooks({ ...parts, list, alerts: openAlerts(parts) }),
  });
  const chores = new ChoreRunner({ ...fleet, service: 'api', handlers, process: `${hostname()}-api-${process.pid}`, clock: systemClock });
  return {
    ...createRouterService('api', router),
    registry: apiMetrics(parts),
    start: () => {
      chores.start();
      return Promise.resolve();
    },
    stop: () => chores.stop(),
  };
}

/** What it was asked and answered once, for the documentation. */
function withExamples(each: Route): Route {
  const examples = EXAMPLES[each.operationId];
  return examples === undefined ? each : { ...each, examples };
}

/** What any API process shows of the fleet. */
function apiMetrics(parts: Parts): Registry {
  const registry = outboundMetrics(parts);
  addStoredFamilies(registry, () => readFleetCounts(parts));
  addFleetGauges(registry, parts);
  return registry;
}
