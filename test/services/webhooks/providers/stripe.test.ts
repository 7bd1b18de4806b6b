import { Stripe } from 'stripe';
import { expect, test } from 'vitest';
import { verifyWebhook } from '../../../../services/webhooks/providers/registry.ts';
import { incoming, NOW_MS, NOW_S } from './incoming.ts';

const SECRET = 'whsec_test_secret';
/** The event object of Stripe's API reference, shortened to its frame and one object. */
const EVENT = {
  id: 'evt_1NG8Du2eZvKYlo2CUI79vXWy',
  object: 'event',
  api_version: '2019-02-19',
  created: 1_686_089_970,
  data: { object: { id: 'seti_1NG8Du2eZvKYlo2C9XMqbR0x', object: 'setup_intent', usage: 'off_session' } },
  livemode: false,
  pending_webhooks: 0,
  request: { id: null, idempotency_key: null },
  type: 'setup_intent.created',
};
const TEXT = JSON.stringify(EVENT, null, 2);

function header(text = TEXT, timestamp = NOW_S): string {
  return Stripe.webhooks.generateTestHeaderString({ payload: text, secret: SECRET, timestamp });
}

function request(text: string, signature: string | undefined) {
  return incoming(text, { secret: SECRET, headers: { 'stripe-signature': signature } });
}

test('the documented event is taken with its type and id', async () => {
  expect(await verifyWebhook('stripe', request(TEXT, header()))).toMatchObject({
    kind: 'event',
    event: 'setup_intent.created',
    eventType: 'setup_intent.created',
    delivery: 'evt_1NG8Du2eZvKYlo2CUI79vXWy',
    payload: EVENT,
  });
});

test('a thin event, which the library itself does not build, is taken', async () => {
  const text = JSON.stringify({ id: 'evt_test_1', object: 'v2.core.event', type: 'v1.billing.meter.error_report_triggered' });
  expect(await verifyWebhook('stripe', request(text, header(text)))).toMatchObject({
    event: 'v1.billing.meter.error_report_triggered',
    delivery: 'evt_test_1',
  });
});

const WRONG = `v1=${'0'.repeat(64)}`;
const [TIME = '', RIGHT = ''] = header().split(',');

test.each([
  ['the first of two', `${header()},${WRONG},v0=ignored`],
  ['the last of two, behind spaces', `${TIME}, ${WRONG}, ${RIGHT}`],
  ['the last of 16', [TIME, ...Array.from({ length: 15 }, () => WRONG), RIGHT].join(',')],
])('an event is taken when the right signature is %s, as while a secret is rolled', async (_, rolled) => {
  expect(await verifyWebhook('stripe', request(TEXT, rolled))).toMatchObject({ kind: 'event' });
});

test('an event is refused when the right signature is the last of 17', async () => {
  const many = [TIME, ...Array.from({ length: 16 }, () => WRONG), RIGHT].join(',');
  await expect(verifyWebhook('stripe', request(TEXT, many))).rejects.toMatchObject({ code: 'auth.bad-signature' });
});

test('an event is refused when one byte of it changed, and with another secret', async () => {
  const refusal = { code: 'auth.bad-signature' };
  await expect(verifyWebhook('stripe', request(TEXT.replace('false', 'true '), header()))).rejects.toMatchObject(refusal);
  const other = { ...request(TEXT, header()), secrets: ['whsec_other'] };
  await expect(verifyWebhook('stripe', other)).rejects.toMatchObject(refusal);
});

test.each([
  ['4 minutes old', -240],
  ['4 minutes ahead', 240],
])('a signature %s is taken', async (_, offsetS) => {
  expect(await verifyWebhook('stripe', request(TEXT, header(TEXT, NOW_S + offsetS)))).toMatchObject({ kind: 'event' });
});

test.each([
  ['6 minutes old', -360],
  ['6 minutes ahead', 360],
  ['a year ahead', 31_536_000],
])('a signature %s is refused', async (_, offsetS) => {
  const signature = header(TEXT, NOW_S + offsetS);
  await expect(verifyWebhook('stripe', request(TEXT, signature))).rejects.toMatchObject({ code: 'auth.bad-signature' });
});

test('a right signature is refused 6 minutes later', async () => {
  const late = { ...request(TEXT, header()), nowMs: NOW_MS + 360_000 };
  await expect(verifyWebhook('stripe', late)).rejects.toMatchObject({ code: 'auth.bad-signature' });
});

test('a time of now put before an old signed one does not open the window', async () => {
  const old = header(TEXT, NOW_S - 3600);
  await expect(verifyWebhook('stripe', request(TEXT, `t=${NOW_S},${old}`))).rejects.toMatchObject({ code: 'auth.bad-signature' });
  await expect(verifyWebhook('stripe', request(TEXT, `${old},t=${NOW_S}`))).rejects.toMatchObject({ code: 'auth.bad-signature' });
});

test('a time of now put beside one signed for the future does not open the window', async () => {
  const future = header(TEXT, NOW_S + 3600);
  await expect(verifyWebhook('stripe', request(TEXT, `t=${NOW_S},${future}`))).rejects.toMatchObject({ code: 'auth.bad-signature' });
  await expect(verifyWebhook('stripe', request(TEXT, `${future},t=${NOW_S}`))).rejects.toMatchObject({ code: 'auth.bad-signature' });
});

test.each([
  undefined,
  '',
  't',
  `t=${NOW_S}`,
  `t=${NOW_S},v1`,
  `t=${NOW_S},v1=`,
  't=,v1=',
  't=NaN,v1=00',
  `t=${NOW_S},v0=00`,
  ','.repeat(100_000),
])('the header %j is refused', async (signature) => {
  await expect(verifyWebhook('stripe', request(TEXT, signature))).rejects.toMatchObject({ code: 'auth.bad-signature' });
});

test.each([
  '[]',
  'null',
  '{}',
  '{"id":"evt_1"}',
  '{"id":1,"type":"x"}',
  '{"id":"evt_1","type":{}}',
  'no json',
  '{"__proto__":{"id":"a","type":"b"}}',
])('the signed body %s is malformed', async (text) => {
  await expect(verifyWebhook('stripe', request(text, header(text)))).rejects.toMatchObject({ code: 'request.malformed' });
});
