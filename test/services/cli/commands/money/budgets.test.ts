import { describe, expect, it } from 'vitest';
import { answer } from '../../fake-api.ts';
import { useMuster } from '../../use-muster.ts';

const { api, muster, sent } = useMuster();

const monthly = {
  id: 'monthly',
  origin: 'api',
  scope: 'tenant',
  of: null,
  per: 'month',
  tz: 'UTC',
  softMicroUsd: null,
  hardMicroUsd: 100_000_000,
  atHard: 'pause',
  downgradeTo: null,
  spentMicroUsd: 12_345_678,
  reservedMicroUsd: 0,
  windowEndsAt: '2026-06-01T00:00:00.000Z',
  held: 3,
};
const each = {
  ...monthly,
  id: 'chats',
  scope: 'session',
  per: 'total',
  softMicroUsd: 500_000,
  atHard: 'downgrade',
  downgradeTo: 'small',
  spentMicroUsd: null,
  windowEndsAt: null,
  held: null,
};

describe('muster budgets', () => {
  it('shows a line for each budget, with what is spent and what follows', async () => {
    const handlers = {
      'GET /v1/budgets': (response: Parameters<typeof answer>[0]) => answer(response, 200, { items: [each, monthly], nextCursor: null }),
    };
    const { code, stdout } = await muster(handlers, ['budgets']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^BUDGET +FROM +COUNTS +PER +SPENT +SOFT +HARD +THEN +HELD +ENDS$/m);
    expect(stdout).toMatch(/^chats +api +session \(each\) +total +\$0\.50 +\$100\.00 +downgrade to small$/m);
    expect(stdout).toMatch(/^monthly +api +tenant +month +\$12\.3457 +\$100\.00 +pause +3 +2026-06-01 00:00:00 UTC$/m);
  });

  it('says how to make one when there is none', async () => {
    const handlers = {
      'GET /v1/budgets': (response: Parameters<typeof answer>[0]) => answer(response, 200, { items: [], nextCursor: null }),
    };
    const { code, stdout, stderr } = await muster(handlers, ['budgets']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(stderr).toContain('npx muster budgets set monthly --scope tenant --hard 100 --at-hard pause');
  });
});

describe('muster budgets set', () => {
  const put = { 'PUT /v1/budgets/monthly': (response: Parameters<typeof answer>[0]) => answer(response, 201, monthly) };

  it('sends dollars as millionths, and says what holds now', async () => {
    const args = ['budgets', 'set', 'monthly', '--scope', 'tenant', '--soft', '$80.5', '--hard', '100', '--at-hard', 'pause'];
    const { code, stdout } = await muster(put, args);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: 'Budget monthly is set: $100.00 a month for the tenant, then pause; $12.3457 is spent.\n',
    });
    expect(sent()).toEqual({
      scope: 'tenant',
      per: 'month',
      softMicroUsd: 80_500_000,
      hardMicroUsd: 100_000_000,
      atHard: 'pause',
    });
  });

  it('prints the answer as JSON', async () => {
    const { stdout } = await muster(put, ['budgets', 'set', 'monthly', '--scope', 'tenant', '--hard', '100', '--json']);
    expect(JSON.parse(stdout)).toEqual(monthly);
  });

  it.each([
    [['--scope', 'tenant', '--hard', 'much'], '--hard: expected dollars such as 4.50, and got much'],
    [['--scope', 'universe', '--hard', '1'], 'Allowed choices are tenant, agent, session, schedule, task, key'],
    [['--hard', '1'], '--scope'],
    [['--scope', 'tenant'], 'Give it --soft, --hard or both.'],
    [['--scope', 'tenant', '--hard', '1', '--at-hard', 'downgrade'], '--at-hard downgrade and --downgrade-to go together.'],
  ])('refuses %j and sends nothing', async (args, problem) => {
    const { code, stderr } = await muster({}, ['budgets', 'set', 'monthly', ...args]);
    expect(code).toBe(2);
    expect(stderr).toContain(problem);
    expect(api().requests).toEqual([]);
  });
});

describe('muster budgets remove', () => {
  it('removes it, and says so', async () => {
    const handlers = {
      'DELETE /v1/budgets/monthly': (response: Parameters<typeof answer>[0]) => {
        response.writeHead(204);
        response.end();
      },
    };
    expect(await muster(handlers, ['budgets', 'remove', 'monthly'])).toMatchObject({ code: 0, stdout: 'Budget monthly is removed.\n' });
  });

  it('passes on why the server refuses', async () => {
    const handlers = {
      'DELETE /v1/budgets/monthly': (response: Parameters<typeof answer>[0]) =>
        answer(response, 404, { code: 'budget.not-found', detail: 'There is no such budget' }),
    };
    expect(await muster(handlers, ['budgets', 'remove', 'monthly'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('There is no such budget') as string,
    });
  });
});
