import { describe, expect, it } from 'vitest';
import { taskRequestSchema } from '#shared/tasks/task-request.ts';
import { createKey } from '#shared/tenants/key-store.ts';
import { acceptedViewSchema, taskViewSchema } from '../../../../services/api/tasks/task-view.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { driveTasks } from '../support/drive-tasks.ts';
import type { Api } from '../support/start-api.ts';
import { useApi } from '../support/use-api.ts';
import type { Reply } from '../../../support/call-api.ts';

const api = await useApi({
  http: { maxBodyBytes: 20_000, maxBulk: 250, maxWaitMs: 5000 },
  tasks: { maxInputBytes: 10_000 },
  limits: {
    tenants: {
      small: { running: 1, waiting: 1, runningByClass: {}, rates: {} },
      slow: { rates: { user: { perMinute: 1, perHour: 10, burst: 1 } } },
    },
  },
});

const task = { agent: 'echo', input: 'hello' };
const NOTHING_ASKED = Object.fromEntries(Object.keys(taskRequestSchema.shape).map((name) => [name, null]));
const submit = (body: unknown = task, options: Parameters<Api['call']>[2] = {}): Promise<Reply> =>
  api.call('POST', '/v1/tasks', { body, ...options });

const SOON = new Date(Date.now() + 60_000).toISOString();
const LATER = new Date(Date.now() + 120_000).toISOString();

