import { describe, expect, it } from 'vitest';
import { settleAttempt } from '#shared/ledger/settle/settle-attempt.ts';
import { usageDay } from '#shared/tasks/usage.ts';
import { pricedUsage } from '#shared/usage/prices.ts';
import { driveTasks } from '../support/drive-tasks.ts';
import { useApi } from '../support/use-api.ts';
import type { Reply } from '../../../support/call-api.ts';

const models = { large: { inputUsdPerMTok: 2, outputUsdPerMTok: 4 } };
const api = await useApi({
  agents: { echo: { kind: 'echo' }, other: { kind: 'echo' } },
  models,
  usage: { maxRead: 400 },
});

const TODAY = new Date().toISOString().slice(0, 10);

/** A tenant of its own for each test. */
async function useTenant(
  name: string,
): Promise<{ use: (agent: string, model: string, more?: object) => Promise<string>; get: (path: string) => Promise<Reply> }> {
  const key = await api.keyOf(name, ['submit']);
  const drive = driveTasks(api.parts, name);
  return {
    get: (path) => api.call('GET', path, { key }),
    use: async (agent, model, more = {}) => {
      const { body } = await api.call('POST', '/v1/tasks', { key, body: { agent, input: 'x', ...more } });
      const usage = pricedUsage(models, { inputTokens: 10, outputTokens: 1, cachedInputTokens: 2, model });
      await settleAttempt(api.parts.ledger, await drive.start(body.id), { kind: 'completed', output: '', result: null, usage });
      return body.id;
    },
  };
}

