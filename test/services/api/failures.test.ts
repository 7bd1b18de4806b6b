import { describe, expect, it } from 'vitest';
import { settleAttempt } from '#shared/ledger/settle/settle-attempt.ts';
import { driveTasks } from './support/drive-tasks.ts';
import { useApi } from './support/use-api.ts';
import type { Reply } from '../../support/call-api.ts';

const MAX_READ = 1000;
const api = await useApi({
  agents: { echo: { kind: 'echo' }, other: { kind: 'echo' } },
  actions: { maxRead: MAX_READ },
  search: { maxMs: 60_000 },
});

/** A tenant of its own for each test. */
async function useTenant(name: string): Promise<{
  fail: (code: string, request?: object, worker?: string) => Promise<string>;
  failures: (query?: string) => Promise<Reply>;
  call: (method: string, path: string) => Promise<Reply>;
}> {
  const key = await api.keyOf(name, ['submit']);
  const call = (method: string, path: string): Promise<Reply> => api.call(method, path, { key });
  return {
    call,
    failures: (query = '') => call('GET', `/v1/failures${query}`),
    fail: async (code, request = {}, worker = 'worker-1') => {
      const drive = driveTasks(api.parts, name, worker);
      const { status, body } = await api.call('POST', '/v1/tasks', { key, body: { agent: 'echo', input: 'x', ...request } });
      expect(status).toBe(202);
      const error = { code, message: `${code} in ${body.id}`, retryable: true };
      await settleAttempt(api.parts.ledger, await drive.start(body.id), { kind: 'failed', error, delayMs: null, usage: null });
      return body.id;
    },
  };
}

const countsOf = ({ body }: Reply): [string, string, number][] =>
  body.items.map(({ code, agent, count }: { code: string; agent: string; count: number }) => [code, agent, count]);