describe('submitting a task', () => {
  it('answers 202 with its id, and the ticket reaches BullMQ', async () => {
    const { status, body, headers } = await submit();
    expect(status).toBe(202);
    expect(acceptedViewSchema.parse(body)).toEqual(body);
    expect(body).toMatchObject({ status: 'queued', position: 0, pressure: null });
    expect(headers.get('location')).toBe(`/v1/tasks/${body.id}`);
    const job = await waitFor(() => api.parts.queues.get(0, 'tasks').getJob(body.id), { deadlineMs: 3000, what: 'the ticket' });
    expect(job.data).toEqual({ tenant: 'default', task: body.id });
  });

  it('gives the same task for the same Idempotency-Key, and 409 when the body differs', async () => {
    const headers = { 'idempotency-key': 'order-17' };
    const first = await submit(task, { headers });
    const again = await submit({ input: 'hello', agent: 'echo' }, { headers });
    expect([first.status, again.status, again.body.id]).toEqual([202, 200, first.body.id]);
    const ordered = { 'idempotency-key': 'x'.repeat(255) };
    const context = await submit({ ...task, context: { a: 1, b: { c: 2, d: 3 } } }, { headers: ordered });
    const reordered = await submit({ context: { b: { d: 3, c: 2 }, a: 1 }, ...task, session: null }, { headers: ordered });
    expect([context.status, reordered.status, reordered.body.id]).toEqual([202, 200, context.body.id]);
    const other = await submit({ ...task, input: 'other' }, { headers });
    expect(other).toMatchObject({ status: 409, body: { code: 'task.idempotency-conflict', details: { id: first.body.id } } });
  });

  it('takes null for what may be left out, as it answers it', async () => {
    const { body: accepted } = await submit({ ...task, context: { kept: null } });
    const { body: record } = await api.call('GET', `/v1/tasks/${accepted.id}`);
    const asked = { ...NOTHING_ASKED, agent: record.agent, input: record.input, session: record.session, deadline: record.deadline };
    expect(await submit({ ...asked, requirements: { targetDaemon: null }, execution: { timeoutMs: null } })).toMatchObject({ status: 202 });
    const bulk = await api.call('POST', '/v1/tasks/bulk', { body: { items: [{ ...asked, idempotencyKey: null }] } });
    expect(bulk.body.items).toMatchObject([{ httpStatus: 202 }]);
    expect(record.context).toEqual({ kept: null });
    expect(await submit({ ...task, input: null })).toMatchObject({ status: 422 });
  });

  it('keeps the keys of tenants apart', async () => {
    const headers = { 'idempotency-key': 'shared' };
    const first = await submit(task, { headers });
    const foreign = await submit(task, { headers, key: await api.keyOf('other', ['submit']) });
    expect(foreign.status).toBe(202);
    expect(foreign.body.id).not.toBe(first.body.id);
  });

  it('waits for the end when asked to, and answers the record', async () => {
    const waiting = api.call('POST', '/v1/tasks?waitMs=5000', { body: { ...task, correlationId: 'waited' } });
    const found = await waitFor(async () => (await api.call('GET', '/v1/tasks?correlation=waited')).body.items[0], {
      deadlineMs: 3000,
      what: 'the task',
    });
    await driveTasks(api.parts).complete(found.id, 'done');
    const { status, body } = await waiting;
    expect(status).toBe(200);
    expect(taskViewSchema.parse(body)).toMatchObject({ id: found.id, status: 'completed', output: 'done', result: { list: [] } });
  });

  it('answers 202 when the task has not ended in time', async () => {
    expect(await api.call('POST', '/v1/tasks?waitMs=20', { body: task })).toMatchObject({ status: 202, body: { status: 'queued' } });
  });

  it('answers the status that the task has by then', async () => {
    const waiting = api.call('POST', '/v1/tasks?waitMs=4000', { body: { ...task, correlationId: 'still-running' } });
    const found = await waitFor(async () => (await api.call('GET', '/v1/tasks?correlation=still-running')).body.items[0], {
      deadlineMs: 3000,
      what: 'the task',
    });
    await driveTasks(api.parts).start(found.id);
    expect(await waiting).toMatchObject({
      status: 202,
      body: { id: found.id, status: 'running', position: 0, estimatedStartMs: 0 },
    });
  });

  it('answers 429 with Retry-After over a rate and over the waiting limit', async () => {
    const slow = await api.keyOf('slow', ['submit']);
    expect((await submit(task, { key: slow })).status).toBe(202);
    const rate = await submit(task, { key: slow });
    expect(rate).toMatchObject({ status: 429, body: { code: 'limit.rate' } });
    expect(Number(rate.headers.get('retry-after'))).toBeGreaterThan(50);

    const small = await api.keyOf('small', ['submit']);
    const statuses = [await submit(task, { key: small }), await submit(task, { key: small }), await submit(task, { key: small })];
    expect(statuses.map(({ status, body }) => [status, body.code ?? body.status])).toEqual([
      [202, 'queued'],
      [202, 'pending'],
      [429, 'limit.waiting'],
    ]);
    expect(Number(statuses[2]?.headers.get('retry-after'))).toBeGreaterThan(0);
  });
});

