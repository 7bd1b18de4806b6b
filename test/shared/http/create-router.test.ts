import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { MusterError } from '#shared/errors/error-codes.ts';
import { route, type Route } from '#shared/http/route.ts';
import { createKeys } from '#shared/redis/keys.ts';
import { createKey } from '#shared/tenants/key-store.ts';
import { serveRoutes } from './serve-routes.ts';
import { closeAfterTests } from '../../support/close-after-tests.ts';
import { waitFor } from '../../support/wait-for.ts';
import { useRedis } from '../../support/redis/use-redis.ts';

const SECRET_IN_A_DEFECT = 'password=hunter2';

/** What happens while a request of `/waits` waits. */
let meanwhile = (): Promise<unknown> => Promise.resolve();

const routes: Route[] = [
  route({
    method: 'get',
    path: '/waits',
    operationId: 'operation0',
    summary: 'Whether its key opens it after a while',
    scope: 'read',
    responses: { 200: z.object({}) },
    handle: async (_input, waiting) => {
      await meanwhile();
      return { status: 200, body: { isAdmitted: await waiting.isStillAdmitted() } };
    },
  }),
  route({
    method: 'get',
    path: '/computes',
    operationId: 'operation9',
    summary: 'Computes for 50 ms',
    scope: 'read',
    isCostly: true,
    responses: { 200: z.object({}) },
    handle: () => {
      const until = performance.now() + 50;
      while (performance.now() < until);
      return { status: 200, body: {} };
    },
  }),
  route({
    method: 'get',
    path: '/open',
    operationId: 'operation1',
    summary: 'Needs no key',
    scope: 'none',
    responses: { 200: z.object({}) },
    handle: (_input, { tenant, key }) => ({ status: 200, body: { tenant, key } }),
  }),
  route({
    method: 'get',
    path: '/who',
    operationId: 'operation2',
    summary: 'Who calls',
    scope: 'read',
    request: { query: z.object({ token: z.string().optional() }) },
    responses: { 200: z.object({}) },
    handle: (_input, { tenant, key, traceparent }) => ({
      status: 200,
      body: { tenant, scopes: key?.scopes, traceparent },
      headers: { 'X-Own': 'yes' },
    }),
  }),
  route({
    method: 'post',
    path: '/things/:id',
    operationId: 'operation3',
    summary: 'Takes everything apart',
    scope: 'submit',
    maxBodyBytes: 1000,
    request: {
      params: z.object({ id: z.string().regex(/^\d+$/) }),
      query: z.strictObject({ count: z.coerce.number().int().optional() }),
      headers: z.object({ 'x-mode': z.enum(['a', 'b']).optional() }),
      body: z.strictObject({ name: z.string(), items: z.array(z.number()).optional() }),
    },
    responses: { 201: z.object({}) },
    handle: (input) => ({ status: 201, body: input }),
  }),
  route({
    method: 'post',
    path: '/maybe',
    operationId: 'operation4',
    summary: 'Takes a body or none',
    scope: 'submit',
    request: { body: z.strictObject({ reason: z.string() }).optional() },
    responses: { 204: z.null() },
    handle: ({ body }) => (body ? { status: 200, body } : { status: 204 }),
  }),
  route({
    method: 'post',
    path: '/forms',
    operationId: 'operation5',
    summary: 'Takes what may have several forms',
    scope: 'submit',
    request: {
      body: z.strictObject({
        priority: z.union([z.number(), z.enum(['low', 'high'])]),
        tasks: z.union([z.array(z.string()), z.strictObject({ first: z.string() })]),
      }),
    },
    responses: { 204: z.null() },
    handle: () => ({ status: 204 }),
  }),
  route({
    method: 'post',
    path: '/json',
    operationId: 'operation6',
    summary: 'Takes any JSON',
    scope: 'submit',
    request: { body: z.object({ any: z.json() }) },
    responses: { 204: z.null() },
    handle: () => ({ status: 204 }),
  }),
  route({
    method: 'delete',
    path: '/fails/:how',
    operationId: 'operation7',
    summary: 'Fails',
    scope: 'admin',
    request: { params: z.object({ how: z.string() }), query: z.object({ secret: z.string().optional() }) },
    responses: { 200: z.null() },
    handle: ({ params }) => {
      if (params.how === 'known') throw new MusterError('limit.waiting', 'Too many', { details: { waiting: 3 }, retryAfterMs: 1200 });
      throw new Error(SECRET_IN_A_DEFECT);
    },
  }),
];

