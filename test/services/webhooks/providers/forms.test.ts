import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { hookDraftSchema } from '../../../../services/webhooks/hook.ts';
import { verifyWebhook } from '../../../../services/webhooks/providers/registry.ts';
import { incoming, NOW_MS, NOW_S } from './incoming.ts';

const TEXT = '{"type":"ticket.created","n":1}';
const SECRET = 'a secret of the sender';
const RAW_KEY = Buffer.from('0123456789abcdef0123456789abcdef');

type Encoding = 'hex' | 'base64';
const sign = (content: string, encoding: Encoding = 'hex', key: string | Buffer = SECRET, algorithm = 'sha256'): string =>
  createHmac(algorithm, key).update(content).digest(encoding);
const old = (encoding: Encoding = 'hex'): string => sign('another content', encoding);

interface Form {
  readonly name: string;
  readonly options: Record<string, unknown>;
  readonly secret?: string;
  readonly headers: Record<string, string>;
}

const ISO = new Date(NOW_MS).toISOString();
const other = NOW_S - 60;

/** What senders document of their signatures; `docs/webhooks.md` names where. */
const FORMS: readonly Form[] = [
  {
    name: 'PagerDuty, two during a rotation',
    options: { header: 'X-PagerDuty-Signature', prefix: 'v1=' },
    headers: { 'x-pagerduty-signature': `v1=${old()},v1=${sign(TEXT)}` },
  },
  {
    name: 'the right one first, after a comma and a space',
    options: { header: 'X-Signature', prefix: 'sha256=' },
    headers: { 'x-signature': `sha256=${sign(TEXT)}, sha256=${old()}` },
  },
  {
    name: 'base64, a list with commas',
    options: { header: 'X-Signature', encoding: 'base64' },
    headers: { 'x-signature': `${old('base64')},${sign(TEXT, 'base64')}` },
  },
  {
    name: 'base64, a list with spaces',
    options: { header: 'X-Signature', encoding: 'base64' },
    headers: { 'x-signature': `${old('base64')} ${sign(TEXT, 'base64')}` },
  },
  {
    name: 'Mux, a time and a signature',
    options: { header: 'Mux-Signature', prefix: 'v1=', timestampHeader: 'mux-signature' },
    headers: { 'mux-signature': `t=${NOW_S},v1=${sign(`${NOW_S}.${TEXT}`)}` },
  },
  {
    name: 'a time and two signatures of a rotation',
    options: { header: 'X-Signature', prefix: 'v1=', timestampHeader: 'X-Signature' },
    headers: { 'x-signature': `t=${NOW_S},v1=${old()},v1=${sign(`${NOW_S}.${TEXT}`)},v0=${old()}` },
  },
  {
    name: 'Persona, two sets with a time each',
    options: { header: 'Persona-Signature', prefix: 'v1=', timestampHeader: 'Persona-Signature' },
    headers: { 'persona-signature': `t=${other},v1=${old()} t=${NOW_S},v1=${sign(`${NOW_S}.${TEXT}`)}` },
  },
  {
    name: 'Paddle, with semicolons and a colon',
    options: { header: 'Paddle-Signature', prefix: 'h1=', timestampHeader: 'Paddle-Signature', signedContent: '{timestamp}:{body}' },
    headers: { 'paddle-signature': `ts=${NOW_S};h1=${old()};h1=${sign(`${NOW_S}:${TEXT}`)}` },
  },
  {
    name: 'WorkOS, in milliseconds and with a space',
    options: { header: 'WorkOS-Signature', prefix: 'v1=', timestampHeader: 'WorkOS-Signature', timestampUnit: 'ms' },
    headers: { 'workos-signature': `t=${NOW_MS}, v1=${sign(`${NOW_MS}.${TEXT}`)}` },
  },
  {
    name: 'Buildkite, whose time has a long name',
    options: { header: 'X-Buildkite-Signature', prefix: 'signature=', timestampHeader: 'X-Buildkite-Signature' },
    headers: { 'x-buildkite-signature': `timestamp=${NOW_S},signature=${sign(`${NOW_S}.${TEXT}`)}` },
  },
  {
    name: 'Zendesk, with a date and nothing between',
    options: {
      header: 'X-Zendesk-Webhook-Signature',
      encoding: 'base64',
      timestampHeader: 'X-Zendesk-Webhook-Signature-Timestamp',
      timestampUnit: 'iso',
      signedContent: '{timestamp}{body}',
    },
    headers: { 'x-zendesk-webhook-signature': sign(`${ISO}${TEXT}`, 'base64'), 'x-zendesk-webhook-signature-timestamp': ISO },
  },
  {
    name: 'Twitch, over id, date and body',
    options: {
      header: 'Twitch-Eventsub-Message-Signature',
      prefix: 'sha256=',
      timestampHeader: 'Twitch-Eventsub-Message-Timestamp',
      timestampUnit: 'iso',
      toleranceMs: 600_000,
      deliveryHeader: 'Twitch-Eventsub-Message-Id',
      signedContent: '{id}{timestamp}{body}',
    },
    headers: {
      'twitch-eventsub-message-signature': `sha256=${sign(`m-1${ISO}${TEXT}`)}`,
      'twitch-eventsub-message-timestamp': ISO,
      'twitch-eventsub-message-id': 'm-1',
    },
  },
  {
    name: 'Zoom, with a version before the time',
    options: { header: 'x-zm-signature', prefix: 'v0=', timestampHeader: 'x-zm-request-timestamp', signedContent: 'v0:{timestamp}:{body}' },
    headers: { 'x-zm-signature': `v0=${sign(`v0:${NOW_S}:${TEXT}`)}`, 'x-zm-request-timestamp': `${NOW_S}` },
  },
  {
    name: "Svix's content under names of its own, the secret in base64",
    options: {
      header: 'X-My-Signature',
      prefix: 'v1,',
      encoding: 'base64',
      secretEncoding: 'base64',
      timestampHeader: 'X-My-Timestamp',
      deliveryHeader: 'X-My-Id',
      signedContent: '{id}.{timestamp}.{body}',
    },
    secret: `whsec_${RAW_KEY.toString('base64')}`,
    headers: {
      'x-my-signature': `v1,${old('base64')} v1,${sign(`i-1.${NOW_S}.${TEXT}`, 'base64', RAW_KEY)}`,
      'x-my-timestamp': `${NOW_S}`,
      'x-my-id': 'i-1',
    },
  },
  {
    name: 'a secret of bytes in hex, as Adyen has it',
    options: { header: 'HmacSignature', encoding: 'base64', secretEncoding: 'hex' },
    secret: RAW_KEY.toString('hex'),
    headers: { hmacsignature: sign(TEXT, 'base64', RAW_KEY) },
  },
  {
    name: "Microsoft Teams' outgoing webhook, a prefix with a space",
    options: { header: 'Authorization', prefix: 'HMAC ', encoding: 'base64', secretEncoding: 'base64' },
    secret: RAW_KEY.toString('base64'),
    headers: { authorization: `HMAC ${sign(TEXT, 'base64', RAW_KEY)}` },
  },
  {
    name: 'an address in the content, as Square signs it',
    options: { header: 'x-square-hmacsha256-signature', encoding: 'base64', signedContent: 'https://muster.example/hooks/1{body}' },
    headers: { 'x-square-hmacsha256-signature': sign(`https://muster.example/hooks/1${TEXT}`, 'base64') },
  },
];

