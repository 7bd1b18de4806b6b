import { expect, test } from 'vitest';
import { createHmac } from 'node:crypto';
import { sign } from '@octokit/webhooks-methods';
import { Webhook } from 'standardwebhooks';
import { hasCode } from '#shared/errors/error-codes.ts';
import { cancelTask } from '#shared/ledger/change-task.ts';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { systemClock } from '#shared/time/clock.ts';
import { answerWebhook, type AnswerWebhookParts, type WebhookAnswer } from '../../../services/webhooks/answer-webhook.ts';
import { hookDraftSchema, type Hook } from '../../../services/webhooks/hook.ts';
import { useEmptyParts } from '../../support/use-parts.ts';
import { storedState } from '../../shared/ledger/support/stored-states.ts';

const SECRET = 's3cret';
const ID = '01ARZ3NDEKTSV4RRFFQ69G5FAV';

const fleet = await useEmptyParts();
const parts: AnswerWebhookParts = {
  clock: systemClock,
  bounds: { maxDepth: 128, maxValues: 250_000 },
  rendering: { maxBytes: 1000, maxSteps: 100_000 },
  redis: fleet.redis,
  keys: fleet.keys,
  idempotencyMs: 60_000,
  repeatMs: 60_000,
  record: () => undefined,
  store: { change: () => Promise.reject(new Error('no handshake')) },
  confirm: () => Promise.reject(new Error('no handshake')),
  accept: (request) => acceptTask(fleet, request),
  send: () => Promise.reject(new Error('no event')),
};

function hook(draft: Record<string, unknown> = {}): Hook {
  const parsed = hookDraftSchema.parse({ provider: 'github', secret: SECRET, agent: 'echo', ...draft });
  return {
    ...parsed,
    formerSecrets: [],
    id: ID,
    tenant: 'default',
    createdAt: '2026-01-01T00:00:00.000Z',
    updatedAt: '2026-01-01T00:00:00.000Z',
  };
}

async function github(body: string, delivery: string | undefined, event = 'pull_request') {
  const headers = { 'x-hub-signature-256': await sign(SECRET, body), 'x-github-event': event, 'x-github-delivery': delivery };
  return { rawBody: Buffer.from(body), headers };
}

function idOf(answer: WebhookAnswer): string {
  if (answer.kind !== 'handshake') return answer.body.id;
  throw new Error('expected a task');
}

const hex = (content: string): string => createHmac('sha256', SECRET).update(content).digest('hex');

const BODY = '{"action":"opened","pull_request":{"number":7,"title":"<Fix>"}}';

test('a new delivery is answered 202 with the task that the hook describes', async () => {
  const described = hook({
    template: 'Review #{{payload.pull_request.number}} {{payload.pull_request.title}}',
    session: 'pr-{{payload.pull_request.number}}',
    priority: { 'pull_request.opened': 7 },
  });
  const answer = await answerWebhook(parts, described, await github(BODY, 'd-1'));
  expect(answer).toMatchObject({ status: 202, body: { id: expect.any(String), status: expect.any(String) } });
  const task = await readTask(fleet.ledger, 'default', idOf(answer));
  expect(task?.body).toMatchObject({
    agent: 'echo',
    source: 'webhook',
    sourceId: ID,
    trigger: 'hook',
    session: 'pr-7',
    input: 'Review #7 <Fix>',
    context: { hook: ID, provider: 'github', event: 'pull_request', event_type: 'pull_request.opened', delivery: 'd-1' },
  });
  expect(task?.state).toMatchObject({ priority: 7, queue: 'webhooks' });
});

test('a delivery that comes again is answered 200 with the same task, also when its bytes differ', async () => {
  const first = await answerWebhook(parts, hook(), await github(BODY, 'd-1'));
  const again = await answerWebhook(parts, hook(), await github(BODY, 'd-1'));
  const rewritten = await answerWebhook(parts, hook(), await github(`${BODY}\n`, 'd-1'));
  expect([first.status, again.status, rewritten.status]).toEqual([202, 200, 200]);
  expect([idOf(again), idOf(rewritten)]).toEqual([idOf(first), idOf(first)]);
  const other = await answerWebhook(parts, hook(), await github(`${BODY} `, 'd-2'));
  expect(other.status).toBe(202);
  expect(idOf(other)).not.toBe(idOf(first));
});

