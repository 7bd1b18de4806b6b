import { createServer, type Server } from 'node:net';
import { once } from 'node:events';
import { beforeEach, expect, it } from 'vitest';
import { Webhook } from 'standardwebhooks';
import type { AlertRule } from '#shared/config/settings/metrics-settings.ts';
import { AlertSender } from '#shared/findings/alerts/alert-sender.ts';
import type { Alert } from '#shared/findings/alerts/alert.ts';
import { readReceivers } from '#shared/findings/alerts/receiver-store.ts';
import { findingOf } from '#shared/findings/finding.ts';
import type { KeptFinding } from '#shared/findings/list/reconcile.ts';
import { createLog } from '#shared/log/create-log.ts';
import { closeAfterTests } from '../../../support/close-after-tests.ts';
import { startFakeHttpEndpoint } from '../../../support/fake-http-endpoint.ts';
import { useParts } from '../../../support/use-parts.ts';

const parts = await useParts();
const { redis, keys } = parts;
const log = createLog({ level: 'silent', service: 'test' });
const SECRET = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
const SINCE = Date.parse('2026-05-01T09:00:00.000Z');

let status = 200;
/** The number of the request from which on all are refused. */
let refusesFrom = Infinity;
let now = SINCE;
const receiver = closeAfterTests(
  await startFakeHttpEndpoint((response) => void response.writeHead(receiver.requests.length < refusesFrom ? status : 500).end()),
);
beforeEach(async () => {
  await redis.flushall();
  receiver.requests.splice(0);
  status = 200;
  refusesFrom = Infinity;
  now = SINCE;
});

const found = (subject: string, fields: Partial<KeptFinding> = {}): KeptFinding => ({
  ...findingOf({
    code: 'queue.unserved',
    severity: 'critical',
    text: `No worker serves ${subject}`,
    helps: 'Start one.',
    link: '/queues',
    subject,
  }),
  since: SINCE,
  acknowledged: null,
  ...fields,
});
const senderOf = (to: AlertRule['to'], more: Partial<AlertRule> = {}, url?: string): AlertSender =>
  new AlertSender({
    redis,
    keys,
    log,
    rules: [{ name: 'ops', to, severity: 'warning', ...more }],
    mail: { url, from: 'Muster <muster@example.com>' },
    clock: { now: () => now, monotonic: () => now },
  });
const stateOf = async (): Promise<unknown> => (await readReceivers({ redis, keys }, ['ops'])).get('ops');
const isThere = (): boolean => true;
const bodies = (): unknown[] => receiver.requests.map(({ body }) => JSON.parse(body));
const webhook = (): AlertRule['to'] => ({ webhook: { url: receiver.url, secret: SECRET } });

it('is sent once as firing and once as resolved under one id, signed, whoever looks', async () => {
  const [one, other] = [senderOf(webhook()), senderOf(webhook())];
  for (const sender of [one, other, one]) await sender.see(null, [found('chat')], isThere);
  expect(bodies()).toEqual([
    {
      id: expect.stringMatching(/^alert_[0-9a-f]{24}$/),
      status: 'firing',
      severity: 'critical',
      kind: 'queue.unserved',
      tenant: null,
      summary: 'No worker serves chat',
      helps: 'Start one.',
      since: '2026-05-01T09:00:00.000Z',
    },
  ]);
  for (const sender of [other, one]) await sender.see(null, [], isThere);
  const [firing, resolved] = bodies() as [Alert, Alert];
  expect(resolved).toEqual({ ...firing, status: 'resolved' });
  expect(bodies()).toHaveLength(2);
  const { headers, body } = receiver.requests[0]!;
  expect(headers['webhook-id']).toBe(`${firing.id}-firing`);
  // Its time is the test's.
  const signature = new Webhook(SECRET).sign(String(headers['webhook-id']), new Date(SINCE), body);
  expect(headers['webhook-signature']).toBe(signature);
});

it('is sent again later where its receiver failed, and is no alert itself', async () => {
  const sender = senderOf(webhook());
  status = 500;
  await sender.see(null, [found('chat')], isThere);
  await sender.see(null, [found('chat')], isThere);
  expect(bodies()).toHaveLength(1);
  const failure = { at: SINCE, times: 1, why: 'the receiver answered with 500' };
  expect(await stateOf()).toEqual({ firingSentAt: null, resolvedSentAt: null, failure });
  now += 5000;
  status = 204;
  await sender.see(null, [found('chat')], isThere);
  await sender.see(null, [found('chat')], isThere);
  expect(bodies()).toHaveLength(2);
  expect(await stateOf()).toEqual({ firingSentAt: now, resolvedSentAt: null, failure: null });
});

