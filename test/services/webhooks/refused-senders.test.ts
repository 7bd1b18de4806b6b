import { sign } from '@octokit/webhooks-methods';
import express from 'express';
import { beforeEach, expect, test, vi } from 'vitest';
import { createKey } from '#shared/tenants/key-store.ts';
import { createWebhooksService } from '../../../services/webhooks/create-webhooks-service.ts';
import { closeAfterTests } from '../../support/close-after-tests.ts';
import { serveApp } from '../../support/serve-app.ts';
import { useEmptyParts } from '../../support/use-parts.ts';
import { waitFor } from '../../support/wait-for.ts';

const SECRET = 's3cret';
const TEXT = '{"action":"opened"}';
/** As hooks have them, of none. */
const UNKNOWN = '01ARZ3NDEKTSV4RRFFQ69G5FAV';
const PER_MINUTE = 5;
const MAX_BODY_BYTES = 100_000;

const parts = await useEmptyParts({
  agents: { echo: { kind: 'echo' } },
  limits: { httpAnonymousPerMinute: PER_MINUTE },
  webhooks: { maxBodyBytes: MAX_BODY_BYTES },
});
const { router } = createWebhooksService(parts);
if (router === undefined) throw new Error('expected a router');
const { url } = closeAfterTests(await serveApp(express().set('trust proxy', 1).use(router)));
const signature = await sign(SECRET, TEXT);
let senders = 0;
let address: string;
let hook: string;

beforeEach(async () => {
  senders += 1;
  address = `192.0.2.${senders}`;
  hook = await makeHook();
});

async function makeHook(): Promise<string> {
  const { secret: key } = await createKey(parts, { tenant: 'default', name: 'test', scopes: ['operate'] });
  const response = await fetch(`${url}/v1/hooks`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'x-forwarded-for': '198.51.100.1' },
    body: JSON.stringify({ provider: 'github', secret: SECRET, agent: 'echo', options: { equalBodies: 'each' } }),
  });
  return ((await response.json()) as { id: string }).id;
}

let deliveries = 0;

async function send(to: string, from = address, signed = signature, body = TEXT): Promise<number> {
  deliveries += 1;
  const own = { 'x-github-event': 'push', 'x-github-delivery': `d-${deliveries}`, 'x-hub-signature-256': signed };
  const response = await fetch(`${url}/hooks/${to}`, { method: 'POST', headers: { ...own, 'x-forwarded-for': from }, body });
  return response.status;
}

const forge = async (to: string): Promise<number> => await send(to, address, signature.replace(/.$/, 'x'));
async function untilBlocked(call: () => Promise<number>): Promise<void> {
  await waitFor(async () => (await call()) === 429, { deadlineMs: 5000, what: 'the address to be refused' });
}

test('a right signature gets through from an address whose webhooks are refused too often, and a wrong one is told to wait', async () => {
  await untilBlocked(() => forge(hook));
  expect([await send(hook), await forge(hook), await send(hook)]).toEqual([202, 429, 202]);
});

test('of an address over its refusals few large bodies are read in a minute, and small ones all', async () => {
  await untilBlocked(() => forge(hook));
  const large = 'x'.repeat(MAX_BODY_BYTES);
  const decoded = vi.spyOn(TextDecoder.prototype, 'decode');
  for (let count = 0; count < 6; count += 1) expect(await send(hook, address, signature, large)).toBe(429);
  expect(decoded.mock.calls.filter(([bytes]) => bytes?.byteLength === large.length)).toHaveLength(4);
  decoded.mockRestore();
  expect(await send(hook)).toBe(202);
});

test('large right bodies of a blocked address spend nothing of what is read of it', async () => {
  await untilBlocked(() => forge(hook));
  const large = JSON.stringify({ text: 'x'.repeat(MAX_BODY_BYTES - 100) });
  const signed = await sign(SECRET, large);
  for (let count = 0; count < 6; count += 1) expect(await send(hook, address, signed, large)).toBe(202);
});

test('what a blocked address is refused for is not recorded', async () => {
  await untilBlocked(() => forge(hook));
  const key = parts.keys.tenant('default').hookDeliveries(hook, 'refused');
  const written = await waitFor(async () => (await parts.redis.xlen(key)) || null, {
    deadlineMs: 5000,
    what: 'the refusals to be recorded',
  });
  for (let count = 0; count < 5; count += 1) await forge(hook);
  expect(await parts.redis.xlen(key)).toBeLessThanOrEqual(Math.max(written, PER_MINUTE + 1));
});

test.each([
  ['that cannot be one', 'hook_unknown'],
  ['of none', UNKNOWN],
])('guesses of an id %s block their address for unknown hooks, and for no other', async (_what, unknown) => {
  await untilBlocked(() => send(unknown));
  expect(await send(UNKNOWN)).toBe(429);
  expect(await send(UNKNOWN, '198.51.100.3')).toBe(404);
  expect(await send(hook)).toBe(202);
});

test('guesses of a blocked address share their reads, however many they are', async () => {
  await untilBlocked(() => send(UNKNOWN));
  const [single, shared] = [vi.spyOn(parts.redis, 'hget'), vi.spyOn(parts.redis, 'hmget')];
  const guesses = Array.from({ length: 100 }, (_, count) => `${UNKNOWN.slice(0, -3)}${String(count).padStart(3, '0')}`);
  const answers = await Promise.all([...guesses.map((guess) => send(guess)), send(hook)]);
  // Those of the hook that is there.
  expect(single.mock.calls.filter(([, id]) => id !== hook)).toEqual([]);
  expect(shared.mock.calls.length).toBeLessThan(guesses.length / 2);
  for (const spy of [single, shared]) spy.mockRestore();
  expect(answers).toEqual([...guesses.map(() => 429), 202]);
});

test('bad signatures at one hook block their address for that hook only', async () => {
  await untilBlocked(() => forge(hook));
  expect(await send(await makeHook())).toBe(202);
  expect(await send(UNKNOWN)).toBe(404);
});

test('an address that sent what was taken is not blocked for that hook by strangers who send from it too', async () => {
  expect(await send(hook)).toBe(202);
  for (let refused = 0; refused < 3 * PER_MINUTE; refused += 1) expect(await forge(hook)).toBe(401);
  expect(await send(hook)).toBe(202);
});
