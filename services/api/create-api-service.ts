import type { Registry } from 'prom-client';
import { outboundMetrics } from '#shared/deliveries/index.ts';
import type { TaskQueue } from '#shared/config/index.ts';
import { publishFleetEvent } from '#shared/events/index.ts';
import { FindingWatch } from '#shared/findings/index.ts';
import { createRouter } from '#shared/http/index.ts';
import { createRouterService, type Parts, type Service } from '#shared/lifecycle/index.ts';
import { type FleetNotice, isHeldForWorker, WorkerWatch } from '#shared/queue/index.ts';
import { readFleetCounts } from '#shared/metrics/index.ts';
import { systemClock } from '#shared/time/index.ts';
import { DaemonWatch } from './fleet/daemon-watch.ts';
import { openFindings } from './fleet/open-findings.ts';
import { addStoredFamilies } from './metrics/fleet-families.ts';
import { addFleetGauges } from './metrics/fleet-gauges.ts';
import { apiRoutes } from './routes.ts';

/** The HTTP API under `/v1`. It keeps nothing in memory, so any number of it may run. It notices workers that are gone and queues without
 * one, and looks for findings. */
export function createApiService(parts: Parts): Service {
  const { redis, keys, queues, log, config } = parts;
  const { settings } = config;
  const router = createRouter({ routes: apiRoutes(parts), parts, log });
  const onNotice = (notice: FleetNotice): void => void publishFleetEvent({ redis, keys, settings }, notice);
  const isHeld = (queue: TaskQueue): Promise<boolean> => isHeldForWorker(parts, queue);
  const watch = new WorkerWatch({ redis, keys, settings, queues, isHeld, onNotice, log });
  const daemonWatch = new DaemonWatch({ redis, keys, settings, log });
  const findingWatch = new FindingWatch({ ...parts, list: openFindings(parts), clock: systemClock });
  return {
    ...createRouterService('api', router),
    registry: apiMetrics(parts),
    start: () => {
      watch.start();
      daemonWatch.start();
      findingWatch.start();
      return Promise.resolve();
    },
    stop: async () => {
      await Promise.all([watch.stop(), daemonWatch.stop(), findingWatch.stop()]);
    },
  };
}

/** What any API process shows of the fleet. */
function apiMetrics(parts: Parts): Registry {
  const registry = outboundMetrics(parts);
  addStoredFamilies(registry, () => readFleetCounts(parts));
  addFleetGauges(registry, parts);
  return registry;
}
