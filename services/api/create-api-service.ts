import { createRouter } from '#shared/http/create-router.ts';
import type { Parts } from '#shared/lifecycle/open-parts.ts';
import type { Service } from '#shared/lifecycle/service.ts';
import { apiRoutes } from './routes.ts';

/** The HTTP API under `/v1`. It keeps nothing in memory, so any number of it may run. */
export function createApiService(parts: Parts): Service {
  const router = createRouter({ routes: apiRoutes(parts), parts, log: parts.log });
  return { name: 'api', router, start: nothing, stop: nothing };
}

/** Requests are the server's to drain, and connections belong to whoever opened them. */
function nothing(): Promise<void> {
  return Promise.resolve();
}