it('goes to whom it concerns: by severity and tenant, and of nothing that somebody knows', async () => {
  const critical = senderOf(webhook(), { severity: 'critical', tenants: ['acme'] });
  await critical.see(
    'acme',
    [found('a', { severity: 'warning' }), found('b', { acknowledged: { at: 1, by: null, severity: 'critical' } })],
    isThere,
  );
  await critical.see(null, [found('c')], isThere);
  await critical.see('other', [found('d')], isThere);
  expect(bodies()).toEqual([]);
  await critical.see('acme', [found('e')], isThere);
  expect(bodies()).toMatchObject([{ tenant: 'acme', summary: 'No worker serves e' }]);
});

it('is sent once each, also where its receiver fails in the middle of several', async () => {
  const sender = senderOf(webhook());
  const all = ['a', 'b', 'c'].map((subject) => found(subject));
  refusesFrom = 2;
  await sender.see(null, all, isThere);
  expect(bodies()).toMatchObject([{ summary: 'No worker serves a' }, { summary: 'No worker serves b' }]);
  refusesFrom = Infinity;
  now += 5000;
  await sender.see(null, all, isThere);
  expect(bodies().slice(2)).toMatchObject([{ summary: 'No worker serves b' }, { summary: 'No worker serves c' }]);
  expect(new Set(receiver.requests.map(({ headers }) => headers['webhook-id'])).size).toBe(3);
  refusesFrom = 6;
  await sender.see(null, [], isThere);
  refusesFrom = Infinity;
  now += 5000;
  await sender.see(null, [], isThere);
  expect(bodies().slice(4)).toMatchObject(Array.from({ length: 4 }, () => ({ status: 'resolved' })));
  expect(new Set(receiver.requests.map(({ headers }) => headers['webhook-id'])).size).toBe(6);
});

it('is sent once, and as resolved once, also while Redis is full and keeps neither the finding nor the alert', async () => {
  const sender = senderOf(webhook());
  await redis.config('SET', 'maxmemory', '1mb');
  try {
    // What is not stored is found anew with each look.
    for (const since of [SINCE, SINCE + 5000, SINCE + 10_000]) await sender.see(null, [found('chat', { since })], isThere);
  } finally {
    await redis.config('SET', 'maxmemory', '0');
  }
  expect(bodies()).toMatchObject([{ status: 'firing', since: '2026-05-01T09:00:00.000Z' }]);
  await sender.see(null, [found('chat', { since: SINCE + 15_000 })], isThere);
  expect(await redis.hlen(keys.fleet.alerts)).toBe(1);
  await sender.see(null, [], isThere);
  const [firing, ...resolved] = bodies() as [Alert, ...Alert[]];
  expect(resolved).toEqual([{ ...firing, status: 'resolved' }]);
  expect(await redis.hlen(keys.fleet.alerts)).toBe(0);
});

it('that is over before Redis could keep it is sent as resolved all the same', async () => {
  const sender = senderOf(webhook());
  await redis.config('SET', 'maxmemory', '1mb');
  try {
    await sender.see(null, [found('chat')], isThere);
    await sender.see(null, [], isThere);
    await sender.see(null, [], isThere);
  } finally {
    await redis.config('SET', 'maxmemory', '0');
  }
  await sender.see(null, [], isThere);
  expect(bodies()).toMatchObject([{ status: 'firing' }, { status: 'resolved' }]);
  expect(await redis.hlen(keys.fleet.alerts)).toBe(0);
});

it('keeps its id where a finding turns out to be older', async () => {
  const sender = senderOf(webhook());
  await sender.see(null, [found('chat')], isThere);
  await sender.see(null, [found('chat', { since: SINCE - 1000 })], isThere);
  expect(bodies()).toHaveLength(1);
});

it('is not over because somebody knows of it', async () => {
  const sender = senderOf(webhook());
  await sender.see('acme', [found('chat')], isThere);
  await sender.see('acme', [found('chat', { acknowledged: { at: 1, by: null, severity: 'critical' } })], isThere);
  expect(bodies()).toMatchObject([{ status: 'firing' }]);
  await sender.see('acme', [], isThere);
  expect(bodies()).toMatchObject([{ status: 'firing' }, { status: 'resolved' }]);
});

