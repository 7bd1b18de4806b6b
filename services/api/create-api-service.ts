import { createRouter } from '#shared/http/create-router.ts';
import { createRouterService } from '#shared/lifecycle/create-router-service.ts';
import type { Parts } from '#shared/lifecycle/open-parts.ts';
import type { Service } from '#shared/lifecycle/service.ts';
import { apiRoutes } from './routes.ts';

/** The HTTP API under `/v1`. It keeps nothing in memory, so any number of it may run. */
export function createApiService(parts: Parts): Service {
  const router = createRouter({ routes: apiRoutes(parts), parts, log: parts.log });
  return createRouterService('api', router);
}
