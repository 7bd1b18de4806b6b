import { expect, test } from 'vitest';
import type { SettingsInput } from '#shared/config/settings/settings.ts';
import { type RouteDescription, routesOf } from '#shared/http/route.ts';
import { startHttpServer } from '#shared/http/start-http-server.ts';
import { createKey } from '#shared/tenants/key-store.ts';
import { createApiService } from '../../services/api/create-api-service.ts';
import { createWebhooksService } from '../../services/webhooks/create-webhooks-service.ts';
import { closeAfterTests } from '../support/close-after-tests.ts';
import { leastCpuMicros } from '../support/cpu-micros.ts';
import { useParts } from '../support/use-parts.ts';
import { plainBody, worstBodies } from './worst-bodies.ts';

const SIZE = { bytes: 262_144, values: 5000, depth: 128 };
/** How many times the CPU time of a plain body of the same size the worst one may take. */
const MAX_TIMES = 12;
/** Below this, in microseconds, the process's own noise is measured. */
const LEAST_MICROS = 10_000;

const settings: SettingsInput = {
  http: { maxBodyBytes: SIZE.bytes, maxBodyValues: SIZE.values, maxBodyDepth: SIZE.depth },
  limits: { httpPerMinute: 1_000_000 },
};
const parts = await useParts(settings);
const routers = [createApiService(parts), createWebhooksService(parts)].flatMap(({ router }) => (router ? [router] : []));
const readiness = (): Promise<string[]> => Promise.resolve([]);
const server = await startHttpServer({ routers, host: '127.0.0.1', port: 0, config: parts.config, log: parts.log, readiness });
closeAfterTests({ close: () => server.close(500) });
const { secret } = await createKey(parts, { tenant: 'default', name: 'test', scopes: ['admin'] });

/** Bodies that routes take, so that what is behind their schemas works too. */
const VALID: Readonly<Record<string, readonly Record<string, unknown>[]>> = {
  'post /v1/tasks': [{ agent: 'echo', input: 'x' }],
  'post /v1/sessions/:id/messages': [{ text: 'x' }],
  'post /v1/schedules': [{ every: '1h', agent: 'echo', message: 'x' }],
  'post /v1/schedules/preview': [{ every: '1h' }],
  'post /v1/hooks': [
    { provider: 'none', agent: 'echo' },
    { provider: 'hmac', agent: 'echo', secret: 's', options: { header: 'X-Signature' } },
  ],
  'put /v1/agents/:id': [{ kind: 'echo' }, { kind: 'http', url: 'https://agent.example' }, { kind: 'openai', model: 'm' }],
  'post /v1/tenants': [{ id: 'acme' }],
};
/** Receivers without a key have tests of their own: what they take is signed. */
const routes = routers.flatMap((router) => routesOf(router)).filter(({ request, scope }) => request?.body && scope !== 'none');

async function send({ method, path }: RouteDescription, body: string): Promise<void> {
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
  const url = `http://127.0.0.1:${server.port}${path.replace(/:\w+/g, 'x')}`;
  const answer = await fetch(url, { method: method.toUpperCase(), headers, body });
  await answer.arrayBuffer();
  expect(answer.status).toBeLessThan(500);
}

test.each(routes.map((route) => [`${route.method} ${route.path}`, route] as const))(
  'the worst body for %s costs a bounded multiple of a plain one of the same size',
  async (name, route) => {
    const plain = await leastCpuMicros(() => send(route, plainBody(SIZE.bytes)));
    const bound = Math.max(plain, LEAST_MICROS) * MAX_TIMES;
    const costly: string[] = [];
    for (const { name: what, text } of (VALID[name] ?? [{}]).flatMap((valid) => worstBodies(route, valid, SIZE))) {
      const micros = await leastCpuMicros(() => send(route, text), bound);
      if (micros > bound) costly.push(`${what}: ${micros} of ${bound} microseconds`);
    }
    expect(costly).toEqual([]);
  },
  60_000,
);

test.each([
  ['members and elements', JSON.stringify({ agent: 'echo', input: 'x', context: { list: Array.from({ length: 5000 }, () => ({})) } }), 413],
  ['levels', `{"agent":"echo","input":"x","context":{"a":${'['.repeat(200)}${']'.repeat(200)}}}`, 422],
])('a body of too many %s is refused and says how many are allowed', async (_what, body, status) => {
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
  const answer = await fetch(`http://127.0.0.1:${server.port}/v1/tasks`, { method: 'POST', headers, body });
  expect(answer.status).toBe(status);
  expect(await answer.text()).toMatch(/more than 5000 members and elements|at most 128 levels/);
});
