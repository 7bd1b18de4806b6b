import { describe, expect, it } from 'vitest';
import { readNotices } from '../../../../services/api/notifications/notices.ts';
import { useApi } from '../support/use-api.ts';

const api = await useApi({
  agents: { echo: { kind: 'echo' }, dear: { kind: 'openai', model: 'dear', baseUrl: 'http://127.0.0.1:9/v1' } },
  limits: { maxBudgetsPerTenant: 2 },
  models: { dear: { inputUsdPerMTok: 0, outputUsdPerMTok: 15 } },
  budgets: [{ id: 'fixed', tenant: 'fixed', scope: 'tenant', per: 'month', hardMicroUsd: 5 }],
});
const RULE = { scope: 'agent', of: 'echo', per: 'day', tz: 'Europe/Berlin', softMicroUsd: 10, hardMicroUsd: 20, atHard: 'pause' };

describe('/v1/budgets', () => {
  it('makes, shows, replaces and removes a budget of the tenant', async () => {
    const key = await api.keyOf('makes', ['admin']);
    const put = (body: object): ReturnType<typeof api.call> => api.call('PUT', '/v1/budgets/daily', { key, body });
    expect(await put(RULE)).toMatchObject({ status: 201, body: { id: 'daily', origin: 'api', ...RULE, spentMicroUsd: 0, held: 0 } });
    expect(await put({ ...RULE, of: null })).toMatchObject({ status: 200, body: { of: null, spentMicroUsd: null, held: null } });
    expect((await api.call('GET', '/v1/budgets', { key })).body).toMatchObject({ items: [{ id: 'daily', of: null }], nextCursor: null });
    expect((await api.call('DELETE', '/v1/budgets/daily', { key })).status).toBe(204);
    expect((await api.call('GET', '/v1/budgets/daily', { key })).body.code).toBe('budget.not-found');
  });

  it('replaces none with If-None-Match: *', async () => {
    const key = await api.keyOf('only-new', ['admin']);
    const put = (body: object, headers = {}): ReturnType<typeof api.call> => api.call('PUT', '/v1/budgets/daily', { key, body, headers });
    const onlyNew = { 'if-none-match': '*' };
    const made = await Promise.all([put(RULE, onlyNew), put(RULE, onlyNew)]);
    expect(new Set(made.map(({ status }) => status))).toEqual(new Set([201, 412]));
    expect((await put({ ...RULE, of: null }, onlyNew)).body).toMatchObject({
      status: 412,
      code: 'budget.exists',
      details: { budget: 'daily' },
    });
    expect((await api.call('GET', '/v1/budgets/daily', { key })).body.of).toBe('echo');
    expect((await put({ ...RULE, of: null })).status).toBe(200);
  });

  it.each([
    [70_000, 'pause', []],
    [60_000, 'pause', ['A call of the agent dear may cost $0.0614, more than $0.06: its answers have at most 4000 of 4096 output tokens']],
    [1000, 'pause', ['Not one call of the agent dear fits into $0.0010: it needs $0.0038; its tasks wait until the budget is raised']],
    [1000, 'deny', ['Not one call of the agent dear fits into $0.0010: it needs $0.0038; its tasks are refused']],
  ])('warns of a budget of %i that does %s where one call of its agents does not fit in', async (hardMicroUsd, atHard, warnings) => {
    const key = await api.keyOf('warned', ['admin']);
    for (const rule of [{ scope: 'agent', of: 'dear' }, { scope: 'tenant' }]) {
      const body = { ...rule, per: 'day', hardMicroUsd, atHard };
      expect((await api.call('PUT', '/v1/budgets/daily', { key, body })).body).toMatchObject({ warnings });
      expect((await api.call('GET', '/v1/budgets/daily', { key })).body).toMatchObject({ warnings });
      expect((await api.call('POST', '/v1/budgets/preview', { key, body })).body).toMatchObject({ agentWarnings: warnings });
    }
    const other = { scope: 'agent', of: 'echo', per: 'day', hardMicroUsd, atHard };
    expect((await api.call('PUT', '/v1/budgets/daily', { key, body: other })).body).toMatchObject({ warnings: [] });
  });

  it.each([
    [{ ...RULE, hardMicroUsd: 5 }],
    [{ ...RULE, tz: 'Mars' }],
    [{ ...RULE, scope: 'universe' }],
    [{ ...RULE, hardMicroUsd: -1 }],
    [{ ...RULE, more: 1 }],
  ])('refuses %o', async (body) => {
    const key = await api.keyOf('refuses', ['admin']);
    expect((await api.call('PUT', '/v1/budgets/daily', { key, body })).body.code).toBe('request.invalid');
  });

  it("leaves the configuration's budgets to the operator, bounds their number, and asks for the scope admin", async () => {
    const key = await api.keyOf('fixed', ['admin']);
    const put = async (id: string): Promise<string> => (await api.call('PUT', `/v1/budgets/${id}`, { key, body: RULE })).body.code;
    expect(await put('fixed')).toBe('budget.operator-only');
    expect([await put('one'), await put('two'), await put('three'), await put('two')]).toEqual([
      undefined,
      undefined,
      'request.invalid',
      undefined,
    ]);
    const reader = await api.keyOf('fixed', ['operate']);
    expect((await api.call('PUT', '/v1/budgets/one', { key: reader, body: RULE })).body.code).toBe('auth.forbidden');
  });
});

describe('the notification of a line', () => {
  it('names the budget, its lines and what is spent', () => {
    const about = JSON.stringify({ budget: 'daily', scope: 'agent', of: 'echo', per: 'day', softMicroUsd: 10, hardMicroUsd: 20 });
    const [notice] = readNotices({ id: '1-1', event: 'budget.warning', tasks: [], fields: { about, spent: '12' }, at: 0 });
    expect(notice).toMatchObject({ kind: 'budget.warning', data: { budget: 'daily', of: 'echo', hardMicroUsd: 20, spentMicroUsd: 12 } });
  });
});
