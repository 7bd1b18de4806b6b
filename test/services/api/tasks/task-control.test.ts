import { describe, expect, it } from 'vitest';
import { settleAttempt } from '#shared/ledger/settle/settle-attempt.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { timeText } from '#shared/time/clock.ts';
import { attemptViewSchema } from '../../../../services/api/tasks/attempt-view.ts';
import { taskViewSchema } from '../../../../services/api/tasks/task-view.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { driveTasks } from '../support/drive-tasks.ts';
import { useApi } from '../support/use-api.ts';
import type { Reply } from '../../../support/call-api.ts';

const api = await useApi({
  limits: { tenants: { capped: { running: 1, waiting: 10, runningByClass: { user: 1 }, runningLow: 1, rates: {} } } },
});
const drive = driveTasks(api.parts);

async function submit(more: Record<string, unknown> = {}, key = api.key): Promise<string> {
  const { status, body } = await api.call('POST', '/v1/tasks', { body: { agent: 'echo', input: 'hello', ...more }, key });
  expect(status).toBe(202);
  return body.id;
}

const get = (path: string, key = api.key): Promise<Reply> => api.call('GET', `/v1/tasks/${path}`, { key });
const post = (path: string, body?: unknown, key = api.key): Promise<Reply> =>
  api.call('POST', `/v1/tasks/${path}`, { key, ...(body === undefined ? {} : { body }) });

describe('reading a task', () => {
  it('gives its record, its attempts and every step', async () => {
    const id = await submit({ context: { a: [] }, session: 'reading', execution: { maxAttempts: 2 } });
    await drive.fail(id, 0);
    await drive.complete(id, 'done');
    const { progress, traceUrl, ...record } = (await get(id)).body;
    expect([progress, traceUrl]).toEqual([null, null]);
    expect(taskViewSchema.parse(record)).toMatchObject({
      status: 'completed',
      output: 'done',
      result: { list: [] },
      attempt: 2,
      outcome: { kind: 'ran' },
    });
    const attempts = (await get(`${id}/attempts`)).body.items;
    expect(attemptViewSchema.array().parse(attempts)).toMatchObject([
      { number: 1, status: 'failed', error: { code: 'NETWORK_ERROR' }, worker: 'worker-1' },
      { number: 2, status: 'success', error: null },
    ]);
    const steps = (await get(`${id}/timeline`)).body.items.map(({ status }: { status: string }) => status);
    expect(steps).toEqual(['pending', 'queued', 'scheduled', 'running', 'failed', 'queued', 'scheduled', 'running', 'completed']);
  });

  it('answers 404 for what is no task, cannot be one, and is another tenant’s, whatever is done to it', async () => {
    const foreign = await submit({}, await api.keyOf('other', ['submit']));
    for (const id of [foreign, '01ARZ3NDEKTSV4RRFFQ69G5FAV', '..%2F..%2Fetc', '__proto__', 'x'.repeat(300), '%00']) {
      for (const path of [id, `${id}/why`, `${id}/attempts`, `${id}/timeline`, `${id}/stream`]) {
        const { status, body } = await get(path);
        expect([path, status, body.code]).toEqual([path, 404, 'task.not-found']);
      }
      for (const [path, body] of [['cancel'], ['retry'], ['priority', { priority: 1 }]] as const) {
        const answer = await post(`${id}/${path}`, body);
        expect([path, answer.status, answer.body.code]).toEqual([path, 404, 'task.not-found']);
      }
    }
  });
});

describe('listing tasks', () => {
  it('finds by each filter, pages through all of them, and never another tenant’s', async () => {
    const key = await api.keyOf('lister', ['submit']);
    const call = (query: string): Promise<Reply> => api.call('GET', `/v1/tasks${query}`, { key });
    const ids: string[] = [];
    for (let index = 0; index < 5; index += 1)
      ids.push(await submit({ session: `s${index % 2}`, correlationId: `c${index}`, input: `Text ${index}`, priority: 5 }, key));
    const found = async (query: string): Promise<string[]> => (await call(query)).body.items.map(({ id }: { id: string }) => id);
    expect(await found('')).toEqual(ids.toReversed());
    expect(await found('?session=s1')).toEqual([ids[3], ids[1]]);
    expect(await found('?correlation=c2')).toEqual([ids[2]]);
    expect(await found('?q=tExT%203')).toEqual([ids[3]]);
    expect(await found('?agent=echo&source=api&limit=2')).toEqual([ids[4], ids[3]]);
    expect(await found('?agent=other')).toEqual([]);
    expect(await found('?status=pending')).toEqual([ids[4], ids[3], ids[2]]);
    expect(await found('?since=2100-01-01T00:00:00Z')).toEqual([]);
    expect(await found('?until=2001-01-01T00:00:00Z')).toEqual([]);

    const listed: string[] = [];
    let cursor = '';
    do {
      const page: Reply = await call(`?limit=2${cursor}`);
      listed.push(...page.body.items.map(({ id }: { id: string }) => id));
      cursor = page.body.nextCursor === null ? '' : `&cursor=${page.body.nextCursor}`;
    } while (cursor !== '');
    expect(listed).toEqual(ids.toReversed());
  });

  it.each(['stauts=queued', 'status=done', 'limit=0', 'limit=201', 'limit=a', 'cursor=x', 'since=yesterday', 'agent=UPPER', 'q='])(
    'refuses ?%s with what was expected',
    async (query) => {
      const { status, body } = await api.call('GET', `/v1/tasks?${query}`);
      expect([status, body.code]).toEqual([422, 'request.invalid']);
    },
  );
});

