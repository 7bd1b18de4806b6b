import { describe, expect, it } from 'vitest';
import { runActions } from '#shared/actions/run-actions.ts';
import { systemClock } from '#shared/time/clock.ts';
import { driveTasks } from '../support/drive-tasks.ts';
import { useApi } from '../support/use-api.ts';
import type { CallOptions, Reply } from '../../../support/call-api.ts';

const MAX_READ = 1000;
const api = await useApi({ actions: { maxActive: 2, maxRead: MAX_READ, maxIds: 3 } });
const PATH = '/v1/tasks/actions';

const run = async (): Promise<void> => await runActions(api.parts, systemClock, 10_000);

interface Tenant {
  call: (method: string, path: string, options?: CallOptions) => Promise<Reply>;
  act: (body: object, headers?: Record<string, string>) => Promise<Reply>;
  fail: (request?: object) => Promise<string>;
  statusOf: (id: string) => Promise<string | number>;
}

/** A tenant of its own for each test. */
async function useTenant(name: string, scope: 'submit' | 'operate' = 'submit'): Promise<Tenant> {
  const key = await api.keyOf(name, [scope]);
  const drive = driveTasks(api.parts, name);
  const call: Tenant['call'] = (method, path, options = {}) => api.call(method, path, { key, ...options });
  return {
    call,
    act: (body, headers = {}) => call('POST', PATH, { body, headers }),
    fail: async (request = {}) => {
      const { body } = await call('POST', '/v1/tasks', { body: { agent: 'echo', input: 'x', ...request } });
      await drive.fail(body.id, null);
      return body.id;
    },
    statusOf: async (id) => (await call('GET', `/v1/tasks/${id}`)).body.status,
  };
}