it('of a rule that is not in the configuration any more is forgotten', async () => {
  await senderOf(webhook()).see('acme', [found('chat')], isThere);
  await senderOf(webhook(), { name: 'others' }).see(null, [], isThere);
  expect(await redis.hlen(keys.fleet.alerts)).toBe(0);
  await senderOf(webhook()).see(null, [found('chat')], isThere);
  await new AlertSender({ redis, keys, log, rules: [], mail: { url: undefined, from: 'muster@example.com' } }).see(null, [], isThere);
  expect(await redis.hlen(keys.fleet.alerts)).toBe(0);
  expect(bodies()).toMatchObject([{ status: 'firing' }, { status: 'firing' }]);
});

it('of a tenant is resolved with the tenant, and not by the list of another', async () => {
  const sender = senderOf(webhook());
  await sender.see('acme', [found('chat')], isThere);
  await sender.see('other', [], isThere);
  await sender.see(null, [], isThere);
  expect(bodies()).toHaveLength(1);
  await sender.see(null, [], () => false);
  expect(bodies()).toMatchObject([{ status: 'firing' }, { status: 'resolved', tenant: 'acme' }]);
});

it('comes to Slack as one message, in which nothing of a finding is markup', async () => {
  await senderOf({ slack: { url: receiver.url } }).see('acme', [found('<!channel> & co'), found('chat')], isThere);
  expect(bodies()).toEqual([{ text: expect.stringContaining('No worker serves &lt;!channel&gt; &amp; co') }]);
  expect(bodies()).toEqual([{ text: expect.stringContaining('*critical* (tenant acme): No worker serves chat\nStart one.') }]);
});

it('comes to Alertmanager by its API, and again while it fires', async () => {
  const sender = senderOf({ alertmanager: { url: `${receiver.url}/` } });
  await sender.see(null, [found('chat')], isThere);
  now += 60_000;
  await sender.see(null, [found('chat')], isThere);
  await sender.see(null, [], isThere);
  expect(receiver.requests.map(({ path }) => path)).toEqual(Array.from({ length: 3 }, () => '/api/v2/alerts'));
  const [first, again, last] = bodies() as [{ endsAt: string }[], { endsAt: string }[], { endsAt: string }[]];
  expect(first).toMatchObject([
    {
      labels: { alertname: 'queue.unserved', severity: 'critical' },
      annotations: { summary: 'No worker serves chat', description: 'Start one.' },
      startsAt: '2026-05-01T09:00:00.000Z',
      endsAt: '2026-05-01T09:05:00.000Z',
    },
  ]);
  expect([again[0]?.endsAt, last[0]?.endsAt]).toEqual(['2026-05-01T09:06:00.000Z', '2026-05-01T09:01:00.000Z']);
});

/** A server of SMTP that takes what comes. */
async function startMail(): Promise<{ server: Server; url: string; lines: string[] }> {
  const lines: string[] = [];
  const server = createServer((socket) => {
    let isData = false;
    let rest = '';
    socket.write('220 mail ESMTP\r\n');
    socket.on('data', (data) => {
      const parted = `${rest}${data.toString()}`.split('\r\n');
      rest = parted.pop() ?? '';
      for (const line of parted) {
        lines.push(line);
        if (isData && line !== '.') continue;
        if (line === 'DATA') socket.write('354 go on\r\n');
        else socket.write(line === 'QUIT' ? '221 bye\r\n' : '250 fine\r\n');
        isData = line === 'DATA';
      }
    });
    socket.on('error', () => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return { server, url: `smtp://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`, lines };
}

it('comes by mail to each, and is told apart where no mail can go out', async () => {
  const { server, url, lines } = await startMail();
  try {
    await senderOf({ email: { to: ['anna@example.com', 'ben@example.com'] } }, {}, url).see('acme', [found('chat')], isThere);
    const text = lines.join('\n');
    expect(text).toContain('RCPT TO:<anna@example.com>');
    expect(text).toContain('RCPT TO:<ben@example.com>');
    expect(text).toContain('Subject: [Muster] critical: No worker serves chat');
    expect(text).toContain('queue.unserved, tenant acme, since 2026-05-01T09:00:00.000Z');
  } finally {
    server.close();
  }
  await senderOf({ email: { to: 'anna@example.com' } }).see(null, [found('chat')], isThere);
  expect(await redis.hlen(keys.fleet.alerts)).toBe(1);
});