describe('a task that is not retried because of its deadline', () => {
  it('says so in its outcome and its timeline', async () => {
    const id = await submit({ deadline: new Date(Date.now() + 60_000).toISOString() });
    const error = { code: 'NETWORK_ERROR', message: 'cut', retryable: true };
    const reason = 'not tried again: the deadline is near';
    await settleAttempt(api.parts.ledger, await drive.start(id), { kind: 'failed', error, delayMs: null, usage: null, reason });
    expect((await get(id)).body).toMatchObject({
      status: 'permanently_failed',
      outcome: { kind: 'ran', reason },
      error: { code: 'NETWORK_ERROR' },
    });
    expect((await get(`${id}/timeline`)).body.items.at(-1)).toMatchObject({ status: 'permanently_failed', note: reason });
  });
});

describe('what a task tells its model', () => {
  it('is in its record', async () => {
    const { body } = await get(await submit({ system: 'Speak German.' }));
    expect(body).toMatchObject({ system: 'Speak German.', trigger: null });
  });
});

describe('filters of the list', () => {
  it('take several statuses, separated by commas or repeated', async () => {
    const key = await api.keyOf('filters', ['submit']);
    const own = driveTasks(api.parts, 'filters');
    const [waiting, done, failed] = [await submit({ session: 'x' }, key), await submit({}, key), await submit({}, key)];
    await own.complete(done, 'ok');
    await own.fail(failed, null);
    const found = async (query: string): Promise<string[]> =>
      (await api.call('GET', `/v1/tasks?${query}`, { key })).body.items.map(({ id }: { id: string }) => id);
    expect(await found('status=completed,permanently_failed')).toEqual([failed, done]);
    expect(await found('status=queued&status=completed')).toEqual([done, waiting]);
    expect(await found('status=queued,running,pending')).toEqual([waiting]);
    expect((await api.call('GET', '/v1/tasks?status=queued,done', { key })).status).toBe(422);
  });

  it('leave out skipped occurrences unless they are asked for', async () => {
    const tenant = 'skipping';
    const key = await api.keyOf(tenant, ['submit']);
    const ran = await submit({}, key);
    const skip = { reason: 'the run before has not ended' };
    const { id } = await acceptTask(api.parts, { tenant, agent: 'echo', input: 'x', source: 'schedule', scheduleId: 's', skip });
    const found = async (query: string): Promise<string[]> =>
      (await api.call('GET', `/v1/tasks${query}`, { key })).body.items.map((task: { id: string }) => task.id);
    expect(await found('')).toEqual([ran]);
    expect(await found('?schedule=s')).toEqual([]);
    expect(await found('?skipped=true')).toEqual([id, ran]);
    expect(await found('?status=skipped')).toEqual([id]);
  });
});

const remove = (id: string, key = api.key): Promise<Reply> => api.call('DELETE', `/v1/tasks/${id}`, { key });
const sendOnce = (): Promise<Reply> =>
  api.call('POST', '/v1/tasks', { body: { agent: 'echo', input: 'once' }, headers: { 'idempotency-key': 'removed' } });

describe('removing a task', () => {
  it('takes its record away once it has ended, and not before', async () => {
    const id = await submit({ session: 'removed' });
    expect(await remove(id)).toMatchObject({ status: 409, body: { code: 'task.wrong-state' } });
    await drive.complete(id, 'done');
    expect((await remove(id)).status).toBe(204);
    for (const path of ['', '/attempts', '/timeline']) expect((await get(`${id}${path}`)).status).toBe(404);
    expect((await api.call('GET', '/v1/tasks?session=removed')).body.items).toEqual([]);
    expect((await remove(id)).status).toBe(404);
  });

  it('needs a key that may operate, and is for the own tenant', async () => {
    const id = await submit();
    await drive.complete(id, 'done');
    expect((await remove(id, await api.keyOf('default', ['submit']))).status).toBe(403);
    expect((await remove(id, await api.keyOf('other', ['operate']))).status).toBe(404);
    expect((await get(id)).status).toBe(200);
  });

  it('leaves its Idempotency-Key behind, under which no second task is made', async () => {
    const { id } = (await sendOnce()).body;
    await drive.complete(id, 'done');
    expect((await sendOnce()).body).toMatchObject({ id, status: 'completed' });
    await remove(id);
    expect(await sendOnce()).toMatchObject({ status: 200, body: { id, status: null } });
  });
});