test('a signed body that comes again under another delivery id is the same task, as the id is not signed', async () => {
  const body = '{"action":"opened","pull_request":{"number":8}}';
  const first = await answerWebhook(parts, hook(), await github(body, 'd-1'));
  const replayed = await answerWebhook(parts, hook(), await github(body, 'd-2'));
  expect([first.status, replayed.status, idOf(replayed)]).toEqual([202, 200, idOf(first)]);
});

test('equal bodies are each an event of their own for a hook that says so', async () => {
  const each = hook({ options: { equalBodies: 'each' } });
  const answers = [
    await answerWebhook(parts, each, await github(BODY, 'd-1')),
    await answerWebhook(parts, each, await github(BODY, 'd-2')),
  ];
  expect(answers.map(({ status }) => status)).toEqual([202, 202]);
});

test('a delivery that comes again after its hook was changed is still the same task', async () => {
  const first = await answerWebhook(parts, hook(), await github(BODY, 'd-1'));
  const again = await answerWebhook(parts, hook({ template: 'other', priority: 1, session: 'other' }), await github(BODY, 'd-1'));
  expect(again).toMatchObject({ status: 200, body: { id: idOf(first) } });
});

test('ten of the same delivery at once make one task', async () => {
  const request = await github(BODY, 'd-1');
  const answers = await Promise.all(Array.from({ length: 10 }, () => answerWebhook(parts, hook(), request)));
  expect(answers.filter(({ status }) => status === 202)).toHaveLength(1);
  expect(new Set(answers.map(idOf)).size).toBe(1);
});

test('without a delivery id the same bytes are the same delivery of this hook, and of no other', async () => {
  const open = hook({ provider: 'none', secret: null });
  const request = { rawBody: Buffer.from('{"event":"ping"}'), headers: {} };
  const first = await answerWebhook(parts, open, request);
  const again = await answerWebhook(parts, open, request);
  const changed = await answerWebhook(parts, open, { ...request, rawBody: Buffer.from('{"event":"pong"}') });
  const elsewhere = await answerWebhook(parts, { ...open, id: ID.replace('V', 'W') }, request);
  expect([first, again, changed, elsewhere].map(({ status }) => status)).toEqual([202, 200, 202, 202]);
  expect(idOf(again)).toBe(idOf(first));
});

/** Forgets what was signed, as Redis does when its time is over. */
async function untilForgotten(maxMs: number): Promise<void> {
  const keys = await fleet.redis.keys('*hook-body*');
  const left = await Promise.all(keys.map((key) => fleet.redis.pttl(key)));
  expect(left.every((ms) => ms > 0 && ms <= maxMs)).toBe(true);
  await fleet.redis.del(...keys);
}

const plain = (body: string, headers = {}) => ({ rawBody: Buffer.from(body), headers });
const token = { 'x-gitlab-token': SECRET, 'x-gitlab-event': 'Push Hook' };

test.each([
  ['none', { provider: 'none', secret: null }, () => plain('{}')],
  ['hmac', { provider: 'hmac', options: { header: 'X-S' } }, () => plain('{}', { 'x-s': hex('{}') })],
  ['slack', { provider: 'slack' }, () => slack('{"type":"view_closed"}')],
  ['gitlab before 17.4', { provider: 'gitlab' }, () => plain('{}', token)],
  ['github', { provider: 'github' }, () => github('{}', undefined)],
])('a delivery of %s without an id is a repeat for minutes, and then another one', async (_name, draft, make) => {
  const of = hook(draft);
  const request = await make();
  const first = await answerWebhook(parts, of, request);
  const again = await answerWebhook(parts, of, request);
  expect([first, again]).toMatchObject([
    { status: 202, body: { identity: 'signed' } },
    { status: 200, body: { id: idOf(first), identity: 'signed', reason: expect.stringContaining('within 1 min (webhooks.repeatMs)') } },
  ]);
  await untilForgotten(parts.repeatMs);
  const later = await answerWebhook(parts, of, request);
  expect([later.status, idOf(later) === idOf(first)]).toEqual([202, false]);
});

test.each([
  ['none', { provider: 'none', secret: null, options: { equalBodies: 'each' } }, () => plain('{}')],
  ['hmac', { provider: 'hmac', options: { header: 'X-S', equalBodies: 'each' } }, () => plain('{}', { 'x-s': hex('{}') })],
  ['slack', { provider: 'slack', options: { equalBodies: 'each' } }, () => slack('{"type":"view_closed"}')],
  ['gitlab', { provider: 'gitlab', options: { equalBodies: 'each' } }, () => plain('{}', token)],
])('each delivery of %s without an id is one for a hook that says so', async (_name, draft, make) => {
  const request = make();
  const answers = [await answerWebhook(parts, hook(draft), request), await answerWebhook(parts, hook(draft), request)];
  expect(answers).toMatchObject([1, 2].map(() => ({ status: 202, body: { identity: 'none' } })));
  expect(new Set(answers.map(idOf)).size).toBe(2);
});