describe('GET /v1/failures', () => {
  it('groups permanently failed tasks by code and agent, the largest group first, with times and the last task', async () => {
    const { fail, failures, call } = await useTenant('grouped');
    const ids = [await fail('NETWORK_ERROR'), await fail('INVALID_INPUT', { agent: 'other' }), await fail('NETWORK_ERROR')];
    await fail('INVALID_INPUT');
    const answer = await failures();
    expect(answer.status).toBe(200);
    expect(answer.body.nextCursor).toBeNull();
    expect(countsOf(answer)).toEqual([
      ['NETWORK_ERROR', 'echo', 2],
      ['INVALID_INPUT', 'echo', 1],
      ['INVALID_INPUT', 'other', 1],
    ]);
    const [{ firstAt, lastAt, example }] = answer.body.items;
    expect(example).toEqual({ taskId: ids[2], message: `NETWORK_ERROR in ${ids[2]}` });
    // The five minutes in which a test runs may end meanwhile.
    const totals = new Map<string, number>();
    for (const { at, code, count } of answer.body.times) {
      expect(Date.parse(at) % 300_000).toBe(0);
      totals.set(code, (totals.get(code) ?? 0) + count);
    }
    expect(Object.fromEntries(totals)).toEqual({ NETWORK_ERROR: 2, INVALID_INPUT: 2 });
    expect(answer.body.workers.map(({ count }: { count: number }) => count)).toEqual([4]);
    const endOf = async (id: string | undefined): Promise<string> => (await call('GET', `/v1/tasks/${id}`)).body.completedAt;
    expect([firstAt, lastAt]).toEqual([await endOf(ids[0]), await endOf(ids[2])]);
  });

  it('leaves out tasks that are tried again, were retried or are another tenant’s', async () => {
    const { fail, failures, call } = await useTenant('left-out');
    const { fail: failForeign } = await useTenant('foreign');
    await failForeign('NETWORK_ERROR');
    const retried = await fail('NETWORK_ERROR');
    expect((await call('POST', `/v1/tasks/${retried}/retry`)).status).toBe(202);
    const { body } = await api.call('POST', '/v1/tasks', {
      key: await api.keyOf('left-out', ['submit']),
      body: { agent: 'echo', input: 'x' },
    });
    await driveTasks(api.parts, 'left-out').fail(body.id, 60_000);
    expect(countsOf(await failures())).toEqual([]);
  });

  it('finds by agent, code, schedule and time of acceptance', async () => {
    const { fail, failures } = await useTenant('filtered');
    await fail('NETWORK_ERROR');
    await fail('INVALID_INPUT', { agent: 'other' });
    expect(countsOf(await failures('?agent=other'))).toEqual([['INVALID_INPUT', 'other', 1]]);
    expect(countsOf(await failures('?code=NETWORK_ERROR'))).toEqual([['NETWORK_ERROR', 'echo', 1]]);
    expect(countsOf(await failures('?code=NETWORK_ERROR&agent=other'))).toEqual([]);
    expect(countsOf(await failures('?schedule=none'))).toEqual([]);
    expect(countsOf(await failures('?since=2100-01-01T00:00:00Z'))).toEqual([]);
    expect(countsOf(await failures('?until=2001-01-01T00:00:00Z'))).toEqual([]);
    expect(countsOf(await failures('?since=2001-01-01T00:00:00Z&until=2100-01-01T00:00:00Z'))).toHaveLength(2);
  });

  it('groups by error, by agent or by release', async () => {
    const { fail, failures } = await useTenant('by-one');
    await fail('NETWORK_ERROR', {}, 'w-1@v1');
    await fail('INVALID_INPUT', { agent: 'other' }, 'w-2@v2%2Fb');
    const last = await fail('NETWORK_ERROR', { agent: 'other' }, 'w-3@v2%2Fb');
    const group = { code: null, agent: null, release: null };
    expect((await failures('?groupBy=error')).body.items).toMatchObject([
      { ...group, code: 'NETWORK_ERROR', count: 2, example: { taskId: last } },
      { ...group, code: 'INVALID_INPUT', count: 1 },
    ]);
    expect((await failures('?groupBy=agent')).body.items).toMatchObject([
      { ...group, agent: 'other', count: 2 },
      { ...group, agent: 'echo', count: 1 },
    ]);
    const { body } = await failures('?groupBy=release');
    expect(body.items).toMatchObject([
      { ...group, release: 'v2/b', count: 2, example: { taskId: last } },
      { ...group, release: 'v1', count: 1 },
    ]);
    expect(body.releases).toEqual([
      { release: 'v2/b', count: 2 },
      { release: 'v1', count: 1 },
    ]);
  });

  it('groups what failed before workers had a release as one without', async () => {
    const { fail, failures } = await useTenant('no-release');
    await fail('A');
    await fail('B');
    const { body } = await failures('?groupBy=release');
    expect(body).toMatchObject({ items: [{ release: null, count: 2 }], releases: [] });
  });

  it('finds by release, also tasks themselves and what an action would do', async () => {
    const { fail, failures, call } = await useTenant('released');
    await fail('NETWORK_ERROR', {}, 'w-1@v1');
    const id = await fail('NETWORK_ERROR', {}, 'w-2@v2');
    expect((await failures('?release=v2')).body.items).toMatchObject([{ code: 'NETWORK_ERROR', agent: 'echo', count: 1 }]);
    expect(countsOf(await failures('?release=v3'))).toEqual([]);
    const { body } = await call('GET', '/v1/tasks?release=v2');
    expect(body.items).toMatchObject([{ id, worker: 'w-2@v2', release: 'v2' }]);
    expect((await call('GET', '/v1/tasks/facets?release=v2')).body.total).toBe(1);
    expect((await call('GET', `/v1/tasks/${id}/attempts`)).body.items).toMatchObject([{ number: 1, release: 'v2' }]);
    const counted = await api.call('POST', '/v1/tasks/actions', {
      key: await api.keyOf('released', ['operate']),
      body: { action: 'retry', filter: { release: 'v2' }, dryRun: true },
    });
    expect(counted.body).toMatchObject({ matched: 1, exact: true });
  });

  it('pages by groups and counts each task once', async () => {
    const { fail, failures } = await useTenant('paged');
    for (const code of ['A', 'A', 'B', 'A', 'C']) await fail(code);
    const counted: [string, string, number][] = [];
    let query = '?limit=1';
    for (let pages = 0; query !== '' && pages < 10; pages += 1) {
      const answer = await failures(query);
      counted.push(...countsOf(answer));
      query = answer.body.nextCursor === null ? '' : `?limit=1&cursor=${answer.body.nextCursor}`;
    }
    expect(counted).toEqual([
      ['C', 'echo', 1],
      ['A', 'echo', 1],
      ['B', 'echo', 1],
      ['A', 'echo', 2],
    ]);
  });

  it('counts all of an agent and error by the index, also more than `actions.maxRead`', async () => {
    const { fail, failures } = await useTenant('counted');
    const { index, states } = api.parts.keys.tenant('counted');
    const id = await fail('NETWORK_ERROR');
    await fail('OTHER');
    const copies = Array.from({ length: MAX_READ }, (_, number) => `7ZZZZZZZZZZZZZZZZZZZZ${String(10_000 + number)}`);
    const entries = copies.flatMap((copy) => [
      `status=permanently_failed/${copy}`,
      `end=permanently_failed/echo/api/NETWORK_ERROR/${copy}`,
    ]);
    const newest = copies.at(-1) ?? '';
    await api.parts.redis.zadd(index, ...entries.flatMap((entry) => [0, entry]));
    await api.parts.redis.hset(states, newest, (await api.parts.redis.hget(states, id)) ?? '');
    const { body } = await failures();
    expect(body).toMatchObject({
      nextCursor: null,
      items: [
        { code: 'NETWORK_ERROR', count: MAX_READ + 1 },
        { code: 'OTHER', count: 1 },
      ],
    });
  });

  it('ends a page after `actions.maxRead` tasks', async () => {
    const { fail, failures } = await useTenant('many');
    const first = await fail('FIRST');
    // Names in the index whose tasks are gone: read like tasks, and counted like none.
    const { index } = api.parts.keys.tenant('many');
    const gone = Array.from(
      { length: MAX_READ },
      (_, number) => `status=permanently_failed/7ZZZZZZZZZZZZZZZZZZZZ${String(10_000 + number)}`,
    );
    await api.parts.redis.zadd(index, ...gone.flatMap((member) => [0, member]));
    const page = await failures();
    expect(countsOf(page)).toEqual([]);
    expect(page.body.nextCursor).toBe('7ZZZZZZZZZZZZZZZZZZZZ10000');
    const rest = await failures(`?cursor=${page.body.nextCursor}`);
    expect(rest.body.items).toMatchObject([{ code: 'FIRST', example: { taskId: first } }]);
    expect(rest.body.nextCursor).toBeNull();
  });

  it.each(['limit=0', 'cursor=x', 'since=yesterday', 'agent=UPPER', 'codes=A', 'groupBy=day'])('refuses ?%s', async (query) => {
    const { status, body } = await api.call('GET', `/v1/failures?${query}`);
    expect([status, body.code]).toEqual([422, 'request.invalid']);
  });
});

describe('GET /v1/tasks', () => {
  it('finds tasks by the code of their last failure', async () => {
    const { fail, call } = await useTenant('by-code');
    await fail('INVALID_INPUT');
    const id = await fail('NETWORK_ERROR');
    expect((await call('GET', '/v1/tasks?code=NETWORK_ERROR')).body.items.map((task: { id: string }) => task.id)).toEqual([id]);
  });
});
