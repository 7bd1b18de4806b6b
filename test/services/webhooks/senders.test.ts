import { createHmac } from 'node:crypto';
import express from 'express';
import { expect, test } from 'vitest';
import { createWebhooksService } from '../../../services/webhooks/create-webhooks-service.ts';
import { HANDSHAKE_NAMES, HANDSHAKES, type HandshakeName } from '../../../services/webhooks/handshakes/handshakes.ts';
import { readHandshakeUrl } from '../../../services/webhooks/handshakes/sns.ts';
import { HookStore } from '../../../services/webhooks/hook-store.ts';
import { type Hook, hookDraftSchema, readDraft } from '../../../services/webhooks/hook.ts';
import { read } from '../../deploy/repository.ts';
import { closeAfterTests } from '../../support/close-after-tests.ts';
import { serveApp } from '../../support/serve-app.ts';
import { useEmptyParts } from '../../support/use-parts.ts';

const parts = await useEmptyParts({ agents: { echo: { kind: 'echo' } }, limits: { httpAnonymousPerMinute: 100_000 } });
const { router } = createWebhooksService(parts);
if (router === undefined) throw new Error('expected a router');
const { url } = closeAfterTests(await serveApp(express().use(router)));
const store = new HookStore({ ...parts, maxHooksPerTenant: 1000 });

const BYTES = Buffer.from('0123456789abcdef0123456789abcdef');
const SECRETS = { text: 's3cret', base64: `whsec_${BYTES.toString('base64')}`, hex: BYTES.toString('hex') };
const TEXT = '{"type":"thing.happened","n":1}';

interface Options {
  handshake?: HandshakeName;
  header?: string;
  prefix?: string;
  algorithm?: string;
  encoding?: 'hex' | 'base64';
  secretEncoding?: 'text' | 'base64' | 'hex';
  timestampHeader?: string;
  timestampUnit?: 's' | 'ms' | 'iso';
  signedContent?: string;
  deliveryHeader?: string;
  verifyToken?: string;
}

interface Sender {
  readonly name: string;
  readonly provider: string;
  readonly options: Options;
}

/** The lines of the table in the documentation. */
const SENDERS: readonly Sender[] = [...read('docs/webhooks.md').matchAll(/^\| (.+?) \| `(\w+)` \| (?:`(\{.*?\})`)? ?\| .*\|$/gm)].map(
  ([, name = '', provider = '', options]) => ({ name, provider, options: JSON.parse(options ?? '{}') as Options }),
);

let made = 0;

async function makeHook({ provider, options }: Omit<Sender, 'name'>): Promise<Hook> {
  const isKept = options.handshake !== undefined && 'secret' in HANDSHAKES[options.handshake] && isSecretKept(options.handshake);
  const secret =
    provider === 'none' || isKept ? null : provider === 'standard' ? SECRETS.base64 : SECRETS[options.secretEncoding ?? 'text'];
  const given = Object.keys(options).length === 0 ? {} : { options };
  const draft = readDraft(hookDraftSchema.parse({ provider, secret, agent: 'echo', ...given }));
  const stamp = '2026-01-01T00:00:00.000Z';
  made += 1;
  const id = `01ARZ3NDEKTSV4RRFFQ69G5${String(made).padStart(3, '0')}`;
  const hook: Hook = { ...draft, formerSecrets: [], id, tenant: 'default', createdAt: stamp, updatedAt: stamp };
  await store.create(hook);
  return hook;
}

function isSecretKept(name: HandshakeName): boolean {
  const { secret }: { secret?: string } = HANDSHAKES[name];
  return secret === 'kept';
}

const signText = (content: string, key: string | Buffer, encoding: 'hex' | 'base64' = 'hex', algorithm = 'sha256'): string =>
  createHmac(algorithm, key).update(content).digest(encoding);

