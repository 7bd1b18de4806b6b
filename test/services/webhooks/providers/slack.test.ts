import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { verifyWebhook } from '../../../../services/webhooks/providers/registry.ts';
import { incoming, NOW_MS, NOW_S } from './incoming.ts';

const SECRET = '8f742231b10e8888abcd99yyyzzz85a5';
const FORM = 'application/x-www-form-urlencoded';
/** Secret, time, body and signature as Slack's page on verifying requests prints them: a slash command. */
const DOCUMENTED = {
  timestamp: 1_531_420_618,
  body:
    'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar' +
    '&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com' +
    '%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c',
  signature: 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
};
/** The callback of the Events API's documentation. */
const CALLBACK = {
  token: 'XXYYZZ',
  team_id: 'T123ABC456',
  api_app_id: 'A123ABC456',
  event: { type: 'name_of_event', event_ts: '1234567890.123456', user: 'U123ABC456' },
  type: 'event_callback',
  event_id: 'Ev123ABC456',
  event_time: 1_234_567_890,
};

function signature(body: string, timestamp: number): string {
  return `v0=${createHmac('sha256', SECRET).update(`v0:${timestamp}:${body}`).digest('hex')}`;
}

function request(
  body: string,
  { timestamp = NOW_S, ...headers }: { timestamp?: number; [name: string]: string | number | undefined } = {},
) {
  const own = { 'x-slack-signature': signature(body, timestamp), 'x-slack-request-timestamp': String(timestamp) };
  return incoming(body, { secret: SECRET, headers: { ...own, ...(headers as Record<string, string>) } });
}

test('the documented command is taken at its time', async () => {
  const { timestamp, body, signature: documented } = DOCUMENTED;
  const asked = { ...request(body, { timestamp, 'content-type': FORM, 'x-slack-signature': documented }), nowMs: timestamp * 1000 };
  expect(await verifyWebhook('slack', asked)).toMatchObject({
    event: 'slash_command',
    delivery: '398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c',
    payload: { command: '/webhook-collect', user_name: 'roadrunner' },
  });
});

test('the documented command is refused now, years after its time', async () => {
  const { timestamp, body } = DOCUMENTED;
  await expect(verifyWebhook('slack', request(body, { timestamp, 'content-type': FORM }))).rejects.toMatchObject({
    code: 'auth.bad-signature',
  });
});

test('the documented callback is taken with the type and id of its event', async () => {
  expect(await verifyWebhook('slack', request(JSON.stringify(CALLBACK)))).toMatchObject({
    kind: 'event',
    event: 'name_of_event',
    eventType: 'name_of_event',
    delivery: 'Ev123ABC456',
    payload: CALLBACK,
  });
});

test('a notice without an event has its own type as event and no delivery id', async () => {
  const body = JSON.stringify({
    token: 'Jhj5dZrVaK7ZwHHjRyZWjbDl',
    type: 'app_rate_limited',
    team_id: 'T123456',
    minute_rate_limited: 1_518_467_820,
  });
  expect(await verifyWebhook('slack', request(body))).toMatchObject({ event: 'app_rate_limited', delivery: null });
});

test('an interaction is taken from the field payload of its form', async () => {
  const body = new URLSearchParams({
    payload: JSON.stringify({ type: 'block_actions', trigger_id: '12321423423.333649436676', actions: [] }),
  }).toString();
  const outcome = await verifyWebhook('slack', request(body, { 'content-type': FORM }));
  expect(outcome).toMatchObject({ event: 'block_actions', delivery: '12321423423.333649436676', payload: { actions: [] } });
});

test('a body is refused when one byte of it changed, and under another time', async () => {
  const asked = request(JSON.stringify(CALLBACK));
  const refusal = { code: 'auth.bad-signature' };
  await expect(
    verifyWebhook('slack', { ...asked, rawBody: Buffer.from(JSON.stringify(CALLBACK).replace('U123', 'U124')) }),
  ).rejects.toMatchObject(refusal);
  const moved = { ...asked, headers: { ...asked.headers, 'x-slack-request-timestamp': String(NOW_S + 1) } };
  await expect(verifyWebhook('slack', moved)).rejects.toMatchObject(refusal);
});

test.each([
  ['6 minutes later', NOW_MS + 361_000],
  ['6 minutes before its time', NOW_MS - 361_000],
])('a right signature is refused %s', async (_, nowMs) => {
  await expect(verifyWebhook('slack', { ...request(JSON.stringify(CALLBACK)), nowMs })).rejects.toMatchObject({
    code: 'auth.bad-signature',
  });
});

test.each([undefined, '', '12e3', '-1', '0x10', ' ', 'NaN', '9'.repeat(400)])('the time %j is refused', async (timestamp) => {
  const asked = request('{}', { 'x-slack-request-timestamp': timestamp });
  await expect(verifyWebhook('slack', asked)).rejects.toMatchObject({ code: 'auth.bad-signature' });
});

test.each([
  undefined,
  '',
  'v0=',
  'v1=00',
  `v0=${'zz'.repeat(32)}`,
  `v0=${'0'.repeat(63)}`,
  `v0=${'0'.repeat(65)}`,
  `v0=${'0'.repeat(1_000_000)}`,
])('the signature %j is refused', async (value) => {
  await expect(verifyWebhook('slack', request('{}', { 'x-slack-signature': value }))).rejects.toMatchObject({ code: 'auth.bad-signature' });
});

test.each(['{}', '[]', '"text"', 'null', 'payload={}', '{"type":7}', '{"event":{"type":["a"]}}'])(
  'the signed body %s is malformed',
  async (body) => {
    await expect(verifyWebhook('slack', request(body))).rejects.toMatchObject({ code: 'request.malformed' });
  },
);

test('a form whose fields name prototypes changes none', async () => {
  const asked = request('__proto__=polluted&constructor=x&command=%2Fgo', { 'content-type': FORM });
  expect(await verifyWebhook('slack', asked)).toMatchObject({ event: 'slash_command' });
  expect(({} as { command?: string }).command).toBeUndefined();
});