const redis = await useRedis();
const disabled = { id: 'gone', name: 'Gone', disabled: true, limits: null, createdAt: 0 };
const tenants = [disabled, { ...disabled, id: 'acme', name: 'Acme', disabled: false }];
const served = closeAfterTests(await serveRoutes({ redisUrl: redis.url, routes, tenants }));
const admin = await served.keyOf('default', ['admin']);

interface Reply {
  status: number;
  headers: Headers;
  // oxlint-disable-next-line typescript/no-explicit-any
  body: any;
}

async function call(path: string, init: RequestInit & { key?: string | null } = {}, base = served.url): Promise<Reply> {
  const { key = admin, headers, ...rest } = init;
  const response = await fetch(`${base}${path}`, {
    ...rest,
    headers: { ...(key === null ? {} : { authorization: `Bearer ${key}` }), ...(headers as Record<string, string>) },
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) };
}

const post = (
  path: string,
  body: string,
  headers: Record<string, string> = { 'content-type': 'application/json' },
): ReturnType<typeof call> => call(path, { method: 'POST', body, headers });

describe('who may call', () => {
  it('everybody, where no key is needed', async () => {
    expect(await call('/open', { key: null })).toMatchObject({ status: 200, body: { tenant: '', key: null } });
  });

  it('a key whose scope is enough, in the name of its tenant', async () => {
    const key = await served.keyOf('acme', ['submit']);
    const { status, body, headers } = await call('/who', { key });
    expect([status, body.tenant, body.scopes, headers.get('x-own')]).toEqual([200, 'acme', ['submit'], 'yes']);
  });

  it.each([
    ['no key', null, 401, 'auth.missing'],
    ['an unknown key', 'mk_unknown', 401, 'auth.invalid'],
    ['a key named like a property of every object', '__proto__', 401, 'auth.invalid'],
  ])('nobody with %s', async (_what, key, status, code) => {
    const answer = await call('/who', { key });
    expect([answer.status, answer.body.code]).toEqual([status, code]);
    expect(answer.headers.get('www-authenticate')).toContain('Bearer');
  });

  it('nobody with another kind of authorization', async () => {
    expect((await call('/who', { key: null, headers: { authorization: `Basic ${admin}` } })).body.code).toBe('auth.invalid');
  });

  it('no key without the scope, and none of a disabled tenant', async () => {
    const reader = await served.keyOf('default', ['read']);
    expect((await call('/maybe', { method: 'POST', key: reader })).body).toMatchObject({ status: 403, code: 'auth.forbidden' });
    const gone = await served.keyOf('gone', ['admin']);
    expect((await call('/who', { key: gone })).body).toMatchObject({ status: 403, code: 'tenant.disabled' });
  });

  it('only an admin of tenant "default" for another tenant', async () => {
    const headers = { 'muster-tenant': 'acme' };
    expect((await call('/who', { headers })).body).toMatchObject({ tenant: 'acme' });
    expect((await call('/who', { headers: { 'muster-tenant': 'nowhere' } })).body).toMatchObject({ code: 'tenant.not-found' });
    const operator = await served.keyOf('default', ['operate']);
    expect((await call('/who', { headers, key: operator })).body).toMatchObject({ status: 403, code: 'auth.forbidden' });
    const otherAdmin = await served.keyOf('rival', ['admin']);
    expect((await call('/who', { headers, key: otherAdmin })).body).toMatchObject({ status: 403, code: 'auth.forbidden' });
  });

  it('a request that waits, no longer once its key was replaced or its tenant disabled', async () => {
    const secret = 'mk_chosen';
    const make = (): Promise<unknown> =>
      createKey({ redis: served.redis, keys: createKeys(1) }, { tenant: 'late', name: 'chosen', scopes: ['read'], secret });
    const isAdmitted = async (): Promise<boolean> => (await call('/waits', { key: secret })).body.isAdmitted;
    await make();
    expect(await isAdmitted()).toBe(true);
    meanwhile = make;
    expect(await isAdmitted()).toBe(false);
    meanwhile = () => Promise.resolve(tenants.push({ ...disabled, id: 'late', name: 'Late' }));
    expect(await isAdmitted()).toBe(false);
  });
});

