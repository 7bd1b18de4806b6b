import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { gzipSync } from 'node:zlib';
import { sign } from '@octokit/webhooks-methods';
import express from 'express';
import { beforeEach, expect, test } from 'vitest';
import { loadConfig } from '#shared/config/load-config.ts';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import { openParts } from '#shared/lifecycle/open-parts.ts';
import { createLog } from '#shared/log/create-log.ts';
import { createKey, type Scope } from '#shared/tenants/key-store.ts';
import { patchLimits } from '#shared/tenants/tenant.ts';
import { keptEvents } from '#shared/waits/events/kept-events.ts';
import { createWebhooksService } from '../../../services/webhooks/create-webhooks-service.ts';
import { closeAfterTests } from '../../support/close-after-tests.ts';
import { serveApp } from '../../support/serve-app.ts';
import { waitFor } from '../../support/wait-for.ts';
import { useRedis } from '../../support/redis/use-redis.ts';
import { noFailure } from '../../support/open-test-parts.ts';

const SECRET = 's3cret';
const MAX_BODY_BYTES = 10_000;
const UNKNOWN = '01ARZ3NDEKTSV4RRFFQ69G5FAV';
let operator: string;
const logged: string[] = [];

const redis = await useRedis();
const config = await loadConfig({ REDIS_URL: redis.url }, import.meta.dirname);
config.settings.agents['echo'] = { kind: 'echo' };
config.settings.webhooks.maxBodyBytes = MAX_BODY_BYTES;
const log = createLog({ level: 'info', service: 'webhooks', destination: { write: (line) => void logged.push(line) } });
const fleet = closeAfterTests(await openParts({ config, log, service: 'test', fail: noFailure }));
const { router } = createWebhooksService(fleet);
if (router === undefined) throw new Error('expected a router');
const { url: base } = closeAfterTests(await serveApp(express().use(router)));

beforeEach(async () => {
  await fleet.relay.idle();
  await fleet.redis.flushall();
  await fleet.tenants.refresh();
  operator = await keyFor('default', ['operate']);
});

async function keyFor(tenant: string, scopes: Scope[]): Promise<string> {
  return (await createKey(fleet, { tenant, name: 'test', scopes })).secret;
}

interface Answer {
  status: number;
  body: Record<string, unknown>;
}

async function api(method: string, path: string, body?: unknown, key = operator): Promise<Answer> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const response = await fetch(base + path, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  const text = await response.text();
  return { status: response.status, body: text === '' ? {} : (JSON.parse(text) as Answer['body']) };
}

async function makeHook(draft: Record<string, unknown> = {}): Promise<string> {
  const { status, body } = await api('POST', '/v1/hooks', { provider: 'github', secret: SECRET, agent: 'echo', ...draft });
  expect(status).toBe(201);
  return String(body['id']);
}

async function post(
  id: string,
  body: NonNullable<RequestInit['body']>,
  headers: Record<string, string> = {},
): Promise<Answer & { type: string | null }> {
  const streaming = body instanceof ReadableStream ? { duplex: 'half' as const } : {};
  const response = await fetch(`${base}/hooks/${id}`, { method: 'POST', headers, body, ...streaming });
  return { status: response.status, type: response.headers.get('content-type'), body: (await response.json()) as Answer['body'] };
}

async function github(text: string, delivery = 'd-1'): Promise<Record<string, string>> {
  return { 'x-hub-signature-256': await sign(SECRET, text), 'x-github-event': 'push', 'x-github-delivery': delivery };
}

const TEXT = '{"ref":"refs/heads/main"}';

