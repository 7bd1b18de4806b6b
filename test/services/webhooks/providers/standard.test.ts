import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { verifyWebhook } from '../../../../services/webhooks/providers/registry.ts';
import { incoming, NOW_MS, NOW_S } from './incoming.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
/** The contact event of the specification's page. */
const TEXT = '{"type":"contact.created","timestamp":"2022-11-03T20:26:10.344522Z","data":{"id":"1f81eb52-5198-4599-803e-771906343485"}}';

function request(text: string, headers: Record<string, string | undefined> = {}, signedAtS = NOW_S) {
  const signature = new Webhook(SECRET).sign('msg_2KWPBgLlAfxdpx2AI54pPJ85f4W', new Date(signedAtS * 1000), text);
  const own = { 'webhook-id': 'msg_2KWPBgLlAfxdpx2AI54pPJ85f4W', 'webhook-timestamp': String(signedAtS), 'webhook-signature': signature };
  return incoming(text, { secret: SECRET, headers: { ...own, ...headers } });
}

test('an event signed by the reference library is taken with its type and id', async () => {
  expect(await verifyWebhook('standard', request(TEXT))).toMatchObject({
    kind: 'event',
    event: 'contact.created',
    eventType: 'contact.created',
    delivery: 'msg_2KWPBgLlAfxdpx2AI54pPJ85f4W',
    payload: JSON.parse(TEXT),
  });
});

test('one right signature among others is enough', async () => {
  const asked = request(TEXT);
  const list = `v1a,hnO3f9T8Ytu9HwrXslvumlUpqtNVqkhqw/enGzPCXe5BdqzCInXqYXFymVJaA7AZdpXwVLPo3mNl8EM+m7TBAg== v1,AAAA ${String(asked.headers['webhook-signature'])}`;
  expect(await verifyWebhook('standard', request(TEXT, { 'webhook-signature': list }))).toMatchObject({ kind: 'event' });
});

test('a body that is not JSON is a payload of text', async () => {
  expect(await verifyWebhook('standard', request('disk full'))).toMatchObject({ event: 'unknown', payload: 'disk full' });
});

test('a body is refused when it changed, and under another id or time', async () => {
  const refusal = { code: 'auth.bad-signature' };
  const changed = { ...request(TEXT), rawBody: Buffer.from(TEXT.replace('contact', 'c0ntact')) };
  await expect(verifyWebhook('standard', changed)).rejects.toMatchObject(refusal);
  await expect(verifyWebhook('standard', request(TEXT, { 'webhook-id': 'msg_other' }))).rejects.toMatchObject(refusal);
  await expect(verifyWebhook('standard', request(TEXT, { 'webhook-timestamp': String(NOW_S + 1) }))).rejects.toMatchObject(refusal);
});

test.each([-360, 360])('a signature made %d s from now is refused', async (offsetS) => {
  await expect(verifyWebhook('standard', request(TEXT, {}, NOW_S + offsetS))).rejects.toMatchObject({ code: 'auth.bad-signature' });
});

test('a right signature is refused 6 minutes later by the clock that is handed in', async () => {
  const late = { ...request(TEXT), nowMs: NOW_MS + 361_000 };
  await expect(verifyWebhook('standard', late)).rejects.toMatchObject({ code: 'auth.bad-signature' });
});

test.each([
  { 'webhook-id': undefined },
  { 'webhook-timestamp': undefined },
  { 'webhook-signature': undefined },
  { 'webhook-signature': 'v1' },
  { 'webhook-signature': 'v1,' },
  { 'webhook-signature': 'v2,AAAA' },
  { 'webhook-signature': ' '.repeat(100_000) },
  { 'webhook-timestamp': `${NOW_S}abc` },
])('the headers %j are refused', async (headers) => {
  await expect(verifyWebhook('standard', request(TEXT, headers))).rejects.toMatchObject({ code: 'auth.bad-signature' });
});

test('an empty body, a body that is not UTF-8 and an id of 201 characters are malformed', async () => {
  const malformed = { code: 'request.malformed' };
  await expect(verifyWebhook('standard', request(''))).rejects.toMatchObject(malformed);
  await expect(verifyWebhook('standard', { ...request(TEXT), rawBody: Buffer.from([0xc3, 0x28]) })).rejects.toMatchObject(malformed);
  await expect(verifyWebhook('standard', request(TEXT, { 'webhook-id': 'm'.repeat(201) }))).rejects.toMatchObject(malformed);
});