describe('a submission that is wrong', () => {
  const cases: [what: string, body: unknown, status: number, code: string][] = [
    ['not JSON', '{"agent": "echo", ', 400, 'request.malformed'],
    ['no object', '"text"', 400, 'request.malformed'],
    ['an array', [task], 422, 'request.invalid'],
    ['empty', '{}', 422, 'request.invalid'],
    ['of the wrong types', { agent: 1, input: ['a'], priority: 'urgent' }, 422, 'request.invalid'],
    ['with a field that does not exist', { ...task, tenant: 'other' }, 422, 'request.invalid'],
    ['with __proto__', '{"agent":"echo","input":"a","__proto__":{"tenant":"other"}}', 422, 'request.invalid'],
    ['with a null where something is needed', { ...task, agent: null }, 422, 'request.invalid'],
    ['for an agent that is not there', { ...task, agent: 'nobody' }, 422, 'agent.unknown'],
    ['for an agent named like a property of every object', { ...task, agent: 'constructor' }, 422, 'agent.unknown'],
    ['with a deadline that has passed', { ...task, deadline: '2020-01-01T00:00:00Z' }, 422, 'request.invalid'],
    ['that may only start after its deadline', { ...task, scheduledFor: LATER, deadline: SOON }, 422, 'request.invalid'],
    ['without a word in it', { ...task, input: ' \n' }, 422, 'request.invalid'],
    ['with a capability of two words', { ...task, requirements: { capabilities: ['a gpu'] } }, 422, 'request.invalid'],
    ['below a parent that is not there', { ...task, parentTaskId: '01ARZ3NDEKTSV4RRFFQ69G5FAV' }, 404, 'task.not-found'],
    ['larger than a body may be', { ...task, input: 'x'.repeat(25_000) }, 413, 'request.too-large'],
    ['larger than an input may be', { ...task, input: 'x'.repeat(11_000) }, 413, 'request.too-large'],
  ];
  it.each(cases)('%s is refused by its code', async (_what, body, status, code) => {
    const answer = await submit(body);
    expect([answer.status, answer.body.code]).toEqual([status, code]);
    expect(answer.headers.get('content-type')).toContain('application/problem+json');
  });

  it('names every problem with what was expected', async () => {
    const { body } = await submit({ agent: 1, input: 'a', execution: { maxAttempts: 0 } });
    expect(body.details.problems).toEqual([
      { path: 'body.agent', message: expect.stringContaining('expected string') },
      { path: 'body.execution.maxAttempts', message: expect.stringContaining('>=1') },
    ]);
  });

  it('with another content type is refused with 415, and without a body with 422', async () => {
    const form = await submit('agent=echo', { headers: { 'content-type': 'application/x-www-form-urlencoded' } });
    expect([form.status, form.body.code]).toEqual([415, 'request.unsupported-media-type']);
    expect((await api.call('POST', '/v1/tasks')).status).toBe(422);
  });

  it('with a query or a key that does not fit is refused', async () => {
    expect((await api.call('POST', '/v1/tasks?waitMs=999999', { body: task })).body.details.problems[0].path).toBe('query.waitMs');
    expect((await submit(task, { headers: { 'idempotency-key': 'two words' } })).status).toBe(422);
  });

  it('needs the scope submit', async () => {
    const answer = await submit(task, { key: await api.keyOf('default', ['read']) });
    expect(answer).toMatchObject({ status: 403, body: { code: 'auth.forbidden', details: { needed: 'submit', scopes: ['read'] } } });
  });

  it('keeps __proto__ inside a context as nothing but a name', async () => {
    const { status, body } = await submit('{"agent":"echo","input":"a","context":{"__proto__":{"polluted":true},"kept":1}}');
    expect(status).toBe(202);
    const { context } = (await api.call('GET', `/v1/tasks/${body.id}`)).body;
    expect(context.kept).toBe(1);
    expect(context.polluted).toBeUndefined();
  });
});

const bulk = (items: unknown[], options = {}): Promise<Reply> => api.call('POST', '/v1/tasks/bulk', { body: { items }, ...options });

const ids = (reply: Reply): string[] => reply.body.items.map((item: { id: string }) => item.id);