test.each([
  ['without an id', {}, undefined],
  ['under an id that is not signed', { deliveryHeader: 'X-Id' }, 'd-'],
])('equal bodies %s with another signed time are two deliveries', async (_what, options, prefix) => {
  const of = hook({ provider: 'hmac', options: { header: 'X-S', timestampHeader: 'X-T', ...options } });
  const now = Math.floor(Date.now() / 1000);
  const send = async (time: number, n: number): Promise<WebhookAnswer> =>
    await answerWebhook(
      parts,
      of,
      plain('{}', { 'x-s': hex(`${time}.{}`), 'x-t': String(time), ...(prefix && { 'x-id': `${prefix}${n}` }) }),
    );
  expect([(await send(now, 1)).status, (await send(now - 1, 2)).status, (await send(now, 3)).status]).toEqual([202, 202, 200]);
});

test('why a delivery was taken for a repeat is in its record and in the answer', async () => {
  const kept: unknown[] = [];
  const keeping: AnswerWebhookParts = { ...parts, record: (_hook, delivery) => void kept.push(delivery) };
  await answerWebhook(keeping, hook(), await github(BODY, 'd-1'));
  const byId = await answerWebhook(keeping, hook(), await github(BODY, 'd-1'));
  const byBody = await answerWebhook(keeping, hook(), await github(BODY, 'd-2'));
  expect([byId, byBody]).toMatchObject([
    { body: { identity: 'id', reason: 'A repeat: its id "d-1" came before, within 1 min' } },
    { body: { identity: 'signed', reason: 'A repeat: what was signed came before under the id "d-1", and ids are not signed' } },
  ]);
  expect(kept).toMatchObject([
    { verdict: 'accepted', identity: 'id', reason: null },
    { verdict: 'repeated', identity: 'id', reason: expect.stringContaining('its id "d-1"') },
    { verdict: 'repeated', identity: 'signed', reason: expect.stringContaining('under the id "d-1"') },
  ]);
});

async function end(id: string, status: string): Promise<void> {
  const { states } = fleet.keys.tenant('default');
  const state = (await readTask(fleet.ledger, 'default', id))?.state;
  await fleet.redis.hset(states, id, storedState({ ...state, status }));
}

test.each(['permanently_failed', 'cancelled', 'stale'])(
  'a delivery whose task ended as %s runs again when it comes again, once',
  async (status) => {
    const first = await answerWebhook(parts, hook(), await github(BODY, 'd-1'));
    if (status === 'cancelled') await cancelTask(fleet.ledger, { tenant: 'default', id: idOf(first), lane: null }, 'no');
    else await end(idOf(first), status);
    const requests = await Promise.all(['d-1', 'd-1', 'd-9', 'd-1'].map((id) => github(BODY, id)));
    const again = await Promise.all(requests.map((request) => answerWebhook(parts, hook(), request)));
    expect(again.filter((answer) => answer.status === 202)).toMatchObject([
      { body: { reason: `It runs again: its task ${idOf(first)} ended as ${status}` } },
    ]);
    expect(new Set(again.map(idOf)).size).toBe(1);
    expect(again.map(idOf)).not.toContain(idOf(first));
    await end(idOf(again[0] ?? first), 'permanently_failed');
    const third = await answerWebhook(parts, hook(), await github(BODY, 'd-1'));
    expect([third.status, [idOf(first), ...again.map(idOf)].includes(idOf(third))]).toEqual([202, false]);
  },
);

test.each(['running', 'completed', 'failed', 'skipped'])('a delivery whose task is %s stays one', async (status) => {
  const first = await answerWebhook(parts, hook(), await github(BODY, 'd-1'));
  await end(idOf(first), status);
  expect(await answerWebhook(parts, hook(), await github(BODY, 'd-1'))).toMatchObject({ status: 200, body: { id: idOf(first), status } });
});