/** Signs as the sender of a hook with these options does. */
function sign({ provider, options }: Omit<Sender, 'name'>, body: string, secret: string | null): Record<string, string> {
  const seconds = String(Math.floor(Date.now() / 1000));
  if (provider === 'none' || secret === null) return {};
  if (provider === 'slack')
    return { 'x-slack-request-timestamp': seconds, 'x-slack-signature': `v0=${signText(`v0:${seconds}:${body}`, secret)}` };
  if (provider === 'standard')
    return { 'svix-id': 'm-1', 'svix-timestamp': seconds, 'svix-signature': `v1,${signText(`m-1.${seconds}.${body}`, BYTES, 'base64')}` };
  return signByOptions(options, body, secret);
}

function signByOptions(options: Options, body: string, secret: string): Record<string, string> {
  const { header = '', prefix = '', timestampHeader, deliveryHeader, encoding, algorithm } = options;
  const now = Date.now();
  const time = { s: String(Math.floor(now / 1000)), ms: String(now), iso: new Date(now).toISOString() }[options.timestampUnit ?? 's'];
  const template = options.signedContent ?? (timestampHeader === undefined ? '{body}' : '{timestamp}.{body}');
  const content = template.replace('{id}', 'd-1').replace('{timestamp}', time).replace('{body}', body);
  const key = options.secretEncoding === undefined ? secret : BYTES;
  const signature = `${prefix}${signText(content, key, encoding, algorithm)}`;
  if (timestampHeader === header) return { [header]: `t=${time},${signature}` };
  const delivery = deliveryHeader === undefined ? {} : { [deliveryHeader]: 'd-1' };
  return { [header]: signature, ...(timestampHeader === undefined ? {} : { [timestampHeader]: time }), ...delivery };
}

interface Sent {
  method?: string;
  query?: string;
  headers?: Record<string, string>;
  body?: string;
}