describe('GET /v1/usage', () => {
  it('sums tokens and cost by agent, model, source and day', async () => {
    const { use, get } = await useTenant('summed');
    for (const [agent, model] of [
      ['echo', 'large'],
      ['echo', 'large'],
      ['other', 'tiny'],
    ] as const)
      await use(agent, model);
    const known = { inputTokens: 20, outputTokens: 2, cachedInputTokens: 4, reasoningTokens: 0, costMicroUsd: 48, unknown: 0, attempts: 2 };
    const all = { inputTokens: 30, outputTokens: 3, costMicroUsd: 48, unknown: 1, attempts: 3, calls: 0, estimated: 0 };
    const answer = await get('/v1/usage?groupBy=model');
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      items: [
        { group: 'large', ...known },
        { group: 'tiny', inputTokens: 10, costMicroUsd: null, unknown: 1, attempts: 1 },
      ],
      total: all,
      nextCursor: null,
    });
    expect((await get('/v1/usage?groupBy=agent')).body.items).toMatchObject([
      { group: 'echo', ...known },
      { group: 'other', costMicroUsd: null },
    ]);
    expect((await get('/v1/usage?groupBy=source')).body.items).toMatchObject([{ group: 'api', ...all }]);
    expect((await get('/v1/usage')).body.items).toMatchObject([{ group: TODAY, ...all }]);
  });

  it('sums tokens and cost of tasks by what they belong to, the dearest first', async () => {
    const { use, get } = await useTenant('belongs');
    const ids = [
      await use('echo', 'large', { session: 'a' }),
      await use('echo', 'large', { session: 'a' }),
      await use('echo', 'large', { session: '=b' }),
    ];
    const groups = async (path: string): Promise<unknown> =>
      (await get(`/v1/usage?groupBy=${path}`)).body.items.map(({ group, costMicroUsd }: Record<string, unknown>) => [group, costMicroUsd]);
    expect(await groups('session')).toEqual([
      ['a', 48],
      ['=b', 24],
    ]);
    expect(await groups('session&sort=name')).toEqual([
      ['=b', 24],
      ['a', 48],
    ]);
    expect(new Set((await get('/v1/usage?groupBy=task')).body.items.map(({ group }: { group: string }) => group))).toEqual(new Set(ids));
    expect(await groups('person')).toEqual([[null, 72]]);
    expect(await groups('schedule')).toEqual([[null, 72]]);
    expect(await groups('key')).toEqual([[expect.any(String), 72]]);
    expect((await get('/v1/usage?groupBy=session')).body).toMatchObject({ total: { costMicroUsd: 72, attempts: 3 }, isLowerBound: false });
    expect(await groups('session&since=2020-01-01&until=2020-01-02')).toEqual([]);
  });

  it('exports groups and tasks as CSV, without formulas', async () => {
    const { use, get } = await useTenant('exported');
    const id = await use('echo', 'large', { session: '=a "b", c' });
    const { body: text, headers } = await get('/v1/usage?groupBy=session&format=csv');
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(text).toMatch(/^group,inputTokens,outputTokens,.*\r\n"'=a ""b"", c",10,1,/);
    const tasks = (await get('/v1/tasks?format=csv')).body;
    expect(tasks).toMatch(new RegExp(`^id,agent,.*,costMicroUsd,errorCode\\r\\n${id},echo,api,"'=a ""b"", c",.*,10,1,24,\\r\\n$`));
  });

  it('orders tasks by cost and by duration', async () => {
    const { use, get } = await useTenant('ordered');
    const [free, dear] = [await use('echo', 'tiny'), await use('other', 'large')];
    const ids = async (query: string): Promise<string[]> =>
      (await get(`/v1/tasks?${query}`)).body.items.map(({ id }: { id: string }) => id);
    expect(await ids('sort=cost')).toEqual([dear, free]);
    expect(await ids('sort=cost&limit=1')).toEqual([dear]);
    expect(await ids('sort=cost&agent=echo')).toEqual([free]);
    expect(await ids('sort=cost&status=completed')).toEqual([dear, free]);
    expect((await ids('sort=duration')).toSorted()).toEqual([free, dear].toSorted());
    expect((await get('/v1/tasks?sort=color')).status).toBe(422);
  });

  it('shows a task and its attempts what they used', async () => {
    const { use, get } = await useTenant('shown');
    const id = await use('echo', 'large');
    const used = {
      inputTokens: 10,
      outputTokens: 1,
      cachedInputTokens: 2,
      reasoningTokens: 0,
      costMicroUsd: 24,
      knownCostMicroUsd: 24,
      isEstimated: false,
    };
    const usage = { ...used, byModel: [{ model: 'large', ...used }] };
    expect((await get(`/v1/tasks/${id}`)).body.usage).toEqual(usage);
    expect((await get(`/v1/tasks/${id}/attempts`)).body.items).toMatchObject([{ number: 1, usage }]);
  });

  it('covers the days from since to until, both included', async () => {
    const { get } = await useTenant('days');
    const { redis, keys } = api.parts;
    for (const day of ['2026-05-01', '2026-05-02', '2026-05-04'])
      await redis.hset(keys.tenant('days').usageDay(usageDay(Date.parse(day))), 'echo|api|large', '1 1 0 0 1 0 0 0 1');
    const daysOf = async (query: string): Promise<string[]> =>
      (await get(`/v1/usage?${query}`)).body.items.map(({ group }: { group: string }) => group);
    expect(await daysOf('since=2026-05-01&until=2026-05-03')).toEqual(['2026-05-01', '2026-05-02']);
    expect(await daysOf('since=2026-05-02T23:59:59Z&until=2026-05-04T00:00:00Z')).toEqual(['2026-05-02', '2026-05-04']);
    expect(await daysOf('until=2026-05-30')).toEqual(['2026-05-01', '2026-05-02', '2026-05-04']);
    expect(await daysOf('until=2026-06-01')).toEqual(['2026-05-04']);
  });

  it('shows all tenants to the tenant of the installation only', async () => {
    for (const id of ['one', 'two']) expect((await api.call('POST', '/v1/tenants', { body: { id } })).status).toBe(201);
    const [one, other] = [await useTenant('one'), await useTenant('two')];
    await one.use('echo', 'large');
    await other.use('echo', 'large');
    const mine = await one.get('/v1/usage?groupBy=tenant');
    expect(mine.body.items).toMatchObject([{ group: 'one', inputTokens: 10 }]);
    const all = await api.call('GET', `/v1/usage?groupBy=tenant&since=${TODAY}`);
    expect(all.body.items.map(({ group }: { group: string }) => group)).toEqual(expect.arrayContaining(['one', 'two']));
  });

  it.each([
    ['groupBy=color', 'request.invalid'],
    ['since=yesterday', 'request.invalid'],
    ['since=2026-05-02&until=2026-05-01', 'request.invalid'],
    ['since=2020-01-01', 'request.invalid'],
  ])('refuses %s', async (query, code) => {
    const { get } = await useTenant('refused');
    expect(await get(`/v1/usage?${query}`)).toMatchObject({ body: { code } });
  });
});