test.each(FORMS)('the form of $name is taken, and refused under another body or secret', async ({ options, secret = SECRET, headers }) => {
  const draft = hookDraftSchema.parse({ provider: 'hmac', agent: 'echo', secret, options });
  const asked = incoming(TEXT, { secret, options: draft.options, headers });
  expect(await verifyWebhook('hmac', asked)).toMatchObject({ kind: 'event', event: 'ticket.created' });
  const refusal = { code: 'auth.bad-signature' };
  const changed = { ...asked, rawBody: Buffer.from(TEXT.replace('1', '2')) };
  await expect(verifyWebhook('hmac', changed)).rejects.toMatchObject(refusal);
  await expect(verifyWebhook('hmac', { ...asked, secrets: [old()] })).rejects.toMatchObject(refusal);
  expect(await verifyWebhook('hmac', { ...asked, secrets: [old(), secret] })).toMatchObject({ kind: 'event' });
});

test.each([
  [
    'more signatures than a rotation has',
    Array.from({ length: 17 }, () => `v1=${sign(`${NOW_S}.${TEXT}`)}`).join(','),
    'has 17 signatures',
  ],
  ['more times than a rotation has', [1, 2, 3].map((n) => `t=${NOW_S - n},v1=${old()}`).join(' '), 'has 3 times of signing'],
  ['a right signature whose time is over', `t=${NOW_S - 400},v1=${sign(`${NOW_S - 400}.${TEXT}`)}`, 'outside of the window'],
  ['a right signature under the time of another', `t=${other},v1=${sign(`${NOW_S}.${TEXT}`)} t=${NOW_S},v1=${old()}`, 'does not match'],
  ['no time', `v1=${sign(TEXT)}`, 'missing'],
])('a header with %s is refused', async (_what, value, message) => {
  const options = { header: 'X-Signature', prefix: 'v1=', timestampHeader: 'X-Signature' };
  const asked = incoming(TEXT, { secret: SECRET, options, headers: { 'x-signature': value } });
  await expect(verifyWebhook('hmac', asked)).rejects.toMatchObject({
    code: 'auth.bad-signature',
    message: expect.stringContaining(message) as string,
  });
});