test('a hook is made, read, listed, changed and deleted, and its secret is in no answer and no log line', async () => {
  logged.length = 0;
  const made = await api('POST', '/v1/hooks', { name: 'Pushes', provider: 'github', secret: 'first-s3cret', agent: 'echo' });
  const id = String(made.body['id']);
  const read = await api('GET', `/v1/hooks/${id}`);
  const listed = await api('GET', '/v1/hooks');
  const changed = await api('PATCH', `/v1/hooks/${id}`, { name: 'All pushes', secret: 'second-s3cret', priority: { push: 3 } });
  const refused = await api('PATCH', `/v1/hooks/${id}`, { provider: 'standard', secret: 'third-s3cret' });
  expect([made.status, read.status, listed.status, changed.status, refused.status]).toEqual([201, 200, 200, 200, 422]);
  expect(made.body).toMatchObject({
    id,
    path: `/hooks/${id}`,
    name: 'Pushes',
    provider: 'github',
    agent: 'echo',
    enabled: true,
    template: null,
  });
  expect(read.body).toEqual(made.body);
  expect(listed.body).toEqual({ items: [made.body], nextCursor: null });
  expect(changed.body).toMatchObject({ id, name: 'All pushes', priority: { push: 3 }, createdAt: made.body['createdAt'] });
  expect((await api('DELETE', `/v1/hooks/${id}`)).status).toBe(204);
  expect(await api('GET', `/v1/hooks/${id}`)).toMatchObject({ status: 404, body: { code: 'hook.not-found' } });
  expect((await api('DELETE', `/v1/hooks/${id}`)).status).toBe(404);
  expect(JSON.stringify([made, read, listed, changed, refused, logged])).not.toContain('-s3cret');
});

test('a name is one line without control characters, and an older one hinders no other change', async () => {
  const name = 'Pushes\nof others';
  const draft = { name, provider: 'github', secret: SECRET, agent: 'echo' };
  const id = await makeHook();
  const refused = [await api('POST', '/v1/hooks', draft), await api('PATCH', `/v1/hooks/${id}`, { name })];
  const expected = { path: 'body.name', message: 'expected one line of text without control characters' };
  for (const { status, body } of refused)
    expect({ status, body }).toMatchObject({ status: 422, body: { details: { problems: [expected] } } });
  const { hooks } = fleet.keys.tenant('default');
  const stored = JSON.parse((await fleet.redis.hget(hooks, id)) ?? '') as object;
  await fleet.redis.hset(hooks, id, JSON.stringify({ ...stored, name }));
  expect(await api('PATCH', `/v1/hooks/${id}`, { enabled: false })).toMatchObject({ status: 200, body: { name, enabled: false } });
  expect(await api('PATCH', `/v1/hooks/${id}`, { name: null })).toMatchObject({ status: 200, body: { name: null } });
});

test('of many changes at the same time none is lost', async () => {
  const id = await makeHook({ name: 'before' });
  const changes = [{ name: 'after' }, { enabled: false }, { priority: 9 }, { template: 'new {{event}}' }, { session: 's' }];
  const answers = await Promise.all(changes.map((change) => api('PATCH', `/v1/hooks/${id}`, change)));
  expect(answers.map(({ status }) => status)).toEqual(changes.map(() => 200));
  expect((await api('GET', `/v1/hooks/${id}`)).body).toMatchObject(Object.assign({}, ...changes) as object);
});

test('hooks are listed page by page', async () => {
  for (const name of ['a', 'b', 'c']) await makeHook({ name });
  const { body } = await api('GET', '/v1/hooks?limit=2');
  const rest = await api('GET', `/v1/hooks?limit=2&cursor=${String(body['nextCursor'])}`);
  const names = [body, rest.body].flatMap(({ items }) => (items as { name: string }[]).map(({ name }) => name));
  expect(names.toSorted()).toEqual(['a', 'b', 'c']);
  expect(rest.body['nextCursor']).toBeNull();
});

test('a key that may only read or submit sees hooks and changes none', async () => {
  const id = await makeHook();
  for (const scope of ['read', 'submit'] as const) {
    const key = await keyFor('default', [scope]);
    expect((await api('GET', `/v1/hooks/${id}`, undefined, key)).status).toBe(200);
    expect((await api('POST', '/v1/hooks', { provider: 'none', agent: 'echo' }, key)).status).toBe(403);
    expect((await api('PATCH', `/v1/hooks/${id}`, { enabled: false }, key)).status).toBe(403);
    expect((await api('DELETE', `/v1/hooks/${id}`, undefined, key)).status).toBe(403);
  }
  expect((await api('GET', '/v1/hooks', undefined, 'no-such-key')).status).toBe(401);
});

test('another tenant neither sees nor changes a hook, whose id it knows, nor lists it', async () => {
  const id = await makeHook();
  const rival = await keyFor('rival', ['admin']);
  expect(await api('GET', '/v1/hooks', undefined, rival)).toEqual({ status: 200, body: { items: [], nextCursor: null } });
  for (const method of ['GET', 'PATCH', 'DELETE']) {
    const { status, body } = await api(method, `/v1/hooks/${id}`, method === 'PATCH' ? { enabled: false } : undefined, rival);
    expect([method, status, body['code']]).toEqual([method, 404, 'hook.not-found']);
  }
  expect((await post(id, TEXT, await github(TEXT))).status).toBe(202);
});