async function send(hook: Hook, { method = 'POST', query = '', headers = {}, body }: Sent) {
  const response = await fetch(`${url}/hooks/${hook.id}${query}`, { method, headers, ...(body === undefined ? {} : { body }) });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const taskCount = async (): Promise<number> => await parts.redis.hlen(parts.keys.tenant('default').states);

const hmacOf = (text: string, encoding: 'hex' | 'base64'): string => createHmac('sha256', SECRETS.text).update(text).digest(encoding);

interface Case extends Sent {
  /** What comes back; text as it is, or a JSON object. */
  answer: string | Record<string, string>;
  status?: number;
  back?: Record<string, string>;
}

const token = 'Tok-en_1.~+/=';
const query = new URLSearchParams({ token }).toString().slice('token='.length);
const hub = `?hub.mode=subscribe&hub.challenge=${query}&hub.verify_token=choose-one`;
const echo = (name: string): Case => ({ method: 'GET', query: `?${name}=${query}`, answer: token });
const empty = (sent: Sent): Case => ({ ...sent, answer: '' });
const challenge = (more = {}): Case => ({ body: JSON.stringify({ challenge: token, ...more }), answer: { challenge: token } });

/** What each sender sends to check the address, and wants back. */
const CASES: Readonly<Record<Exclude<HandshakeName, 'sns'>, Case>> = {
  adobe: echo('challenge'),
  asana: { headers: { 'x-hook-secret': token }, body: '{}', answer: '', back: { 'x-hook-secret': token } },
  'cloud-events': {
    method: 'OPTIONS',
    headers: { 'webhook-request-origin': 'eventgrid.azure.net' },
    answer: '',
    back: { 'webhook-allowed-origin': 'eventgrid.azure.net' },
  },
  dropbox: echo('challenge'),
  'event-grid': {
    body: JSON.stringify([{ eventType: 'Microsoft.EventGrid.SubscriptionValidationEvent', data: { validationCode: token } }]),
    answer: { validationResponse: token },
  },
  fitbit: { method: 'GET', query: '?verify=choose-one', answer: '', status: 204 },
  intercom: empty({ method: 'HEAD' }),
  lark: challenge({ type: 'url_verification', token: 'anything' }),
  line: empty({ body: '{"destination":"U1","events":[]}' }),
  linkedin: {
    method: 'GET',
    query: `?challengeCode=${query}`,
    answer: { challengeCode: token, challengeResponse: hmacOf(token, 'hex') },
  },
  meta: { method: 'GET', query: hub, answer: token },
  'microsoft-graph': { query: `?validationToken=${query}`, answer: token },
  miro: challenge(),
  monday: challenge(),
  notion: empty({ body: JSON.stringify({ verification_token: token }) }),
  nylas: echo('challenge'),
  okta: { method: 'GET', headers: { 'x-okta-verification-challenge': token }, answer: { verification: token } },
  oura: { method: 'GET', query: `?verification_token=choose-one&challenge=${query}`, answer: { challenge: token } },
  ringcentral: { headers: { 'validation-token': token }, answer: '', back: { 'validation-token': token } },
  slack: challenge({ type: 'url_verification', token: 'anything' }),
  smartsheet: {
    headers: { 'smartsheet-hook-challenge': token },
    body: JSON.stringify({ challenge: token, webhookId: 1 }),
    answer: { smartsheetHookResponse: token },
    back: { 'smartsheet-hook-response': token },
  },
  strava: { method: 'GET', query: hub, answer: { 'hub.challenge': token } },
  trello: empty({ method: 'HEAD' }),
  twitch: {
    headers: { 'twitch-eventsub-message-type': 'webhook_callback_verification' },
    body: JSON.stringify({ challenge: token, subscription: {} }),
    answer: token,
  },
  websub: { method: 'GET', query: hub, answer: token },
  x: { method: 'GET', query: `?crc_token=${query}`, answer: { response_token: `sha256=${hmacOf(token, 'base64')}` } },
  xero: empty({ body: '{"events":[],"firstEventSequence":0,"lastEventSequence":0,"entropy":"S0m3r4Nd0mt3xt"}' }),
  zoom: {
    body: JSON.stringify({ event: 'endpoint.url_validation', payload: { plainToken: token } }),
    answer: { plainToken: token, encryptedToken: hmacOf(token, 'hex') },
  },
};

const handshakeOf = ({ provider, options }: Sender): HandshakeName | undefined => (provider === 'slack' ? 'slack' : options.handshake);

test('each handshake has a line in the documentation', () => {
  expect(SENDERS.length).toBeGreaterThan(35);
  expect(SENDERS.flatMap((sender) => handshakeOf(sender) ?? []).toSorted()).toEqual(HANDSHAKE_NAMES.toSorted());
});

const CHECKED = SENDERS.flatMap((sender) => {
  const name = handshakeOf(sender);
  return name === undefined || name === 'sns' ? [] : [{ ...sender, handshake: name }];
});

test.each(CHECKED)('the check of $name is answered as it wants, and makes no task', async ({ handshake, ...sender }) => {
  const hook = await makeHook(sender);
  const { answer, status = 200, back = {}, ...sent } = CASES[handshake];
  const signed = sent.body === undefined ? {} : sign(sender, sent.body, hook.secret);
  const got = await send(hook, { ...sent, headers: { ...sent.headers, ...signed } });
  expect([got.status, typeof answer === 'string' ? got.text : (JSON.parse(got.text) as unknown)]).toEqual([status, answer]);
  expect(got.headers.get('x-content-type-options')).toBe('nosniff');
  expect(got.headers.get('content-type') ?? 'text/plain').toMatch(/^(text\/plain|application\/json)/);
  for (const [name, value] of Object.entries(back)) expect(got.headers.get(name)).toBe(value);
  expect(await taskCount()).toBe(0);
});

/** Of senders that take no body. */
const EMPTY: ReadonlySet<HandshakeName | undefined> = new Set(['xero', 'line']);
const KEPT = HANDSHAKE_NAMES.filter(isSecretKept);

async function handOverSecret(hook: Hook, name: HandshakeName | undefined): Promise<string | null> {
  if (name === 'asana' || name === 'notion') await send(hook, CASES[name]);
  return (await store.find('default', hook.id))?.secret ?? null;
}

test.each(SENDERS)('a delivery of $name is taken, and a forged one is not', async (sender) => {
  const hook = await makeHook(sender);
  const secret = await handOverSecret(hook, sender.options.handshake);
  const headers = sign(sender, TEXT, secret);
  const got = await send(hook, { body: TEXT, headers });
  const isEmpty = EMPTY.has(sender.options.handshake);
  expect([got.status, got.text === '', got.text.includes('"id":"')]).toEqual([isEmpty ? 200 : 202, isEmpty, !isEmpty]);
  expect(await taskCount()).toBe(1);
  const forged = await send(hook, { body: TEXT.replace('1', '2'), headers });
  expect(forged.status).toBe(sender.provider === 'none' ? 202 : 401);
});

test('the senders that hand over a secret are those', () => {
  expect(KEPT).toEqual(['asana', 'notion']);
});

test.each(['asana', 'notion'] as const)("%s's secret is kept once, and a later handshake never replaces it", async (name) => {
  const sender = SENDERS.find(({ options }) => options.handshake === name);
  if (sender === undefined) throw new Error(`expected ${name}`);
  const hook = await makeHook(sender);
  const unsigned = await send(hook, { body: TEXT, headers: sign(sender, TEXT, 'guessed') });
  expect(unsigned.status).toBe(401);
  const { answer: _answer, ...sent } = CASES[name];
  const other = JSON.parse(JSON.stringify(sent).replaceAll(token, 'another')) as Sent;
  const first = await Promise.all([send(hook, sent), send(hook, sent)]);
  const later = await send(hook, other);
  const again = await send(hook, sent);
  expect([...first, later, again].map(({ status }) => status)).toEqual([200, 200, 403, 200]);
  expect(later.headers.get('x-hook-secret')).toBeNull();
  expect((await store.find('default', hook.id))?.secret).toBe(token);
});

const PLAIN = { provider: 'none', options: {} };
const HMAC = { provider: 'hmac', options: { header: 'X-S' } };

test.each([
  ['a hook without a handshake, by GET', PLAIN, { method: 'GET', query: '?challenge=x' }, 404],
  ['a hook without a handshake, by HEAD', PLAIN, { method: 'HEAD' }, 404],
  ['an HMAC hook that is asked by a secret', HMAC, { headers: { 'x-hook-secret': 'x' }, body: '{}' }, 401],
  [
    'a verify token that is wrong',
    { provider: 'none', options: { handshake: 'meta', verifyToken: 'right' } },
    { method: 'GET', query: hub },
    403,
  ],
  ['an unsubscription', { provider: 'none', options: { handshake: 'websub' } }, { method: 'GET', query: hub.replace('sub', 'unsub') }, 403],
  [
    'a token that is too long',
    { provider: 'none', options: { handshake: 'dropbox' } },
    { method: 'GET', query: `?challenge=${'x'.repeat(1001)}` },
    400,
  ],
  [
    'a token with a line break',
    { provider: 'none', options: { handshake: 'microsoft-graph' } },
    { query: '?validationToken=a%0d%0ab' },
    400,
  ],
  [
    'content to sign that could be a delivery',
    { provider: 'hmac', options: { header: 'X-S', handshake: 'x' } },
    { method: 'GET', query: '?crc_token=%7B%7D' },
    400,
  ],
  [
    'a signed check that is not signed',
    { provider: 'hmac', options: { header: 'X-S', handshake: 'xero' } },
    { body: '{"events":[]}' },
    401,
  ],
  ["Slack's check that is not signed", { provider: 'slack', options: {} }, { body: CASES.slack.body ?? '' }, 401],
  [
    'a check signed wrongly',
    { provider: 'hmac', options: { header: 'X-S', handshake: 'zoom' } },
    { body: CASES.zoom.body ?? '', headers: { 'x-s': '00' } },
    401,
  ],
] as [string, Omit<Sender, 'name'>, Sent, number][])('%s is refused, and makes no task', async (_what, sender, sent, status) => {
  const hook = await makeHook(sender);
  const got = await send(hook, sent);
  expect(got.status).toBe(status);
  expect(await taskCount()).toBe(0);
});

test('markup in a token goes back as text', async () => {
  const hook = await makeHook({ provider: 'none', options: { handshake: 'dropbox' } });
  const got = await send(hook, { method: 'GET', query: `?challenge=${encodeURIComponent('<script>alert(1)</script>')}` });
  expect([got.text, got.headers.get('content-type'), got.headers.get('x-content-type-options')]).toEqual([
    '<script>alert(1)</script>',
    'text/plain; charset=utf-8',
    'nosniff',
  ]);
});

const TOPIC = 'arn:aws:sns:eu-west-1:123456789012:topic';
const SUBSCRIBE = `https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription&TopicArn=${TOPIC}&Token=abc`;
const confirmation = (SubscribeURL: string): Record<string, string> => ({
  Type: 'SubscriptionConfirmation',
  TopicArn: TOPIC,
  SubscribeURL,
});

test.each([
  SUBSCRIBE,
  SUBSCRIBE.replace('eu-west-1', 'us-gov-west-1'),
  SUBSCRIBE.replace('eu-west-1.amazonaws.com', 'cn-north-1.amazonaws.com.cn'),
])('the address %s of SNS is read', (address) => {
  expect(readHandshakeUrl(confirmation(address)).href).toBe(address);
});

test.each([
  'http://127.0.0.1:1/',
  SUBSCRIBE.replace('https', 'http'),
  SUBSCRIBE.replace('amazonaws.com', 'amazonaws.com.evil.example'),
  SUBSCRIBE.replace('sns.eu', 'evil.example/sns.eu'),
  SUBSCRIBE.replace('https://', 'https://user@'),
  SUBSCRIBE.replace('.com/', '.com:8443/'),
  SUBSCRIBE.replace('.com/', '.com/elsewhere'),
  SUBSCRIBE.replace('ConfirmSubscription', 'Unsubscribe'),
  SUBSCRIBE.replace('topic', 'other'),
  'no address',
])('the address %s is not read for SNS, and makes no task', async (address) => {
  const hook = await makeHook({ provider: 'none', options: { handshake: 'sns' } });
  const got = await send(hook, { body: JSON.stringify(confirmation(address)) });
  expect([got.status, JSON.parse(got.text)]).toMatchObject([403, { code: 'hook.handshake-refused' }]);
  expect(await taskCount()).toBe(0);
});

test('the end of a subscription of SNS makes no task', async () => {
  const hook = await makeHook({ provider: 'none', options: { handshake: 'sns' } });
  const body = JSON.stringify({ ...confirmation(SUBSCRIBE), Type: 'UnsubscribeConfirmation' });
  expect([(await send(hook, { body })).status, await taskCount()]).toEqual([200, 0]);
});

test.each([
  ['none', { handshake: 'zoom' }, null, 'handshake'],
  ['none', { handshake: 'asana' }, null, 'handshake'],
  ['none', { handshake: 'meta' }, null, 'verifyToken'],
  ['hmac', { header: 'X-S', handshake: 'zoom' }, null, 'secret'],
  ['hmac', { header: 'X-S', handshake: 'unknown' }, 's', 'handshake'],
])('a hook of %s with %j and the secret %j is refused when it is made', (provider, options, secret, field) => {
  const { issues = [] } = hookDraftSchema.safeParse({ provider, options, secret, agent: 'echo' }).error ?? {};
  expect(issues.map(({ path }) => path.at(-1))).toContain(field);
});