describe('submitting many', () => {
  it('answers each item on its own and in order', async () => {
    const { status, body } = await bulk([
      task,
      { ...task, agent: 'nobody' },
      { input: 1 },
      { ...task, idempotencyKey: 'b1' },
      { ...task, idempotencyKey: 'b1' },
    ]);
    expect(status).toBe(200);
    const outcomes = body.items.map((item: { httpStatus: number; problem: { code: string } | null }) => [
      item.httpStatus,
      item.problem?.code ?? null,
    ]);
    expect(outcomes.slice(0, 3)).toEqual([
      [202, null],
      [422, 'agent.unknown'],
      [422, 'request.invalid'],
    ]);
    expect(outcomes.slice(3).toSorted()).toEqual([
      [200, null],
      [202, null],
    ]);
    expect(body.items[3].id).toBe(body.items[4].id);
  });

  it('sent again under one Idempotency-Key makes nothing new', async () => {
    const headers = { 'idempotency-key': 'all-of-it' };
    const first = await bulk([task, task], { headers });
    const again = await bulk([task, task], { headers });
    expect(new Set(ids(first)).size).toBe(2);
    expect(ids(again)).toEqual(ids(first));
    expect(again.body.items[0].httpStatus).toBe(200);
  });

  it('takes a bare list too, and answers in the same form', async () => {
    const { status, body } = await api.call('POST', '/v1/tasks/bulk', { body: [task, { input: 1 }] });
    expect(status).toBe(200);
    expect(body.items[0]).toMatchObject({ httpStatus: 202, id: expect.any(String), status: 'queued', problem: null });
    expect(body.items[1]).toMatchObject({ httpStatus: 422, id: null, status: null, problem: { code: 'request.invalid' } });
  });

  it('refuses of many only the items with a number that would lose digits, and says where', async () => {
    const body = JSON.stringify([{ ...task, context: { list: [{ id: 'ID' }] } }, task, { ...task, metadata: { amount: 'AMOUNT' } }]);
    const sent = body.replace('"ID"', '7615917337495251231').replace('"AMOUNT"', '1e400');
    const headers = { authorization: `Bearer ${api.key}`, 'content-type': 'application/json' };
    const post = (text: string): Promise<Response> => fetch(`${api.url}/v1/tasks/bulk`, { method: 'POST', headers, body: text });
    expect((await post('7615917337495251231')).status).toBe(400);
    const answer = await post(sent);
    const { items } = (await answer.json()) as { items: { httpStatus: number; problem: { detail: string } | null }[] };
    expect(items.map(({ httpStatus, problem }) => [httpStatus, problem?.detail])).toEqual([
      [422, 'context.list[0].id: the number 7615917337495251231 would lose digits: send it as a text'],
      [202, undefined],
      [422, 'metadata.amount: the number 1e400 would lose digits: send it as a text'],
    ]);
  });

  it('refuses more items than allowed, and none', async () => {
    expect((await bulk(Array.from({ length: 251 }, () => task))).status).toBe(422);
    expect((await bulk([])).status).toBe(422);
  });

  it('brings the items of a session into its line in their order', async () => {
    const { body } = await bulk(
      Array.from({ length: 250 }, (_, at) => ({ ...task, session: 'line', ...(at % 7 === 3 && { mode: 'queue' }) })),
    );
    // The first holds the lane, and waits for a worker.
    expect(body.items.slice(1).map((item: { position: number }) => item.position)).toEqual([...body.items.keys()].slice(1));
  });
});

describe('a time of long ago', () => {
  it.each(['sla', 'scheduledFor'])('accepts each of two tasks with a time of long ago as its %s', async (field) => {
    for (const time of ['0000-01-01T00:00:00Z', '1970-01-01T00:00:00Z'])
      expect(await submit({ ...task, [field]: time })).toMatchObject({ status: 202, body: { status: 'queued' } });
  });
});

describe('a task that came with a key', () => {
  it('records which API key it came with, and takes the same Idempotency-Key with another', async () => {
    const headers = { 'idempotency-key': 'order-18' };
    const makeKey = (name: string): ReturnType<typeof createKey> => createKey(api.parts, { tenant: 'keyed', name, scopes: ['submit'] });
    const [{ id: keyId, secret: key }, other] = [await makeKey('one'), await makeKey('other')];
    const { body } = await submit(task, { headers, key });
    expect(await submit(task, { headers, key: other.secret })).toMatchObject({ status: 200, body: { id: body.id } });
    const many = await api.call('POST', '/v1/tasks/bulk', { body: { items: [task] }, key });
    const message = await api.call('POST', '/v1/sessions/keyed/messages', { body: { text: 'Hello', agent: 'echo' }, key });
    for (const id of [body.id, many.body.items[0].id, message.body.id])
      expect((await api.call('GET', `/v1/tasks/${id}`, { key })).body.keyId).toBe(keyId);
  });
});
