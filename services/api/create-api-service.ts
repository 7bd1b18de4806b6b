import { outboundMetrics } from '#shared/deliveries/outbound-metrics.ts';
import { tellFleet } from '#shared/events/tell-fleet.ts';
import { createRouter } from '#shared/http/create-router.ts';
import { createRouterService } from '#shared/lifecycle/create-router-service.ts';
import type { Parts } from '#shared/lifecycle/open-parts.ts';
import type { Service } from '#shared/lifecycle/service.ts';
import { WorkerWatch } from '#shared/queue/workers/worker-watch.ts';
import { apiRoutes } from './routes.ts';

/** The HTTP API under `/v1`. It keeps nothing in memory, so any number of it may run. It notices workers that are gone. */
export function createApiService(parts: Parts): Service {
  const { redis, keys, log, config } = parts;
  const { settings } = config;
  const router = createRouter({ routes: apiRoutes(parts), parts, log });
  const onLost = (worker: string): void => void tellFleet({ redis, keys, settings }, 'worker.lost', worker);
  const watch = new WorkerWatch({ redis, keys, settings, onLost, log });
  return {
    ...createRouterService('api', router),
    registry: outboundMetrics(parts),
    start: () => Promise.resolve(watch.start()),
    stop: () => watch.stop(),
  };
}
