import { Router, type RequestHandler } from 'express';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { readsOnly } from '#shared/http/allowed-methods.ts';
import { route, type Method, type Route } from '#shared/http/route.ts';
import { closeAfterTests } from '../../support/close-after-tests.ts';
import { useRedis } from '../../support/redis/use-redis.ts';
import { serveRoutes } from './serve-routes.ts';

const served = (method: Method, path: string): Route =>
  route({
    method,
    path,
    operationId: `${method}${path}`,
    summary: 'A route',
    scope: 'admin',
    request: {},
    responses: { 204: z.null() },
    handle: () => ({ status: 204 }),
  });

const answer: RequestHandler = (_request, response) => void response.status(204).end();
const next: RequestHandler = (_request, _response, after) => after();

/** A service that shares the port and some addresses with the routes, and has one router under a prefix. */
const neighbour = Router().patch('/v1/things/:id', answer).use('/board', Router().post('/v1/things', answer).put('/nowhere', answer));
neighbour.use('/files', readsOnly(), Router().get('/there', answer));
neighbour.route('/page').all(next).get(answer).post(answer);

const redis = await useRedis();
const http = closeAfterTests(
  await serveRoutes({
    redisUrl: redis.url,
    routes: [served('get', '/v1/things'), served('get', '/v1/things/:id'), served('post', '/v1/things/bulk'), served('post', '/hooks/:id')],
    router: neighbour,
  }),
);

const call = async (method: string, path: string, headers: Record<string, string> = {}): Promise<[number, string | null]> => {
  const response = await fetch(`${http.url}${path}`, { method, headers });
  return [response.status, response.headers.get('allow')];
};

it.each([
  ['DELETE', '/v1/things', 'GET, HEAD'],
  ['DELETE', '/v1/things/1', 'GET, HEAD, PATCH'],
  ['delete', '/V1/Things/1/', 'GET, HEAD, PATCH'],
  ['PUT', '/v1/things/bulk', 'GET, HEAD, PATCH, POST'],
  ['GET', '/hooks/1', 'POST'],
  ['HEAD', '/hooks/1', 'POST'],
  ['DELETE', '/page', 'GET, HEAD, POST'],
  ['POST', '/healthz', 'GET, HEAD'],
  ['PUT', '/docs', 'GET, HEAD'],
  ['DELETE', '/docs/swagger-ui.css', 'GET, HEAD'],
  ['POST', '/files/there', 'GET, HEAD'],
])('%s %s is refused with the methods of all services that share the address', async (method, path, allowed) => {
  expect(await call(method, path)).toEqual([405, allowed]);
});

it('answers a wrong method with a problem that names the right ones, the same without and with a key', async () => {
  const authorization = `Bearer ${await http.keyOf('default', ['admin'])}`;
  for (const headers of [{}, { authorization }]) {
    const response = await fetch(`${http.url}/v1/things?x=1`, { method: 'DELETE', headers });
    expect(response.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
    expect(await response.json()).toMatchObject({
      code: 'request.method-not-allowed',
      status: 405,
      detail: '/v1/things takes GET, HEAD, not DELETE',
      instance: '/v1/things',
      details: { allowed: ['GET', 'HEAD'] },
    });
  }
});

it('serves what only the other service has at an address of both', async () => {
  expect(await call('PATCH', '/v1/things/1')).toEqual([204, null]);
});

it('knows no address under a prefix as one without it', async () => {
  expect(await call('PUT', '/nowhere')).toEqual([404, null]);
  expect(await call('POST', '/v1/things')).toEqual([405, 'GET, HEAD']);
});

it('answers OPTIONS with the methods of an address and no body of an unknown one', async () => {
  expect(await call('OPTIONS', '/v1/things')).toEqual([200, 'GET, HEAD']);
  expect(await call('OPTIONS', '/nowhere')).toEqual([404, null]);
  for (const path of ['/docs', '/docs/', '/openapi.json', '/healthz', '/readyz', '/metrics', '/files/there'])
    expect([path, ...(await call('OPTIONS', path))]).toEqual([path, 200, 'GET, HEAD']);
});

it('serves what may only be read, below its address too', async () => {
  expect(await call('GET', '/files/there')).toEqual([204, null]);
  expect(await call('GET', '/files/nowhere')).toEqual([404, null]);
  expect(await call('GET', '/docs/')).toEqual([200, null]);
});

it('asks a caller without a key for one where the method is right', async () => {
  expect(await call('GET', '/v1/things')).toEqual([401, null]);
  expect(await call('HEAD', '/v1/things')).toEqual([401, null]);
});
