import { once } from 'node:events';
import { request, type ClientRequest, type IncomingMessage } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { z } from 'zod';
import { route } from '#shared/http/route.ts';
import { closeAfterTests } from '../../support/close-after-tests.ts';
import { useRedis } from '../../support/redis/use-redis.ts';
import { waitFor } from '../../support/wait-for.ts';
import { serveRoutes } from './serve-routes.ts';

const redis = await useRedis();
const take = route({
  method: 'post',
  path: '/take',
  operationId: 'operation1',
  summary: 'Takes a text',
  scope: 'submit',
  request: { body: z.strictObject({ text: z.string() }) },
  responses: { 204: z.null() },
  handle: () => ({ status: 204 }),
});
const settings = { http: { maxOpenBodyBytes: 300_000, maxOpenBodyBytesPerAddress: 200_000, bodyIdleMs: 1500 } };
const environment = { MUSTER_TRUST_PROXY: 'true' };
const served = closeAfterTests(await serveRoutes({ redisUrl: redis.url, routes: [take], settings, environment }));
const key = await served.keyOf('default', ['submit']);
const sending: ClientRequest[] = [];

afterEach(() => {
  for (const each of sending.splice(0)) each.destroy();
});

/** Sends the beginning of a body, and no end. */
function begin(address: string, bytes: number): ClientRequest {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'x-forwarded-for': address };
  const one = request(`${served.url}/take`, { method: 'POST', headers: { ...headers, 'content-length': 500_000 } });
  sending.push(one);
  one.on('error', () => undefined);
  one.write(`{"text":"${'x'.repeat(bytes)}`);
  return one;
}

async function post(address: string, bytes: number): Promise<{ status: number; code: string | null }> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'x-forwarded-for': address };
  const answer = await fetch(`${served.url}/take`, { method: 'POST', headers, body: JSON.stringify({ text: 'x'.repeat(bytes) }) });
  const text = await answer.text();
  return { status: answer.status, code: text === '' ? null : (JSON.parse(text) as { code: string }).code };
}

const isFull = (address: string) => async (): Promise<boolean> => (await post(address, 100_000)).code === 'limit.bodies';
const isFree = (address: string) => async (): Promise<boolean> => (await post(address, 100_000)).status === 204;

test('unfinished bodies of one address hold its share of the memory and no more, until they end', async () => {
  begin('192.0.2.1', 150_000);
  await waitFor(isFull('192.0.2.1'), { deadlineMs: 5000, what: 'the address to have its share' });
  expect(await post('192.0.2.2', 100_000)).toEqual({ status: 204, code: null });
  for (const each of sending.splice(0)) each.destroy();
  await waitFor(isFree('192.0.2.1'), { deadlineMs: 5000, what: 'the memory to be free' });
});

test('unfinished bodies of many addresses hold what the process has for them and no more', async () => {
  begin('192.0.2.3', 130_000);
  begin('192.0.2.4', 130_000);
  await waitFor(isFull('192.0.2.5'), { deadlineMs: 5000, what: 'the memory to be full' });
  expect(await post('192.0.2.6', 1000)).toEqual({ status: 204, code: null });
});

test('a body that does not go on is refused with 408', async () => {
  const [answer] = (await once(begin('192.0.2.6', 1000), 'response')) as [IncomingMessage];
  expect(answer.statusCode).toBe(408);
});