test.each([
  [{ signedContent: '{url}{body}' }, 'there is no {url}: expected {body}, {timestamp}, {id}'],
  [{ signedContent: '{id}.{body}' }, 'expected a deliveryHeader, which {id} comes from'],
  [{ signedContent: '{Body}' }, 'there is no {Body}: expected {body}, {timestamp}, {id}'],
])('the options %j are refused when the hook is made', (given, message) => {
  const draft = { provider: 'hmac', agent: 'echo', secret: SECRET, options: { header: 'X-S', ...given } };
  const { issues = [] } = hookDraftSchema.safeParse(draft).error ?? {};
  expect(issues).toMatchObject([{ path: ['options', 'signedContent'], message }]);
});

test.each(['no base64!', 'abc'])('the secret %j is refused where it has to be bytes in hex', (secret) => {
  const draft = { provider: 'hmac', agent: 'echo', secret, options: { header: 'X-S', secretEncoding: 'hex' } };
  expect(hookDraftSchema.safeParse(draft).error?.issues).toMatchObject([{ path: ['secret'] }]);
});

const KEY = Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'base64');

function svix(id: string, family: 'svix' | 'webhook', signature?: string): Record<string, string> {
  const right = `v1,${sign(`${id}.${NOW_S}.${TEXT}`, 'base64', KEY)}`;
  return { [`${family}-id`]: id, [`${family}-timestamp`]: `${NOW_S}`, [`${family}-signature`]: signature ?? right };
}

const FORGED = `v1,${Buffer.alloc(32).toString('base64')}`;

test.each([
  ["Svix's names", svix('m-1', 'svix'), true],
  ['both names, which agree', { ...svix('m-1', 'svix'), ...svix('m-1', 'webhook') }, true],
  ['two signatures of a rotation', svix('m-1', 'svix', `${FORGED} ${svix('m-1', 'svix')['svix-signature']}`), true],
  ["a forged set of Svix's beside a right one", { ...svix('m-1', 'webhook'), ...svix('m-1', 'svix', FORGED) }, false],
  ["a right set of Svix's beside a forged one", { ...svix('m-1', 'webhook', FORGED), ...svix('m-1', 'svix') }, false],
  ['two right sets of two deliveries', { ...svix('m-1', 'webhook'), ...svix('m-2', 'svix') }, false],
  ['a right set and a part of another', { ...svix('m-1', 'webhook'), 'svix-id': 'm-1' }, false],
  ['names of both in one set', { 'svix-id': 'm-1', 'webhook-timestamp': `${NOW_S}`, 'svix-signature': FORGED }, false],
  ['17 signatures', svix('m-1', 'svix', Array.from({ length: 17 }, () => svix('m-1', 'svix')['svix-signature']).join(' ')), false],
  [
    'two headers of signatures in one, a forged one after a right one',
    svix('m-1', 'svix', `${svix('m-1', 'svix')['svix-signature']}, ${FORGED}`),
    false,
  ],
])('Standard Webhooks with %s: taken %s', async (_what, headers, isTaken) => {
  const asked = incoming(TEXT, { secret: `whsec_${KEY.toString('base64')}`, headers });
  const verdict = await verifyWebhook('standard', asked).catch((error: unknown) => error);
  expect(verdict).toMatchObject(isTaken ? { kind: 'event', delivery: 'm-1' } : { code: 'auth.bad-signature' });
});