describe('a browser that signed in', () => {
  let cookie: string;
  beforeAll(async () => {
    cookie = await served.signIn(await served.keyOf('default', ['submit']));
  });

  it('reads with its cookie alone, and writes from pages of this installation only', async () => {
    const { origin } = new URL(served.url);
    const write = async (headers: Record<string, string>): Promise<number> =>
      (await call('/maybe', { method: 'POST', key: null, headers: { ...headers, cookie } })).status;
    expect((await call('/who', { key: null, headers: { cookie } })).status).toBe(200);
    expect(await write({ 'sec-fetch-site': 'same-origin' })).toBe(204);
    expect(await write({ origin })).toBe(204);
    expect(await write({ 'sec-fetch-site': 'cross-site', origin })).toBe(403);
    expect(await write({ origin: 'https://evil.example' })).toBe(403);
    expect(await write({ origin: 'null' })).toBe(403);
    expect(await write({})).toBe(403);
  });

  it('is refused when it sends a wrong key besides', async () => {
    expect((await call('/who', { key: 'mk_wrong', headers: { cookie } })).status).toBe(401);
  });
});

const nested = (levels: number): string => `{"any":${'['.repeat(levels)}${']'.repeat(levels)}}`;

describe('what a request has to look like', () => {
  it('parts with a schema reach the handler parsed', async () => {
    const { status, body } = await post('/things/7?count=3', '{"name":"n","items":[1]}');
    expect([status, body]).toEqual([201, { params: { id: '7' }, query: { count: 3 }, headers: {}, body: { name: 'n', items: [1] } }]);
  });

  it('every problem of every part is named', async () => {
    const { status, body } = await call('/things/x?count=many&other=1', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-mode': 'c' },
      body: '{"name":1,"items":["a"],"more":true}',
    });
    expect([status, body.code]).toEqual([422, 'request.invalid']);
    const paths = body.details.problems.map(({ path }: { path: string }) => path);
    expect(paths).toEqual(['params.id', 'query.count', 'query', 'headers.x-mode', 'body.name', 'body.items.0', 'body']);
    expect(body.detail).toMatch(
      /^id in the address: .*; query parameter count: .*; query: Unrecognized key: "other"; taken are count; and 4 more$/,
    );
  });

  it('a parameter of an endpoint that takes none is refused by name', async () => {
    const { status, body } = await post('/maybe?limit=-1', '{"reason":"r"}');
    expect([status, body.code, body.detail]).toEqual([422, 'request.invalid', 'query: Unrecognized key: "limit"; none is taken']);
  });

  it('what has none of several forms is told why, of each', async () => {
    const { body } = await post('/forms', JSON.stringify({ priority: true, tasks: { first: 1 } }));
    expect(body.details.problems).toEqual([
      {
        path: 'body.priority',
        message: 'Invalid input: expected number, received boolean; or Invalid option: expected one of "low"|"high"',
      },
      {
        path: 'body.tasks',
        message: 'Invalid input: expected array, received object; or first: Invalid input: expected string, received number',
      },
    ]);
  });

  it.each([
    ['broken JSON', '{"name":', 400, 'request.malformed'],
    ['a bare value', '7', 400, 'request.malformed'],
    ['bytes that are no text', '\u0000\u0001', 400, 'request.malformed'],
    ['more bytes than allowed', `{"name":"${'x'.repeat(1200)}"}`, 413, 'request.too-large'],
  ])('%s is refused', async (_what, body, status, code) => {
    const answer = await post('/things/1', body);
    expect([answer.status, answer.body.code]).toEqual([status, code]);
  });

  it('more bytes than allowed are refused when they are announced, and not when they have come', async () => {
    const headers = { 'content-type': 'application/json', 'content-length': '9999999999', authorization: `Bearer ${admin}` };
    const sending = request(`${served.url}/things/1`, { method: 'POST', headers });
    sending.flushHeaders();
    const [answer] = (await once(sending, 'response')) as [IncomingMessage];
    expect(answer.statusCode).toBe(413);
    sending.destroy();
  });

  it('pieces without an end are refused when they are too many, and whoever goes on is cut off', async () => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${admin}` };
    const sending = request(`${served.url}/things/1`, { method: 'POST', headers });
    const closed = new Promise((resolve) => sending.once('error', resolve));
    const piece = Buffer.alloc(65_536, ' ');
    const more = (): void => void (sending.destroyed || sending.write(piece, () => setImmediate(more)));
    more();
    const [answer] = (await once(sending, 'response')) as [IncomingMessage];
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([413, 'application/problem+json; charset=utf-8']);
    answer.resume();
    await closed;
  });

  it('more bytes than announced, sent in pieces, are refused', async () => {
    const body = new ReadableStream({
      start: (controller) => {
        controller.enqueue(new TextEncoder().encode(`{"name":"${'x'.repeat(1200)}"}`));
        controller.close();
      },
    });
    const answer = await call('/things/1', {
      method: 'POST',
      body,
      duplex: 'half',
      headers: { 'content-type': 'application/json' },
    });
    expect(answer.status).toBe(413);
  });

  it('another content type, charset or encoding is refused with 415', async () => {
    for (const headers of [
      { 'content-type': 'text/plain' },
      { 'content-type': 'application/json; charset=koi8-x' },
      { 'content-type': 'application/json', 'content-encoding': 'magic' },
    ]) {
      expect((await post('/things/1', '{"name":"n"}', headers as Record<string, string>)).body.code).toBe('request.unsupported-media-type');
    }
  });

  it('a body may be left out where the schema says so, whatever the content type of nothing is', async () => {
    expect((await call('/maybe', { method: 'POST' })).status).toBe(204);
    expect((await post('/maybe', '', { 'content-type': 'application/x-www-form-urlencoded' })).status).toBe(204);
    expect((await post('/maybe', '{"reason":"r"}')).body).toEqual({ reason: 'r' });
  });

  it.each([
    ['{"any":{"rows":[{"order":7615917337495251231}]}}', 'body.any.rows.0.order', '7615917337495251231'],
    ['{"any":1e400}', 'body.any', '1e400'],
    ['{"any":[0.12345678901234567890123]}', 'body.any.0', '0.12345678901234567890123'],
  ])('a number of %s that would lose digits is refused with its place', async (text, path, digits) => {
    const { status, body } = await post('/json', text);
    const message = `the number ${digits} would lose digits: send it as a text`;
    expect([status, body]).toMatchObject([422, { code: 'request.invalid', details: { problems: [{ path, message }] } }]);
  });

  it('data that is nested too deep is a mistake of the sender, not of ours', async () => {
    expect((await post('/json', nested(20))).status).toBe(204);
    const { status, body } = await post('/json', nested(20_000));
    expect([status, body.code, body.detail]).toEqual([422, 'request.invalid', 'body: nested too deep: expected at most 128 levels']);
  });

  it('an address that cannot be decoded is malformed', async () => {
    expect((await call('/things/%E0%A4%A', { method: 'POST' })).body.code).toBe('request.malformed');
  });

  it('a body with very many mistakes names a bounded number of them', async () => {
    const { body } = await post('/things/1', JSON.stringify({ name: 'n', items: Array.from({ length: 100 }, () => '') }));
    expect(body.details.problems).toHaveLength(50);
    expect(body.detail).toContain('and 97 more');
  });
});

describe('errors', () => {
  it('of ours keep their code, details and Retry-After', async () => {
    const { status, body, headers } = await call('/fails/known?secret=1', { method: 'DELETE' });
    expect(status).toBe(429);
    expect(headers.get('retry-after')).toBe('2');
    expect(headers.get('content-type')).toContain('application/problem+json');
    expect(body).toEqual({
      type: 'urn:muster:problem:limit.waiting',
      title: 'Too much is waiting already',
      status: 429,
      detail: 'Too many',
      code: 'limit.waiting',
      instance: '/fails/known',
      details: { waiting: 3 },
    });
  });

  it('of defects say nothing to the caller and everything to the log', async () => {
    const { status, body } = await call('/fails/defect', { method: 'DELETE' });
    expect([status, body.code]).toEqual([500, 'internal.error']);
    expect(JSON.stringify(body)).not.toContain('hunter2');
    await waitFor(() => served.logged().includes(SECRET_IN_A_DEFECT), { deadlineMs: 5000, what: 'the line of the defect' });
  });

  it('of defects take one line of the log, which has the request and the error', async () => {
    const { headers } = await call('/fails/defect', { method: 'DELETE' });
    const trace = headers.get('x-request-id') ?? '-';
    const linesOf = (): string[] =>
      served
        .logged()
        .split('\n')
        .filter((line) => line.includes(trace));
    await waitFor(() => linesOf().length > 0, { deadlineMs: 5000, what: 'the line of the request' });
    expect(linesOf().map((line): unknown => JSON.parse(line))).toEqual([
      expect.objectContaining({
        level: 'error',
        event: 'http.request',
        status: 500,
        path: '/fails/defect',
        err: expect.anything() as unknown,
      }),
    ]);
  });
});

describe('limits per minute', () => {
  it('of a key end in 429 with Retry-After, and other keys go on', async () => {
    const limited = await serveRoutes({ redisUrl: redis.url, routes, settings: { limits: { httpPerMinute: 2 } } });
    try {
      const [one, two] = [await limited.keyOf('default', ['read']), await limited.keyOf('default', ['read'])];
      const statuses = [];
      for (const key of [one, one, one, two]) statuses.push((await call('/who', { key }, limited.url)).status);
      expect(statuses).toEqual([200, 200, 429, 200]);
      const refused = await call('/who', { key: one }, limited.url);
      expect(refused.body.code).toBe('limit.rate');
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    } finally {
      await limited.close();
    }
  });

  it('of a key grant no more to calls that come at the same moment', async () => {
    const limited = await serveRoutes({ redisUrl: redis.url, routes, settings: { limits: { httpPerMinute: 5 } } });
    try {
      const key = await limited.keyOf('default', ['read']);
      const replies = await Promise.all(Array.from({ length: 12 }, () => call('/who', { key }, limited.url)));
      const refused = replies.filter(({ status }) => status === 429);
      expect([replies.filter(({ status }) => status === 200).length, refused.length]).toEqual([5, 7]);
      expect(refused.every(({ headers }) => Number(headers.get('retry-after')) > 0)).toBe(true);
    } finally {
      await limited.close();
    }
  });

  it('of an address count calls without a key and with a wrong one, and not those with a right one', async () => {
    const limited = await serveRoutes({
      redisUrl: redis.url,
      routes,
      settings: { limits: { httpAnonymousPerMinute: 2 } },
      environment: { MUSTER_TRUST_PROXY: 'true' },
    });
    try {
      // Until the connection stands, calls are counted in this process.
      await limited.redis.ping();
      const headers = { 'x-forwarded-for': '10.9.9.9, 10.1.1.1' };
      const statuses = [];
      for (const key of [null, 'mk_wrong', 'mk_wrong', admin]) statuses.push((await call('/who', { key, headers }, limited.url)).status);
      expect(statuses).toEqual([401, 401, 429, 200]);
      // The address is the one that the proxy saw; what stands before it, the caller wrote.
      expect((await call('/who', { key: null, headers: { 'x-forwarded-for': '10.9.9.8, 10.1.1.1' } }, limited.url)).status).toBe(429);
      expect((await call('/who', { key: null, headers: { 'x-forwarded-for': '10.1.1.2' } }, limited.url)).status).toBe(401);
    } finally {
      await limited.close();
    }
  });
});

describe('an endpoint that computes', () => {
  it('has one call of a key at a time, with a rest by its cost, and refuses most of many', async () => {
    const other = await served.keyOf('default', ['read']);
    const many = Promise.all(Array.from({ length: 20 }, () => call('/computes')));
    expect((await call('/computes', { key: other })).status).toBe(200);
    const replies = await many;
    const served200 = replies.filter(({ status }) => status === 200).length;
    // On a busy machine some come late enough to have their turn.
    expect(served200).toBeGreaterThanOrEqual(6);
    expect(served200).toBeLessThan(12);
    for (const { body, headers } of replies.filter(({ status }) => status !== 200)) {
      expect([body.code, headers.get('retry-after')]).toEqual(['limit.rate', '1']);
    }
  });
});

describe('the log of requests', () => {
  it('continues the trace of the caller and holds neither keys nor queries', async () => {
    const trace = '0af7651916cd43dd8448eb211c80319c';
    const { headers, body } = await call('/who?token=very-secret', {
      headers: { traceparent: `00-${trace}-b7ad6b7169203331-01`, cookie: 'session=cookie-secret' },
    });
    expect(headers.get('x-request-id')).toBe(trace);
    expect(body.traceparent).toMatch(new RegExp(`^00-${trace}-`));
    const line = served
      .logged()
      .split('\n')
      .find((each) => each.includes(trace) && each.includes('http.request'));
    expect(JSON.parse(line ?? '{}')).toMatchObject({ method: 'GET', path: '/who', status: 200, tenant: 'default', trace });
    for (const secret of [admin, 'very-secret', 'cookie-secret']) expect(served.logged()).not.toContain(secret);
  });
});