test('the same delivery id at two tenants makes two tasks, each of its own tenant', async () => {
  const ours = await answerWebhook(parts, hook(), await github(BODY, 'd-1'));
  const theirs = await answerWebhook(parts, { ...hook(), tenant: 'rival' }, await github(BODY, 'd-1'));
  expect(theirs.status).toBe(202);
  expect(await readTask(fleet.ledger, 'rival', idOf(ours))).toBeNull();
});

test('the same delivery id at two hooks makes two tasks, each of its own hook', async () => {
  const first = await answerWebhook(parts, hook(), await github(BODY, 'd-1'));
  const second = await answerWebhook(parts, { ...hook(), id: ID.replace('V', 'W') }, await github(BODY, 'd-1'));
  expect(second.status).toBe(202);
  expect(idOf(second)).not.toBe(idOf(first));
});

test('equal bodies under different ids are each an event of their own where the id is signed', async () => {
  const secret = `whsec_${Buffer.from(SECRET.repeat(4)).toString('base64')}`;
  const send = async (id: string): Promise<WebhookAnswer> => {
    const now = new Date();
    const time = String(Math.floor(now.getTime() / 1000));
    const signature = new Webhook(secret).sign(id, now, BODY);
    const headers = { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signature };
    return await answerWebhook(parts, hook({ provider: 'standard', secret }), { rawBody: Buffer.from(BODY), headers });
  };
  expect([(await send('msg_1')).status, (await send('msg_2')).status, (await send('msg_1')).status]).toEqual([202, 202, 200]);
});

test.each([
  ['security_advisory', 10, 'critical'],
  ['payment_intent.succeeded', 8, 'webhooks'],
  ['push', 5, 'webhooks'],
])('without rules the event %s makes a task of priority %i in %s', async (event, priority, queue) => {
  const answer = await answerWebhook(parts, hook(), await github('{}', 'd-1', event));
  expect((await readTask(fleet.ledger, 'default', idOf(answer)))?.state).toMatchObject({ priority, queue });
});

test('a payload that is larger than an input may be still makes its task, cut', async () => {
  const answer = await answerWebhook(parts, hook(), await github(JSON.stringify({ text: 'x'.repeat(5000) }), 'd-1'));
  const task = await readTask(fleet.ledger, 'default', idOf(answer));
  expect(task?.body.input).toMatch(/^Event pull_request \(delivery d-1\):\n\{"text":"x+\n\[cut: more than 1000 bytes\]$/);
});

test('a bad signature makes no task, and the right one afterwards does', async () => {
  const request = await github(BODY, 'd-1');
  const forged = { ...request, rawBody: Buffer.from(BODY.replace('7', '8')) };
  await expect(answerWebhook(parts, hook(), forged)).rejects.toMatchObject({ code: 'auth.bad-signature' });
  expect(await fleet.redis.keys('*idempotency*')).toEqual([]);
  expect(await answerWebhook(parts, hook(), request)).toMatchObject({ status: 202 });
});

function slack(body: string) {
  const rawBody = Buffer.from(body);
  const time = String(Math.floor(Date.now() / 1000));
  const signature = `v0=${createHmac('sha256', SECRET).update(`v0:${time}:`).update(rawBody).digest('hex')}`;
  return { rawBody, headers: { 'x-slack-request-timestamp': time, 'x-slack-signature': signature } };
}

test("Slack's secret in a body is not kept with its delivery", async () => {
  const kept: string[] = [];
  const keeping: AnswerWebhookParts = { ...parts, record: (_hook, delivery) => void kept.push(JSON.stringify(delivery)) };
  const body = '{"token":"the-secret","type":"event_callback","event_id":"Ev1","event":{"type":"message"}}';
  await answerWebhook(keeping, hook({ provider: 'slack' }), slack(body));
  expect(kept).toEqual([expect.stringContaining('event_callback')]);
  expect(kept[0]).not.toContain('the-secret');
});

test("Slack's handshake is answered with its challenge and makes no task", async () => {
  const asked = slack('{"type":"url_verification","challenge":"c-1"}');
  expect(await answerWebhook(parts, hook({ provider: 'slack' }), asked)).toEqual({
    kind: 'handshake',
    status: 200,
    json: { challenge: 'c-1' },
  });
  expect(await fleet.redis.keys('*task:*')).toEqual([]);
});

test('an agent that is gone is named to the sender', async () => {
  const answer = answerWebhook(parts, hook({ agent: 'gone' }), await github(BODY, 'd-1'));
  await expect(answer).rejects.toSatisfy((error) => hasCode(error, 'agent.unknown'));
});
