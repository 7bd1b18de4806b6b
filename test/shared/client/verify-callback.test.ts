import { expect, it } from 'vitest';
import { verifyCallback } from '#shared/client/index.ts';
import { signCallback } from '#shared/deliveries/callbacks/callback-secrets.ts';

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const other = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;
const now = Date.parse('2026-05-01T09:00:00Z');
const body = JSON.stringify({ id: 'task', output: 'Grüße' });
const secrets = { secret, previous: other, createdAt: now - 1000 };
const headers = signCallback(secrets, { id: 'delivery', body, now, secretOverlapMs: 60_000 });

it('a callback of the fleet is read, by the new secret and by the one before, whatever holds its headers', async () => {
  const read = { id: 'task', output: 'Grüße' };
  expect(await verifyCallback(headers, body, secret, { now })).toEqual(read);
  expect(await verifyCallback(new Headers(headers), body, other, { now })).toEqual(read);
  const upper = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), [value]]));
  expect(await verifyCallback(upper, new TextEncoder().encode(body), secret, { now })).toEqual(read);
});

it.each([
  { what: 'another body', change: { body: body.replace('task', 'other') } },
  { what: 'another secret', change: { secret: `whsec_${Buffer.alloc(32, 9).toString('base64')}` } },
  { what: 'another id', change: { headers: { ...headers, 'webhook-id': 'x' } } },
  { what: 'no signature', change: { headers: { ...headers, 'webhook-signature': undefined } } },
  { what: 'a signature of another version', change: { headers: { ...headers, 'webhook-signature': 'v2,AAAA' } } },
  { what: 'no time', change: { headers: { ...headers, 'webhook-timestamp': 'soon' } } },
  { what: 'a time long ago', change: { now: now + 301_000 } },
  { what: 'a time to come', change: { now: now - 301_000 } },
])('a callback with $what is refused', async ({ change }) => {
  const call = { headers, body, secret, now, ...change };
  await expect(verifyCallback(call.headers, call.body, call.secret, { now: call.now })).rejects.toMatchObject({
    code: 'auth.bad-signature',
  });
});

it('what is no secret is named', async () => {
  await expect(verifyCallback(headers, body, 'mk_a-key', { now })).rejects.toMatchObject({ code: 'client.invalid' });
});