describe('POST /v1/tasks/actions', () => {
  it('retries the tasks of a filter in the background and shows the progress', async () => {
    const { act, call, fail, statusOf } = await useTenant('retrying');
    const [first, second, other] = [await fail({ session: 'a' }), await fail({ session: 'a' }), await fail()];
    const made = await act({ action: 'retry', filter: { session: 'a', code: 'NETWORK_ERROR' } });
    expect(made.status).toBe(202);
    expect(made.headers.get('location')).toBe(`${PATH}/${made.body.id}`);
    expect(made.body).toMatchObject({
      action: 'retry',
      status: 'pending',
      filter: { status: ['permanently_failed'], session: 'a', code: 'NETWORK_ERROR' },
      matched: 2,
      exact: true,
      done: 0,
      skipped: 0,
      failed: 0,
      completedAt: null,
    });
    await run();
    const read = await call('GET', `${PATH}/${made.body.id}`);
    expect(read.body).toMatchObject({ status: 'completed', matched: 2, done: 2, failed: 0, completedAt: expect.any(String) });
    expect([await statusOf(first), await statusOf(second), await statusOf(other)]).toEqual(['queued', 'pending', 'permanently_failed']);
    expect((await call('GET', PATH)).body.items).toEqual([read.body]);
  });

  it('only counts with `dryRun`, at least what it may read', async () => {
    const { act, call, fail } = await useTenant('counting');
    await fail();
    expect(await act({ action: 'retry', filter: {}, dryRun: true })).toMatchObject({
      status: 200,
      body: { action: 'retry', matched: 1, exact: true },
    });
    // Names in the index whose tasks are gone: read like tasks, and counted like none.
    const gone = Array.from(
      { length: MAX_READ },
      (_, number) => `status=permanently_failed/00000000000000000000000${String(100 + number).slice(-3)}`,
    );
    await api.parts.redis.zadd(api.parts.keys.tenant('counting').index, ...gone.flatMap((member) => [0, member]));
    expect((await act({ action: 'retry', filter: {}, dryRun: true })).body).toEqual({ action: 'retry', matched: 1, exact: false });
    expect((await call('GET', PATH)).body.items).toEqual([]);
  });

  it('stands in the audit log, and a dry run does not', async () => {
    const { act, fail } = await useTenant('audited');
    const key = await api.keyOf('audited', ['admin']);
    await fail();
    await act({ action: 'retry', filter: {}, dryRun: true });
    await act({ action: 'retry', filter: {} });
    const { body } = await api.call('GET', '/v1/audit', { key });
    expect(body.items.filter(({ action }: { action: string }) => action === 'createAction')).toHaveLength(1);
  });

  it('applies to the named tasks alone, in each status that it applies to', async () => {
    const { act, call, fail, statusOf } = await useTenant('naming');
    const [first, second, other] = [await fail(), await fail(), await fail()];
    const foreign = await (await useTenant('naming-foreign')).fail();
    const waiting = (await call('POST', '/v1/tasks', { body: { agent: 'echo', input: 'x' } })).body.id;
    const ids = [first, second, waiting];
    expect((await act({ action: 'retry', ids, dryRun: true })).body).toMatchObject({ matched: 2, exact: true });
    expect((await act({ action: 'retry', ids: [foreign], dryRun: true })).body).toMatchObject({ matched: 0 });
    expect((await act({ action: 'discard', ids, dryRun: true })).body.code).toBe('auth.forbidden');
    const made = await act({ action: 'retry', ids });
    expect(made.body).toMatchObject({ status: 'pending', named: 3, matched: 2, filter: { status: expect.arrayContaining(['failed']) } });
    await run();
    const read = await call('GET', `${PATH}/${made.body.id}`);
    expect(read.body).toMatchObject({ status: 'completed', named: 3, matched: 2, done: 2, skipped: 0 });
    expect([await statusOf(first), await statusOf(second), await statusOf(other)]).toEqual(['queued', 'queued', 'permanently_failed']);
    const cancelled = async (filter?: object): Promise<number> =>
      (await act({ action: 'cancel', ids: [waiting, first, other], filter, dryRun: true })).body.matched;
    expect([await cancelled(), await cancelled({ status: 'pending' }), await cancelled({ worker: 'worker-1' })]).toEqual([2, 0, 1]);
  });

  it('selects by worker and metadata as the list does', async () => {
    const { act, call, fail, statusOf } = await useTenant('searching');
    const [wanted, other] = [await fail({ metadata: { customer: 42, tier: 'a' } }), await fail({ metadata: { customer: 43 } })];
    const matched = async (filter: object): Promise<number> => (await act({ action: 'retry', filter, dryRun: true })).body.matched;
    expect(await matched({ worker: 'worker-1' })).toBe(2);
    expect(await matched({ worker: 'worker-2' })).toBe(0);
    expect(await matched({ metadata: 'customer:' })).toBe(2);
    expect(await matched({ metadata: ['customer:42', 'tier:b'] })).toBe(0);
    const { body } = await act({ action: 'retry', filter: { worker: 'worker-1', metadata: ['customer:42', 'tier:a'] } });
    expect(body.filter).toMatchObject({ worker: 'worker-1', metadata: ['customer:42', 'tier:a'] });
    await run();
    expect((await call('GET', `${PATH}/${body.id}`)).body).toMatchObject({ status: 'completed', done: 1, matched: 1 });
    expect([await statusOf(wanted), await statusOf(other)]).toEqual(['queued', 'permanently_failed']);
  });

  it('makes one action of requests with the same key, and refuses the key for another request', async () => {
    const { act } = await useTenant('repeating');
    const key = { 'idempotency-key': 'once' };
    const first = await act({ action: 'retry', filter: {} }, key);
    const again = await act({ action: 'retry', filter: {} }, key);
    expect([first.status, again.status, again.body.id]).toEqual([202, 200, first.body.id]);
    const other = await act({ action: 'cancel', filter: {} }, key);
    expect([other.status, other.body.code]).toEqual([409, 'task.idempotency-conflict']);
    await run();
  });

  it('refuses one more than `actions.maxActive` until one has ended', async () => {
    const { act } = await useTenant('busy');
    for (let made = 0; made < 2; made += 1) expect((await act({ action: 'retry', filter: {} })).status).toBe(202);
    const refused = await act({ action: 'retry', filter: {} });
    expect([refused.status, refused.body.code]).toEqual([429, 'limit.actions']);
    await run();
    expect((await act({ action: 'retry', filter: {} })).status).toBe(202);
  });

  it('discards for operators only, and only what failed for good unless the filter names other statuses', async () => {
    const tenant = await useTenant('discarding');
    const operator = await useTenant('discarding', 'operate');
    const [failed, cancelled] = [
      await tenant.fail(),
      (await tenant.call('POST', '/v1/tasks', { body: { agent: 'echo', input: 'x' } })).body.id,
    ];
    await tenant.call('POST', `/v1/tasks/${cancelled}/cancel`);
    expect((await tenant.act({ action: 'discard', filter: {} })).body.code).toBe('auth.forbidden');
    expect((await operator.act({ action: 'discard', filter: {} })).status).toBe(202);
    await run();
    expect([await tenant.statusOf(failed), await tenant.statusOf(cancelled)]).toEqual([404, 'cancelled']);
    expect((await operator.act({ action: 'discard', filter: { status: 'cancelled' } })).body.matched).toBe(1);
    await run();
    expect(await tenant.statusOf(cancelled)).toBe(404);
  });

  it.each([
    [{ action: 'retry' }],
    [{ action: 'retry', ids: [] }],
    [{ action: 'retry', ids: ['nothing'] }],
    [{ action: 'retry', ids: ['1', '2', '3', '4'].map((end) => `01ARZ3NDEKTSV4RRFFQ69G5FA${end}`) }],
    [{ action: 'retry', filter: { metadata: 'customer' } }],
    [{ action: 'pause', filter: {} }],
    [{ action: 'retry', filter: { stauts: 'failed' } }],
    [{ action: 'retry', filter: { status: 'completed' } }],
    [{ action: 'cancel', filter: { status: ['queued', 'completed'] } }],
    [{ action: 'retry', filter: { since: 'yesterday' } }],
  ])('refuses %j', async (body) => {
    const { status, body: problem } = await api.call('POST', PATH, { body });
    expect([status, problem.code]).toEqual([422, 'request.invalid']);
  });
});