test.each([
  ['an agent that is not there', { agent: 'ehco' }, 'agent.unknown'],
  ['a broken template', { template: '{{#payload}}' }, 'request.invalid'],
  ['no secret', { secret: null }, 'request.invalid'],
  ['a field nobody knows', { url: 'https://example.com' }, 'request.invalid'],
])('a hook with %s is refused when it is made and when it is changed', async (_, wrong, code) => {
  const draft = { provider: 'github', secret: SECRET, agent: 'echo' };
  expect(await api('POST', '/v1/hooks', { ...draft, ...wrong })).toMatchObject({ status: 422, body: { code } });
  const id = await makeHook();
  expect(await api('PATCH', `/v1/hooks/${id}`, wrong)).toMatchObject({ status: 422, body: { code } });
});

test('a signed delivery makes a task, and the same one again is answered with it', async () => {
  const id = await makeHook();
  const first = await post(id, TEXT, await github(TEXT));
  expect(first).toMatchObject({ status: 202, body: { id: expect.any(String), status: expect.any(String) } });
  const again = await post(id, TEXT, await github(TEXT));
  expect(again).toMatchObject({ status: 200, body: { id: first.body['id'] } });
});

test('a changed secret holds at once, and the former one too until its overlap ends or is ended', async () => {
  const id = await makeHook({ secret: 'old' });
  const sendOld = async (text: string, secret = 'old'): Promise<number> =>
    (await post(id, text, { ...(await github(text, text)), 'x-hub-signature-256': await sign(secret, text) })).status;
  const changed = await api('PATCH', `/v1/hooks/${id}`, { secret: SECRET });
  expect(Date.parse(String(changed.body['formerSecretUntil']))).toBeGreaterThan(Date.now());
  expect([await sendOld('{"n":1}'), await sendOld('{"n":2}', SECRET), await sendOld('{"n":3}', 'other')]).toEqual([202, 202, 401]);
  expect(await api('PATCH', `/v1/hooks/${id}`, { name: 'renamed' })).toMatchObject({ body: { formerSecretUntil: expect.any(String) } });
  expect(await sendOld('{"n":4}')).toBe(202);
  const ended = await api('PATCH', `/v1/hooks/${id}`, { keepFormerSecret: false });
  expect(ended.body['formerSecretUntil']).toBeNull();
  expect([await sendOld('{"n":5}'), await sendOld('{"n":6}', SECRET)]).toEqual([401, 202]);
  expect(JSON.stringify([changed, ended])).not.toContain('"old"');
});

test('of many changes of a secret in a row the one that senders know and the newest are valid', async () => {
  const id = await makeHook({ secret: 'first' });
  for (const secret of ['second', 'third', 'fourth']) await api('PATCH', `/v1/hooks/${id}`, { secret });
  const statuses: number[] = [];
  for (const [n, secret] of ['first', 'second', 'third', 'fourth'].entries()) {
    const text = `{"n":${n}}`;
    statuses.push((await post(id, text, { ...(await github(text, text)), 'x-hub-signature-256': await sign(secret, text) })).status);
  }
  expect(statuses).toEqual([202, 401, 202, 202]);
});

test('a hook moves to another provider only with a secret of its own', async () => {
  const id = await makeHook();
  expect((await api('PATCH', `/v1/hooks/${id}`, { provider: 'stripe' })).status).toBe(422);
  expect(await api('PATCH', `/v1/hooks/${id}`, { provider: 'none' })).toMatchObject({ status: 200, body: { provider: 'none' } });
  expect((await post(id, '{}')).status).toBe(202);
  expect((await api('PATCH', `/v1/hooks/${id}`, { provider: 'github' })).status).toBe(422);
});

test('a bad signature is answered 401 as a problem', async () => {
  const id = await makeHook();
  const answer = await post(id, TEXT.replace('main', 'evil'), await github(TEXT));
  expect(answer).toMatchObject({ status: 401, body: { code: 'auth.bad-signature', status: 401 } });
  expect(answer.type).toMatch(/^application\/problem\+json/);
});

