import { once } from 'node:events';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text as bodyText } from 'node:stream/consumers';
import { Router } from 'express';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { route, type Route } from '#shared/http/route.ts';
import { secureHeaders } from '#shared/http/middleware.ts';
import type { Readiness } from '#shared/http/probes.ts';
import { waitFor } from '../../support/wait-for.ts';
import { serveRoutes } from './serve-routes.ts';
import { closeAfterTests } from '../../support/close-after-tests.ts';
import { useRedis } from '../../support/redis/use-redis.ts';

let problems: string[] = [];
let warnings: string[] = [];
/** Ends the running `/slow`; null while none runs. */
let finish: (() => void) | null = null;

/** A grace that ends a test that waits for it. */
const LONGER_THAN_A_TEST_MS = 60_000;

const routes: Route[] = [
  route({
    method: 'get',
    path: '/v1/things/:id',
    operationId: 'operation1',
    summary: 'One thing',
    scope: 'none',
    request: { params: z.object({ id: z.string() }) },
    responses: { 200: z.object({ id: z.string() }).meta({ id: 'Thing' }) },
    handle: ({ params }) => ({ status: 200, body: params }),
  }),
  route({
    method: 'post',
    path: '/v1/things',
    operationId: 'operation2',
    summary: 'Make one',
    scope: 'submit',
    request: { body: z.strictObject({ name: z.string() }) },
    responses: { 201: z.object({ id: z.string() }), 204: z.null() },
    handle: () => ({ status: 204 }),
  }),
  route({
    method: 'get',
    path: '/slow',
    operationId: 'operation3',
    summary: 'Answers when told to',
    scope: 'none',
    responses: { 200: z.object({}) },
    handle: async () => {
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
      return { status: 200, body: { done: true } };
    },
  }),
];

/** A page that brings its own style, and an answer that does not come to its end. */
const page = Router()
  .get('/begun', (_request, response) => void response.write('begun'))
  .get('/page', secureHeaders({ styleSrc: ["'unsafe-inline'"] }), (_request, response) => {
    response.send('<style></style>');
  });

const redis = await useRedis();
const served = closeAfterTests(
  await serveRoutes({ redisUrl: redis.url, routes, router: page, readiness: () => Promise.resolve(problems), warnings: () => warnings }),
);

describe('probes and metrics', () => {
  it('says that the process is up, and whether it can take work', async () => {
    expect((await fetch(`${served.url}/healthz`)).status).toBe(200);
    expect(await (await fetch(`${served.url}/readyz`)).json()).toEqual({ ok: true, problems: [] });
    problems = ['Redis does not answer'];
    const notReady = await fetch(`${served.url}/readyz`);
    problems = [];
    expect([notReady.status, await notReady.json()]).toEqual([503, { ok: false, problems: ['Redis does not answer'] }]);
    warnings = ['its memory is full'];
    const warned = await fetch(`${served.url}/readyz`);
    expect([warned.status, await warned.json()]).toEqual([200, { ok: true, problems: [], warnings }]);
    warnings = [];
  });

  it('logs once that it stopped being ready and once that it is ready again, and warns of no start', async () => {
    let found: Readiness = 'starting';
    const probed = await serveRoutes({ redisUrl: redis.url, routes: [], readiness: () => Promise.resolve(found) });
    try {
      const answers = ['starting' as const, [], ['Redis does not answer'], ['Redis does not answer'], [], [], 'shutting down' as const];
      const statuses: number[] = [];
      for (const answer of answers) {
        found = answer;
        statuses.push((await fetch(`${probed.url}/readyz`)).status);
      }
      expect(statuses).toEqual([503, 200, 503, 503, 200, 200, 503]);
      const lines = probed
        .logged()
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as { level: string; msg: string; reason?: string });
      expect(
        lines.filter(({ level }) => level !== 'trace' && level !== 'debug').map(({ level, msg, reason }) => [level, msg, reason]),
      ).toEqual([
        ['warn', 'not ready: it can take no work', 'Redis does not answer'],
        ['info', 'ready again', undefined],
      ]);
    } finally {
      await probed.close();
    }
  });

  it('is not ready when the checks hang or fail', async () => {
    const hanging = await serveRoutes({ redisUrl: redis.url, routes: [], readiness: () => new Promise(() => undefined) });
    const failing = await serveRoutes({ redisUrl: redis.url, routes: [], readiness: () => Promise.reject(new Error('no')) });
    try {
      expect((await fetch(`${hanging.url}/readyz`)).status).toBe(503);
      expect(await (await fetch(`${failing.url}/metrics`)).text()).toContain('\nmuster_process_ready 0\n');
      expect((await fetch(`${failing.url}/readyz`)).status).toBe(503);
    } finally {
      await hanging.close();
      await failing.close();
    }
  });

  it('times requests by the route and not by the address', async () => {
    await fetch(`${served.url}/v1/things/a-very-special-id`);
    const text = await (await fetch(`${served.url}/metrics`)).text();
    expect(text).toContain('muster_http_request_duration_seconds_count{method="GET",route="/v1/things/:id",status="200"}');
    expect(text).toContain('process_cpu_user_seconds_total');
    expect(text).not.toContain('a-very-special-id');
  });
});

