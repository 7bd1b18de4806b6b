import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { startHttpServer } from '#shared/http/start-http-server.ts';
import { WAIT_GATES } from '#shared/errors/gates.ts';
import { createApiService } from '../../services/api/create-api-service.ts';
import { createChatService } from '../../services/chat/create-chat-service.ts';
import { createDashboardService } from '../../services/dashboard/create-dashboard-service.ts';
import { createHubService } from '../../services/hub/create-hub-service.ts';
import { createSchedulerService } from '../../services/scheduler/create-scheduler-service.ts';
import { createWebhooksService } from '../../services/webhooks/create-webhooks-service.ts';
import { createWorkerService } from '../../services/worker/create-worker-service.ts';
import { useParts } from '../support/use-parts.ts';
import { ROOT } from '../docs/markdown.ts';
import { SERVICES } from '../deploy/repository.ts';

/** Protocols of others, which have documents of their own; a page of ours says what of each is served. */
const OF_OTHERS = / \/(?:openai\/|mcp$)/;

/** It serves pages for people, which programs have no use for: their paths are in its README. */
const FOR_PEOPLE = 'dashboard';

interface ListedRoute {
  path: string;
  /** None for a router that is mounted here. */
  methods?: string[];
  router?: ListingRouter;
}
interface ListingRouter {
  listRoutes(): ListedRoute[];
}

/** All that a router and those in it answer, as `GET /v1/tasks/:id`. Bull Board's own routes are its own. */
function routedBy(router: ListingRouter, at = ''): string[] {
  return router.listRoutes().flatMap(({ path, methods = [], router: mounted }) => {
    const full = `${at}${path}`.replaceAll('//', '/');
    if (mounted !== undefined) return routedBy(mounted, full === '/' ? '' : full);
    return methods.filter((method) => /^(GET|POST|PUT|PATCH|DELETE)$/.test(method)).map((method) => `${method} ${full}`);
  });
}

const parts = await useParts();
const services = [
  createApiService(parts),
  createChatService(parts),
  createDashboardService(parts),
  createHubService(parts),
  createSchedulerService(parts),
  createWebhooksService(parts),
  createWorkerService(parts),
];
const routed = services.flatMap(({ name, router }) => {
  // Express's types do not know `listRoutes` yet.
  const listing = router as unknown as ListingRouter | undefined;
  return listing ? routedBy(listing).map((path) => ({ service: name, path })) : [];
});
const routers = services.flatMap(({ router }) => (router ? [router] : []));
const { config, log } = parts;
const server = await startHttpServer({ routers, host: '127.0.0.1', port: 0, config, log, readiness: () => Promise.resolve([]) });
afterAll(() => server.close(500));

it('each service is looked at', () => {
  expect(services.map(({ name }) => name)).toEqual(SERVICES);
});

it('every path that a service answers to programs is in the documentation, and no other', async () => {
  const document = (await (await fetch(`http://127.0.0.1:${server.port}/openapi.json`)).json()) as { paths: Record<string, object> };
  const documented = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`),
  );
  const probes = ['GET /healthz', 'GET /readyz', 'GET /metrics'];
  const forPrograms = routed.filter(({ service }) => service !== FOR_PEOPLE).map(({ path }) => path);
  expect(forPrograms).toContain('POST /hooks/:id');
  const ours = forPrograms.filter((path) => !OF_OTHERS.test(path));
  expect(documented.toSorted()).toEqual([...new Set([...ours, ...probes])].toSorted());
});

it('every path of OpenAI’s protocol is on its page, and no other', () => {
  const page = readFileSync(join(ROOT, 'docs/openai.md'), 'utf8');
  const named = [...page.matchAll(/`((?:GET|POST|DELETE) \/openai\/[^`]+)`/g)].map(([, path = '']) => path);
  const served = routed.map(({ path }) => path).filter((path) => / \/openai\//.test(path));
  expect(named.toSorted()).toEqual(served.toSorted());
});

it('the service for people answers nothing of the API', () => {
  const pages = routed.filter(({ service }) => service === FOR_PEOPLE).map(({ path }) => path);
  expect(pages).toContain('GET /sign-in');
  // Senders post to the paths below `/hooks`, which itself is a page.
  expect(pages.filter((path) => / \/(?:v1\b|hooks\/)/.test(path))).toEqual([]);
});

it('every gate that a task can wait at is in the documentation', async () => {
  const document: unknown = await (await fetch(`http://127.0.0.1:${server.port}/openapi.json`)).json();
  expect(document).toMatchObject({
    components: { schemas: { Why: { properties: { reasons: { items: { properties: { gate: { enum: WAIT_GATES } } } } } } } },
  });
});