test('unknown, impossible, deleted and disabled hooks, and those of a disabled tenant, answer the same 404', async () => {
  const disabled = await makeHook({ enabled: false });
  const deleted = await makeHook();
  await api('DELETE', `/v1/hooks/${deleted}`);
  const asleep = await makeHook();
  const answers = [];
  for (const id of [UNKNOWN, '__proto__', 'x'.repeat(5000), '%00', disabled, deleted])
    answers.push(await post(id, TEXT, await github(TEXT)));
  await fleet.tenants.save({ id: 'default', name: 'Default', disabled: true, limits: null, createdAt: 0 });
  answers.push(await post(asleep, TEXT, await github(TEXT)));
  const bodies = new Set(answers.map(({ status, body }) => JSON.stringify({ ...body, instance: null, status })));
  expect([...bodies]).toHaveLength(1);
  expect(answers[0]).toMatchObject({ status: 404, body: { code: 'hook.not-found' } });
});

test('a body over the bound is refused, whether it says its length or not', async () => {
  const id = await makeHook();
  const exact = `{"a":"${'x'.repeat(MAX_BODY_BYTES - 8)}"}`;
  expect((await post(id, exact, await github(exact))).status).toBe(202);
  const over = `${exact} `;
  expect(await post(id, over, await github(over))).toMatchObject({ status: 413, body: { code: 'request.too-large' } });
  const chunked = new Blob([over]).stream();
  expect(await post(id, chunked, await github(over))).toMatchObject({ status: 413, body: { code: 'request.too-large' } });
});

test('compressed bodies are refused, and empty ones and what is not JSON are malformed', async () => {
  const id = await makeHook();
  const zipped = await post(id, gzipSync(TEXT), { ...(await github(TEXT)), 'content-encoding': 'gzip' });
  expect(zipped).toMatchObject({ status: 415, body: { code: 'request.unsupported-media-type' } });
  expect(await post(id, '', { 'x-hub-signature-256': 'sha256=00' })).toMatchObject({ status: 400, body: { code: 'request.malformed' } });
  expect(await post(id, '<a/>', await github('<a/>'))).toMatchObject({ status: 400, body: { code: 'request.malformed' } });
});

test('whatever content type the sender names, the signature is over the bytes', async () => {
  const id = await makeHook();
  for (const [index, type] of ['application/json', 'text/plain', 'application/octet-stream', 'nonsense'].entries()) {
    const text = `${TEXT}${' '.repeat(index)}`;
    const headers = { ...(await github(text, `d-${index}`)), 'content-type': type };
    expect((await post(id, text, headers)).status).toBe(202);
  }
});

test('a signature that is sent twice on the wire is refused', async () => {
  const id = await makeHook();
  const right = await sign(SECRET, TEXT);
  const headers = { 'X-Hub-Signature-256': [`sha256=${'0'.repeat(64)}`, right], 'X-GitHub-Event': 'push', 'X-GitHub-Delivery': 'd-1' };
  const sent = httpRequest(`${base}/hooks/${id}`, { method: 'POST', headers });
  sent.end(TEXT);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.resume();
  expect(response.statusCode).toBe(401);
});

test("Slack's handshake without a signature is refused, and other methods make no task", async () => {
  const id = await makeHook({ provider: 'slack' });
  expect((await post(id, '{"type":"url_verification","challenge":"c"}')).status).toBe(401);
  expect((await fetch(`${base}/hooks/${id}`)).status).toBe(404);
});

test("over its tenant's rate a sender is told when to come back", async () => {
  const rate = { perMinute: 1, perHour: 1, burst: 1 };
  const limits = patchLimits(null, { rates: { webhook: rate } });
  await fleet.tenants.save({ id: 'default', name: 'Default', disabled: false, limits, createdAt: 0 });
  const id = await makeHook();
  expect((await post(id, TEXT, await github(TEXT, 'd-1'))).status).toBe(202);
  const response = await fetch(`${base}/hooks/${id}`, { method: 'POST', body: `${TEXT} `, headers: await github(`${TEXT} `, 'd-2') });
  expect([response.status, await response.json()]).toMatchObject([429, { code: 'limit.rate' }]);
  expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await post(id, TEXT, await github(TEXT, 'd-1'))).status).toBe(200);
});

type Deliveries = { items: Record<string, unknown>[]; nextCursor: string | null };