describe('POST /v1/tasks/actions/:id/cancel', () => {
  it('applies the action to no further task', async () => {
    const { act, call, fail, statusOf } = await useTenant('cancelling');
    const task = await fail();
    const { id } = (await act({ action: 'retry', filter: {} })).body;
    expect(await call('POST', `${PATH}/${id}/cancel`)).toMatchObject({ status: 202, body: { status: 'cancelling' } });
    await run();
    expect(await call('POST', `${PATH}/${id}/cancel`)).toMatchObject({ status: 200, body: { status: 'cancelled', done: 0 } });
    expect(await statusOf(task)).toBe('permanently_failed');
  });

  it('answers 404 for what is no action, and for another tenant’s', async () => {
    const { act } = await useTenant('owner');
    const { call } = await useTenant('other');
    const { id } = (await act({ action: 'retry', filter: {} })).body;
    for (const each of [id, '01ARZ3NDEKTSV4RRFFQ69G5FAV', '__proto__', 'why']) {
      for (const [method, path] of [['GET', each] as const, ['POST', `${each}/cancel`] as const]) {
        const { status, body } = await call(method, `${PATH}/${path}`);
        expect([each, status, body.code]).toEqual([each, 404, 'action.not-found']);
      }
    }
  });
});

describe('the events of an action', () => {
  it('are notifications that are sent without being named', async () => {
    const { act, call } = await useTenant('watching');
    const { id } = (await act({ action: 'retry', filter: {} })).body;
    await run();
    const response = await fetch(`${api.url}/v1/notifications/stream?lastEventId=0-1`, {
      headers: { authorization: `Bearer ${await api.keyOf('watching', ['read'])}` },
    });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    while (!text.includes('action.completed')) text += (await reader?.read())?.value ?? '';
    await reader?.cancel();
    expect(text).toContain(`"kind":"action.created"`);
    expect(text).toContain(`"actionId":"${id}","action":"retry","status":"completed","matched":0`);
    expect((await call('GET', `${PATH}/${id}`)).body.status).toBe('completed');
  });
});