describe('what every answer carries', () => {
  it('a problem for an address that nobody serves', async () => {
    const response = await fetch(`${served.url}/nowhere?x=1`, { method: 'PATCH' });
    expect([response.status, response.headers.get('content-type')]).toEqual([404, 'application/problem+json; charset=utf-8']);
    expect(await response.json()).toMatchObject({ code: 'request.not-found', instance: '/nowhere' });
  });

  it('security headers, and nothing about the software', async () => {
    const { headers } = await fetch(`${served.url}/v1/things/1`);
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'self'");
    expect(policy).not.toContain('unsafe-inline');
    expect(policy).not.toContain('http');
    expect([headers.get('x-content-type-options'), headers.get('x-frame-options'), headers.get('x-powered-by')]).toEqual([
      'nosniff',
      'DENY',
      null,
    ]);
  });

  it('a wider policy where a page asks for it', async () => {
    const { headers } = await fetch(`${served.url}/page`);
    expect(headers.get('content-security-policy')).toContain("style-src 'self' 'unsafe-inline'");
  });
});

describe('documentation', () => {
  it('describes every route of every router, as OpenAPI 3.1', async () => {
    // oxlint-disable-next-line typescript/no-explicit-any
    const document = (await (await fetch(`${served.url}/openapi.json`)).json()) as any;
    expect(document.openapi).toBe('3.1.0');
    expect(Object.keys(document.paths).toSorted()).toEqual(['/healthz', '/metrics', '/readyz', '/slow', '/v1/things', '/v1/things/{id}']);
    const { get } = document.paths['/v1/things/{id}'];
    expect(get.parameters).toMatchObject([{ name: 'id', in: 'path', required: true }]);
    expect(get.responses['200'].content['application/json'].schema).toEqual({ $ref: '#/components/schemas/Thing' });
    const { post } = document.paths['/v1/things'];
    expect(post.requestBody.required).toBe(true);
    expect(post.responses['204'].content).toBeUndefined();
    expect(post.responses.default).toEqual({ $ref: '#/components/responses/Problem' });
    expect(document.components.responses.Problem.content['application/problem+json']).toBeDefined();
    expect(get.security).toEqual([]);
  });

  it('has a page that loads from here only', async () => {
    const html = await (await fetch(`${served.url}/docs/`)).text();
    expect(html).toContain('swagger-ui-bundle.js');
    expect(html).not.toMatch(/(src|href)="https?:/);
    const init = await (await fetch(`${served.url}/docs/swagger-ui-init.js`)).text();
    expect(init).toContain('/openapi.json');
    expect(init).toContain('"validatorUrl": null');
    const bundle = await fetch(`${served.url}/docs/swagger-ui-bundle.js`);
    expect([bundle.status, (await bundle.text()).length > 100_000]).toEqual([200, true]);
    const redirected = await fetch(`${served.url}/docs`);
    expect([redirected.url, await redirected.text()]).toEqual([`${served.url}/docs/`, html]);
  });
});

describe('a server', () => {
  it('says with the system’s own code that its port is taken', async () => {
    const { startHttpServer } = await import('#shared/http/start-http-server.ts');
    const { environmentSchema } = await import('#shared/config/environment.ts');
    const { settingsSchema } = await import('#shared/config/settings/settings.ts');
    const { createLog } = await import('#shared/log/create-log.ts');
    const config = {
      env: environmentSchema.parse({}),
      settings: settingsSchema.parse({}),
      digest: 'test',
      directory: '.',
      readVariable: () => undefined,
    };
    const log = createLog({ level: 'silent', service: 'test' });
    const starting = startHttpServer({
      routers: [],
      host: '127.0.0.1',
      port: served.server.port,
      config,
      log,
      readiness: () => Promise.resolve([]),
    });
    await expect(starting).rejects.toMatchObject({ code: 'EADDRINUSE', port: served.server.port });
  });

  it.each([
    ['headers that are too large', `GET /healthz HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431, 'request.headers-too-large'],
    ['an address that is too long', `GET /${'x'.repeat(20_000)} HTTP/1.1\r\n\r\n`, 431, 'request.headers-too-large'],
    ['what is no HTTP', '\u0016\u0003\u0001 hello\r\n\r\n', 400, 'request.malformed'],
    ['a method that is none', 'FOO / HTTP/1.1\r\nHost: a\r\n\r\n', 400, 'request.malformed'],
    [
      'a body in pieces that are none',
      'POST /v1/things HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
      400,
      'request.malformed',
    ],
  ])('refuses %s with a problem, and closes', async (_what, sent, status, code) => {
    const socket = await connected(served.server.port);
    socket.write(sent);
    const [head = '', body = ''] = (await bodyText(socket)).split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} .*\r\nContent-Type: application/problem\\+json`));
    expect(JSON.parse(body)).toMatchObject({ status, code, type: `urn:muster:problem:${code}` });
  });

  it('adds no answer to one that has begun', async () => {
    const socket = await connected(served.server.port);
    socket.write('GET /begun HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n');
    await once(socket, 'data');
    socket.write('123456789 and no HTTP\r\n\r\n');
    expect(await bodyText(socket)).not.toContain('HTTP/1.1');
  });

  it('passes over what it is expected to do and does not know', async () => {
    const socket = await connected(served.server.port);
    socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\nExpect: a-miracle\r\nConnection: close\r\n\r\n');
    expect(await bodyText(socket)).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('lets a running request end while it closes, and takes no new one', async () => {
    const closing = await serveRoutes({ redisUrl: redis.url, routes });
    const port = closing.server.port;
    const idle = await idleConnection(port);
    const answer = fetch(`${closing.url}/slow`);
    const end = await waitFor(() => finish, { deadlineMs: 2000, what: 'the request to run' });
    finish = null;
    const closed = closing.server.close(LONGER_THAN_A_TEST_MS);
    await once(idle, 'close');
    await expect(connected(port)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    end();
    expect(await (await answer).json()).toEqual({ done: true });
    await closed;
    await closing.close();
  });

  it('cuts what has not ended after the grace', async () => {
    const closing = await serveRoutes({ redisUrl: redis.url, routes });
    const cut = fetch(`${closing.url}/slow`).then(
      () => 'answered',
      () => 'cut',
    );
    const end = await waitFor(() => finish, { deadlineMs: 2000, what: 'the request to run' });
    finish = null;
    await closing.server.close(50);
    expect(await cut).toBe('cut');
    end();
    await closing.close();
  });
});

async function connected(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  return socket;
}

/** A kept-alive connection that has had its answer. */
async function idleConnection(port: number): Promise<Socket> {
  const asked = request({ port, host: '127.0.0.1', path: '/healthz', headers: { connection: 'keep-alive' } });
  asked.end();
  const [response] = await once(asked, 'response');
  response.resume();
  await once(response, 'end');
  return asked.socket as Socket;
}