/** Deliveries are recorded beside the answer. */
const deliveriesOf = (id: string, count: number): Promise<Deliveries> =>
  waitFor(
    async () => {
      const { body } = await api('GET', `/v1/hooks/${id}/deliveries`);
      const page = body as unknown as Deliveries;
      return page.items.length === count ? page : null;
    },
    { deadlineMs: 10_000, what: `${count} deliveries to be recorded` },
  );

test('the newest deliveries of a hook are kept with their verdict, and what proves nothing pushes out nothing', async () => {
  const id = await makeHook();
  const { body: made } = await post(id, TEXT, await github(TEXT, 'd-1'));
  await deliveriesOf(id, 1);
  await post(id, TEXT, await github(TEXT, 'd-1'));
  await deliveriesOf(id, 2);
  await post(id, 'x'.repeat(MAX_BODY_BYTES + 1));
  await deliveriesOf(id, 3);
  for (let count = 0; count < 25; count += 1) await post(id, TEXT, { 'x-hub-signature-256': 'sha256=wrong' });
  const { items } = await deliveriesOf(id, 22);
  expect(items.filter(({ verdict }) => verdict === 'refused')).toHaveLength(20);
  expect(items.at(-1)).toMatchObject({
    verdict: 'accepted',
    event: 'push',
    delivery: 'd-1',
    taskId: made['id'],
    mayReplay: true,
    bytes: TEXT.length,
  });
  expect(items.at(-2)).toMatchObject({ verdict: 'repeated', taskId: made['id'] });
  expect(items[0]).toMatchObject({ verdict: 'refused', code: 'auth.bad-signature', event: null, taskId: null, mayReplay: false });
  const read = await api('GET', `/v1/hooks/${id}/deliveries/${String(items.at(-1)?.['id'])}`);
  expect(read.body['payload']).toBe(TEXT);
  const page = await api('GET', `/v1/hooks/${id}/deliveries?limit=21`);
  expect(page.body['nextCursor']).toBe(items[20]?.['id']);
  const rest = await api('GET', `/v1/hooks/${id}/deliveries?limit=21&cursor=${String(page.body['nextCursor'])}`);
  expect(rest.body).toMatchObject({ items: [{ id: items[21]?.['id'] }], nextCursor: null });

  const other = await keyFor('acme', ['operate']);
  expect(await api('GET', `/v1/hooks/${id}/deliveries`, undefined, other)).toMatchObject({
    status: 404,
    body: { code: 'hook.not-found' },
  });
  await api('DELETE', `/v1/hooks/${id}`);
  expect(await fleet.redis.exists(fleet.keys.tenant('default').hookDeliveries(id, 'accepted'))).toBe(0);
});

test('a delivery makes another task when it is replayed, unless its sender was not proved or its payload was cut', async () => {
  const id = await makeHook({ template: '{{event}} {{payload.ref}}' });
  const { body: first } = await post(id, TEXT, await github(TEXT, 'd-1'));
  const [accepted] = (await deliveriesOf(id, 1)).items;
  const replayed = await api('POST', `/v1/hooks/${id}/deliveries/${String(accepted?.['id'])}/replay`);
  expect(replayed).toMatchObject({ status: 202 });
  expect(replayed.body['id']).not.toBe(first['id']);
  const [replay] = (await deliveriesOf(id, 2)).items;
  expect(replay).toMatchObject({ verdict: 'accepted', origin: 'replay', event: 'push', taskId: replayed.body['id'] });
  await post(id, TEXT, { 'x-hub-signature-256': 'sha256=wrong' });
  const [refused] = (await deliveriesOf(id, 3)).items;
  const again = await api('POST', `/v1/hooks/${id}/deliveries/${String(refused?.['id'])}/replay`);
  expect(again).toMatchObject({ status: 409, body: { code: 'hook.not-replayable' } });
  const unknown = await api('POST', `/v1/hooks/${id}/deliveries/a-1-1/replay`);
  expect(unknown).toMatchObject({ status: 404, body: { code: 'hook.delivery-not-found' } });
  const reader = await keyFor('default', ['read']);
  expect((await api('POST', `/v1/hooks/${id}/deliveries/${String(accepted?.['id'])}/replay`, undefined, reader)).status).toBe(403);
});

const bodyOf = (order: string): string => `{"order_id":${order},"rows":[{"n":1e400},{"n":0.1}]}`;