const why = async (id: string, key = api.key): Promise<Reply['body']> => (await get(`${id}/why`, key)).body;

describe('why a task waits', () => {
  it('names the task in front of it in its session', async () => {
    const [first, second, third] = [
      await submit({ session: 'lane' }),
      await submit({ session: 'lane' }),
      await submit({ session: 'lane' }),
    ];
    expect(await why(second)).toMatchObject({
      status: 'pending',
      reasons: [{ gate: 'lane', taskId: first, since: expect.any(String), until: null }],
    });
    const behind = await why(third);
    expect(behind.reasons).toMatchObject([{ gate: 'lane', taskId: second }]);
    expect(behind.reasons[0].detail).toBe(`behind task ${second} in session "lane", 2 before it`);
  });

  it('names the full caps of its tenant with their figures', async () => {
    const key = await api.keyOf('capped', ['submit']);
    await submit({}, key);
    const parked = await submit({}, key);
    expect((await why(parked, key)).reasons.map(({ gate, detail }: { gate: string; detail: string }) => [gate, detail])).toEqual([
      ['cap', 'tenant cap 1/1'],
      ['cap', "tenant's user cap 1/1"],
    ]);
  });

  it('names the time before which it may not start', async () => {
    const at = new Date(Date.now() + 3_600_000).toISOString();
    const reply = await why(await submit({ scheduledFor: at }));
    expect(reply.reasons).toMatchObject([{ gate: 'time', detail: `not before ${timeText(Date.parse(at))}`, until: at }]);
    expect(reply.estimatedStartMs).toBeGreaterThan(3_500_000);
  });

  it('names the failure after which it is retried, and the provider that cools down', async () => {
    const [failed, throttled] = [await submit(), await submit()];
    await drive.fail(failed, 60_000);
    await drive.throttle(throttled, 60_000);
    expect((await why(failed)).reasons).toMatchObject([
      { gate: 'retry', detail: expect.stringContaining('NETWORK_ERROR'), until: expect.any(String) },
    ]);
    expect((await why(throttled)).reasons).toMatchObject([
      { gate: 'provider', detail: expect.stringContaining('provider cooldown until') },
    ]);
  });

  it('says that nobody serves its queue, or that the queue is paused', async () => {
    const id = await submit({ source: 'proactive' });
    expect((await why(id)).reasons).toMatchObject([{ gate: 'worker', detail: 'no worker serves the queue "tasks"' }]);
    await api.call('POST', '/v1/queues/tasks/pause');
    expect((await why(id)).reasons).toMatchObject([{ gate: 'paused', detail: 'queue "tasks" is paused' }]);
    await api.call('POST', '/v1/queues/tasks/resume');
  });

  it('has no reasons once it runs or has ended', async () => {
    const id = await submit();
    const attempt = await drive.start(id);
    expect(await why(id)).toEqual({ status: 'running', reasons: [], gates: [], estimatedStartMs: null, interruptions: 0 });
    await drive.end(attempt, 'done');
    expect(await why(id)).toEqual({ status: 'completed', reasons: [], gates: [], estimatedStartMs: null, interruptions: 0 });
  });
});

const status = async (id: string): Promise<string> => (await get(id)).body.status;

describe('cancelling', () => {
  it('ends at once what does not run, and the same again changes nothing', async () => {
    const id = await submit();
    expect(await post(`${id}/cancel`, { reason: 'not needed' })).toMatchObject({
      status: 200,
      body: { id, status: 'cancelled', stopping: false },
    });
    expect((await get(id)).body).toMatchObject({ status: 'cancelled', outcome: { kind: 'cancelled', reason: 'not needed' } });
    expect((await post(`${id}/cancel`)).status).toBe(200);
  });

  it('tells the worker of what runs, and answers 202', async () => {
    const id = await submit();
    await drive.start(id);
    expect(await post(`${id}/cancel`)).toMatchObject({ status: 202, body: { id, status: 'running', stopping: true } });
  });

  it('reaches everything that the task delegated, and nothing else', async () => {
    const root = await submit();
    await drive.start(root);
    const child = await submit({ parentTaskId: root });
    const grandchild = await submit({ parentTaskId: child });
    const ended = await submit({ parentTaskId: child });
    await drive.complete(ended, 'done');
    const other = await submit();
    expect((await post(`${root}/cancel`)).body).toMatchObject({ stopping: true, subTasks: 2 });
    expect([await status(child), await status(grandchild), await status(ended), await status(other)]).toEqual([
      'cancelled',
      'cancelled',
      'completed',
      'queued',
    ]);
  });

  it('is refused with 409 for what has ended by itself, and leaves what it delegated alone', async () => {
    const id = await submit();
    const child = await submit({ parentTaskId: id });
    await drive.complete(id, 'done');
    expect((await post(`${id}/cancel`)).body).toMatchObject({ status: 409, code: 'task.wrong-state', details: { status: 'completed' } });
    expect((await get(child)).body.status).toBe('queued');
  });

  it('lets the next of the session through', async () => {
    const [first, second] = [await submit({ session: 'next' }), await submit({ session: 'next' })];
    await post(`${first}/cancel`);
    expect((await get(second)).body.status).toBe('queued');
    await waitFor(() => api.parts.queues.get(0, 'tasks').getJob(second), { deadlineMs: 3000, what: 'the ticket of the next' });
  });
});