test('numbers keep their digits: in input and session of a task, in the record of the delivery, and in its replay', async () => {
  const template = '{{payload.order_id}} {{#payload.rows}}{{n}};{{/payload.rows}}';
  const id = await makeHook({ provider: 'none', secret: null, template, session: 'order-{{payload.order_id}}' });
  const made: unknown[] = [];
  for (const order of ['7615917337495251231', '7615917337495251232']) {
    const { status, body } = await post(id, bodyOf(order));
    expect(status).toBe(202);
    const task = await readTask(fleet.ledger, 'default', String(body['id']));
    made.push([task?.body.input, task?.body.session]);
  }
  expect(made).toEqual(['1', '2'].map((end) => [`761591733749525123${end} 1e400;0.1;`, `order-761591733749525123${end}`]));
  const [newest] = (await deliveriesOf(id, 2)).items;
  const kept = await api('GET', `/v1/hooks/${id}/deliveries/${String(newest?.['id'])}`);
  expect(kept.body['payload']).toBe(bodyOf('7615917337495251232'));
  const replayed = await api('POST', `/v1/hooks/${id}/deliveries/${String(newest?.['id'])}/replay`);
  const again = await readTask(fleet.ledger, 'default', String(replayed.body['id']));
  expect([again?.body.input, again?.body.session]).toEqual(made[1]);
  const plain = await makeHook({ provider: 'none', secret: null });
  const { body } = await post(plain, bodyOf('7615917337495251231'));
  expect((await readTask(fleet.ledger, 'default', String(body['id'])))?.body.input).toContain(bodyOf('7615917337495251231'));
});

test('a test makes a task of an event without a proof, also while the hook is disabled', async () => {
  const id = await makeHook({ template: '{{event}} {{payload.number}}', enabled: false });
  const { status, body } = await api('POST', `/v1/hooks/${id}/test`, { event: 'pull_request.opened', payload: { number: 7 } });
  expect(status).toBe(202);
  const task = await readTask(fleet.ledger, 'default', String(body['id']));
  expect(task?.body).toMatchObject({ input: 'pull_request.opened 7', source: 'webhook', sourceId: id });
  expect((await deliveriesOf(id, 1)).items[0]).toMatchObject({ origin: 'test', verdict: 'accepted', taskId: body['id'] });
});

test('while Redis is away a sender is told so within 2 s', async () => {
  const id = await makeHook();
  await redis.kill();
  const startedAt = performance.now();
  expect(await post(id, TEXT, await github(TEXT))).toMatchObject({ status: 503, body: { code: 'unavailable.redis' } });
  expect(performance.now() - startedAt).toBeLessThan(2000);
  await redis.restart();
});

test('a hook with an event needs no agent, makes no task, and says how many runs it resumed', async () => {
  expect((await api('POST', '/v1/hooks', { provider: 'github', secret: SECRET })).body).toMatchObject({ code: 'request.invalid' });
  const { body: made } = await api('POST', '/v1/hooks', { provider: 'github', secret: SECRET, event: 'pushed' });
  const id = String(made['id']);
  expect(made).toMatchObject({ agent: null, event: 'pushed' });
  const sent = await post(id, TEXT, await github(TEXT));
  expect(sent).toMatchObject({ status: 202, body: { id: 'd-1', status: null, resumed: 0, identity: 'id' } });
  expect(await post(id, TEXT, await github(TEXT))).toMatchObject({ status: 200, body: { id: 'd-1', resumed: 0 } });
  const { value: kept } = await keptEvents(fleet.ledger, 'default', 'pushed').next();
  expect(kept).toMatchObject([{ data: { ref: 'refs/heads/main' }, shownId: 'd-1' }]);
  expect((await api('GET', `/v1/hooks/${id}/deliveries`)).body).toMatchObject({
    items: [
      { verdict: 'repeated', taskId: null },
      { verdict: 'accepted', taskId: null, reason: 'Sent as the event "pushed" to 0 runs' },
    ],
  });
  expect((await api('PATCH', `/v1/hooks/${id}`, { event: null })).status).toBe(422);
  expect((await api('PATCH', `/v1/hooks/${id}`, { event: null, agent: 'echo' })).body).toMatchObject({ agent: 'echo', event: null });
  expect((await post(id, TEXT, await github(TEXT, 'd-2'))).body).toMatchObject({ status: 'queued' });
});