describe('retrying', () => {
  it('retries a permanently failed task, with a new ticket', async () => {
    const id = await submit();
    await drive.fail(id, null);
    expect((await get(id)).body.status).toBe('permanently_failed');
    expect(await post(`${id}/retry`)).toMatchObject({ status: 202, body: { id, status: 'queued' } });
    await waitFor(() => api.parts.queues.get(0, 'tasks').getJob(`${id}.2`), { deadlineMs: 3000, what: 'the second ticket' });
    await drive.complete(id, 'done at last');
    expect((await get(id)).body).toMatchObject({ status: 'completed', output: 'done at last', error: null });
  });

  it('is refused with 409 for everything else', async () => {
    const id = await submit();
    expect((await post(`${id}/retry`)).body).toMatchObject({ status: 409, code: 'task.wrong-state', details: { status: 'queued' } });
  });
});

describe('changing the priority', () => {
  it('moves the ticket to its new place and queue', async () => {
    const id = await submit({ priority: 8 });
    const queue = api.parts.queues.get(0, 'tasks');
    await waitFor(() => queue.getJob(id), { deadlineMs: 3000, what: 'the first ticket' });
    expect(await post(`${id}/priority`, { priority: 'low' })).toMatchObject({
      status: 200,
      body: { id, status: 'queued', priority: 1, queue: 'background' },
    });
    const moved = await waitFor(() => api.parts.queues.get(0, 'background').getJob(`${id}.2`), {
      deadlineMs: 3000,
      what: 'the new ticket',
    });
    expect(moved.opts.priority).toBe(10);
    expect(await queue.getJob(id)).toBeUndefined();
    await drive.complete(id, 'done');
  });

  it('keeps a parked task parked', async () => {
    await submit({ session: 'parked' });
    const id = await submit({ session: 'parked' });
    expect((await post(`${id}/priority`, { priority: 10 })).body).toMatchObject({ status: 'pending', priority: 10, queue: 'tasks' });
  });

  it('is refused with 409 for what runs or has ended, and with 422 for what is no priority', async () => {
    const id = await submit();
    const attempt = await drive.start(id);
    expect((await post(`${id}/priority`, { priority: 1 })).body).toMatchObject({ status: 409, details: { status: 'running' } });
    await drive.end(attempt, '');
    expect((await post(`${id}/priority`, { priority: 1 })).body).toMatchObject({ status: 409, details: { status: 'completed' } });
    expect((await post(`${id}/priority`, { priority: 11 })).status).toBe(422);
  });
});

describe('a task in a backoff', () => {
  it('says when it starts again, and starts now on request without spending an attempt', async () => {
    const id = await submit({ execution: { maxAttempts: 2 } });
    await drive.fail(id, 600_000);
    const { body } = await get(id);
    expect(body).toMatchObject({ status: 'failed', attempt: 1 });
    expect(Date.parse(body.retryAt) - Date.now()).toBeGreaterThan(590_000);
    expect((await get(`${id}/why`)).body.reasons).toMatchObject([{ gate: 'retry', until: body.retryAt }]);
    expect(await post(`${id}/retry`)).toMatchObject({ status: 202, body: { id, status: 'queued' } });
    expect((await get(id)).body).toMatchObject({ status: 'queued', attempt: 1, retryAt: null });
    await drive.complete(id, 'done');
    expect((await get(id)).body).toMatchObject({ status: 'completed', attempt: 2 });
  });

  it('that was not tried yet is not started before its time', async () => {
    const id = await submit({ scheduledFor: new Date(Date.now() + 600_000).toISOString() });
    expect((await get(id)).body).toMatchObject({ status: 'pending', retryAt: null });
    expect(await post(`${id}/retry`)).toMatchObject({ status: 409, body: { code: 'task.wrong-state' } });
  });
});
