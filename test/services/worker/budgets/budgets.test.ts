import { afterEach, describe, expect, it, vi } from 'vitest';
import type { AgentFunction } from '#shared/config/define-config.ts';
import { type BudgetRule, budgetSchema } from '#shared/config/settings/budget-settings.ts';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import { countPast } from '#shared/budgets/count-past.ts';
import { readSpending } from '#shared/budgets/read-spending.ts';
import { previewBudget } from '#shared/budgets/preview-budget.ts';
import { releaseByBudgets } from '#shared/budgets/release-budgets.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { acceptTasks } from '#shared/queue/accept/accept-tasks.ts';
import { createSchedule } from '#shared/schedules/changes/create-schedule.ts';
import { runScheduleNow } from '#shared/schedules/changes/change-schedule.ts';
import { fireDue } from '#shared/schedules/firing/fire-due.ts';
import { listRuns } from '#shared/schedules/public-records.ts';
import { openScheduleParts } from '#shared/schedules/schedule-parts.ts';
import { explainWait } from '#shared/queue/why/explain-wait.ts';
import type { Task } from '#shared/tasks/task.ts';
import { systemClock } from '#shared/time/index.ts';
import { useParts } from '../../../support/use-parts.ts';
import { useWorker } from '../../../support/use-worker.ts';
import { waitFor } from '../../../support/wait-for.ts';

const COST = 100_000;
const started: string[] = [];
/** Until both tasks of the denied tenant are accepted. */
const bothAccepted = Promise.withResolvers<undefined>();
const paid: AgentFunction = async ({ id, tenant }) => {
  started.push(id);
  if (tenant === 'denied') await bothAccepted.promise;
  return await Promise.resolve({ output: 'done', usage: { inputTokens: 1, outputTokens: 1, costMicroUsd: COST } });
};

const parts = await useParts({
  agents: { paid: { kind: 'function', run: paid } },
  limits: { tenants: { held: { running: 1 }, hourly: { running: 1 }, denied: { running: 1 } } },
});
await useWorker(parts);

const put = async (tenant: string, hardMicroUsd: number, rule: object = {}): Promise<void> => {
  await parts.budgets.put(tenant, 'all', budgetSchema.parse({ scope: 'tenant', per: 'total', hardMicroUsd, ...rule }));
};
const submit = async (tenant: string, more: object = {}): Promise<string> =>
  (await acceptTask(parts, { tenant, agent: 'paid', input: 'x', ...more })).id;
const read = async (tenant: string, id: string): Promise<Task> => (await readTask(parts.ledger, tenant, id)) as Task;
const run = async (tenant: string, more: object = {}): Promise<string> => {
  const id = await submit(tenant, more);
  await untilIt(tenant, id, ({ state }) => state.status === 'completed');
  return id;
};
const untilIt = async (tenant: string, id: string, is: (task: Task) => boolean): Promise<void> =>
  void (await waitFor(async () => is(await read(tenant, id)), { deadlineMs: 10_000, what: 'the task' }));

const preview = async (tenant: string, rule: BudgetRule, needed = 0): ReturnType<typeof previewBudget> =>
  await previewBudget(parts.ledger, { tenant, rule, now: Date.now(), neededBy: () => needed });

const refusedBy = async (scope: string, of: string | null = null): Promise<number> => {
  const rule = budgetSchema.parse({ scope, of, per: 'total', hardMicroUsd: COST });
  return (await preview('trees', rule)).refused;
};

const HOUR_MS = 3_600_000;

afterEach(() => {
  vi.restoreAllMocks();
});

describe('a task under a budget', () => {
  it('fails for good once the budget is used up, and names it', async () => {
    await put('denied', COST);
    const [first, second] = [await submit('denied'), await submit('denied')];
    bothAccepted.resolve(undefined);
    await untilIt('denied', second, ({ state }) => state.completedAt !== undefined);
    expect((await read('denied', first)).state.status).toBe('completed');
    expect((await read('denied', second)).state).toMatchObject({
      status: 'permanently_failed',
      error: { code: 'BUDGET_EXCEEDED', message: 'Budget "all" has $0.10 spent in all, of $0.10', retryable: false },
    });
    expect(started).not.toContain(second);
  });

  it('is held where the budget pauses, says so, and goes on in order when somebody raises it', async () => {
    await put('held', COST, { atHard: 'pause' });
    const ids = [await submit('held'), await submit('held'), await submit('held')];
    const [, second = '', third = ''] = ids;
    await untilIt('held', third, ({ state }) => state.hold !== undefined);
    await untilIt('held', second, ({ state }) => state.hold !== undefined);
    const { reasons, gates, estimatedStartMs } = await explainWait(parts, await read('held', third));
    expect(reasons).toMatchObject([{ gate: 'budget', detail: 'Budget "all" has $0.10 spent in all, of $0.10' }]);
    expect(gates[0]).toMatchObject({ gate: 'budget', facts: { budget: 'all', spentMicroUsd: COST, lineMicroUsd: COST, held: 2 } });
    // Nobody knows when somebody raises a budget without a window.
    expect(estimatedStartMs).toBeNull();
    await put('held', 3 * COST, { atHard: 'pause' });
    expect(await releaseByBudgets(parts.ledger, parts.budgets, 'held', 100)).toBe(2);
    await untilIt('held', third, ({ state }) => state.status === 'completed');
    expect(started.filter((id) => ids.includes(id))).toEqual(ids);
    expect((await read('held', third)).state).toMatchObject({ attempt: 1, holds: 1 });
  });

  it('is held where the budget pauses until the next window has room, in order', async () => {
    // The middle of an hour, so that none ends by itself meanwhile.
    let aheadMs = HOUR_MS / 2 - (Date.now() % HOUR_MS);
    vi.spyOn(systemClock, 'now').mockImplementation(() => Date.now() + aheadMs);
    await put('hourly', COST, { per: 'hour', atHard: 'pause' });
    const ids = [await submit('hourly'), await submit('hourly'), await submit('hourly')];
    const [, second = '', third = ''] = ids;
    for (const id of [second, third]) await untilIt('hourly', id, ({ state }) => state.hold !== undefined);
    expect(await releaseByBudgets(parts.ledger, parts.budgets, 'hourly', 100)).toBe(0);
    aheadMs += HOUR_MS;
    await releaseByBudgets(parts.ledger, parts.budgets, 'hourly', 100);
    await untilIt('hourly', second, ({ state }) => state.status === 'completed');
    await untilIt('hourly', third, ({ state }) => state.hold !== undefined);
    aheadMs += HOUR_MS;
    await releaseByBudgets(parts.ledger, parts.budgets, 'hourly', 100);
    await untilIt('hourly', third, ({ state }) => state.status === 'completed');
    expect(started.filter((id) => ids.includes(id))).toEqual(ids);
    expect((await read('hourly', third)).state).toMatchObject({ attempt: 1 });
  });

  it('is refused at acceptance once its budget is used up and denies, with the time when its window ends', async () => {
    await put('refused', COST, { per: 'day' });
    const id = await submit('refused');
    await untilIt('refused', id, ({ state }) => state.completedAt !== undefined);
    await expect(submit('refused')).rejects.toMatchObject({
      code: 'limit.budget',
      details: { budget: 'all', usedMicroUsd: COST, lineMicroUsd: COST, until: expect.stringContaining('T00:00:00') as string },
      retryAfterMs: expect.any(Number) as number,
    });
  });

  it('counts for the API key by which it came, or the task that delegated it', async () => {
    await put('keyed', 2 * COST, { scope: 'key' });
    const first = await run('keyed', { keyId: 'key_a' });
    const child = await run('keyed', { keyId: 'key_b', parentTaskId: first });
    expect((await read('keyed', child)).body.keyId).toBe('key_a');
    await expect(submit('keyed', { keyId: 'key_a' })).rejects.toMatchObject({ code: 'limit.budget' });
    await expect(submit('keyed', { keyId: 'key_b', parentTaskId: child })).rejects.toMatchObject({ code: 'limit.budget' });
    const items = await acceptTasks(parts, [{ tenant: 'keyed', agent: 'paid', input: 'x', keyId: 'key_a' }]);
    expect(items).toMatchObject([{ code: 'limit.budget' }]);
    await run('keyed', { keyId: 'key_b' });
    await run('keyed');
  });

  it('is a skipped run of its schedule, with the budget as the reason', async () => {
    await put('scheduled', 0, { scope: 'schedule' });
    const scheduling = openScheduleParts(parts);
    const request = { every: '1h', agent: 'paid', message: 'x' };
    const { id } = (await createSchedule(scheduling, request, { tenant: 'scheduled' })).schedule;
    const accepted = await runScheduleNow(scheduling, 'scheduled', id);
    await untilIt('scheduled', accepted?.id ?? '', ({ state }) => state.completedAt !== undefined);
    expect((await listRuns(scheduling, 'scheduled', { schedule: id }, { limit: 1, before: undefined })).items).toMatchObject([
      {
        status: 'skipped',
        reason: 'Budget "all" has $0.00 spent in all, of $0.00',
        error: { code: 'BUDGET_EXCEEDED', message: 'Budget "all" has $0.00 spent in all, of $0.00' },
      },
    ]);
  });

  it.each(['tenant', 'schedule'])('is the run of a one-shot that waits for money where the budget denies: %s', async (scope) => {
    const tenant = `once-${scope}`;
    await put(tenant, 0, { scope });
    const scheduling = openScheduleParts(parts);
    const request = { at: new Date(Date.now() + 1000).toISOString(), agent: 'paid', message: 'x' };
    const { schedule } = await createSchedule(scheduling, request, { tenant });
    const fire = async (): Promise<string | null> => {
      await fireDue(scheduling, parts.keys.shardOf(tenant));
      return (await scheduling.store.read(tenant, [schedule.id]))[0]?.lastRunId ?? null;
    };
    await waitFor(async () => (await fire()) !== null, { deadlineMs: 10_000, what: 'the one-shot to fire' });
    const id = (await fire()) ?? '';
    await untilIt(tenant, id, ({ state }) => state.hold !== undefined);
    expect(await explainWait(parts, await read(tenant, id))).toMatchObject({ reasons: [{ gate: 'budget' }] });
    await put(tenant, COST, { scope });
    await releaseByBudgets(parts.ledger, parts.budgets, tenant, 100);
    await untilIt(tenant, id, ({ state }) => state.status === 'completed');
  });

  it.each(['tenant', 'agent', 'session', 'key', 'task'] as const)(
    'counts in a later budget whose running window it was in, once: %s',
    async (scope) => {
      const tenant = `before-${scope}`;
      const [first] = [await run(tenant, { session: 's', keyId: 'key_a' }), await run(tenant, { session: 's', keyId: 'key_a' })];
      const of = { tenant: null, agent: 'paid', session: 's', key: 'key_a', task: first }[scope];
      for (const per of ['hour', 'day', 'month', 'total'] as const) {
        const rule = budgetSchema.parse({ scope, of, per, hardMicroUsd: 5 * COST });
        await parts.budgets.put(tenant, per, rule);
        const budget = { ...rule, id: per, origin: 'api' } as const;
        for (let time = 0; time < 2; time += 1) await countPast(parts.ledger, tenant, budget);
        const spentMicroUsd = scope === 'task' ? COST : 2 * COST;
        expect(await readSpending(parts, tenant, budget)).toMatchObject({ spentMicroUsd });
      }
    },
  );

  it('counts in a later budget for what ran in its window only', async () => {
    const tenant = 'before-now';
    await run(tenant);
    vi.spyOn(systemClock, 'now').mockImplementation(() => Date.now() + HOUR_MS);
    const budget = { ...budgetSchema.parse({ scope: 'tenant', per: 'hour', hardMicroUsd: COST }), id: 'all', origin: 'api' } as const;
    await countPast(parts.ledger, tenant, budget);
    expect(await readSpending(parts, tenant, budget)).toMatchObject({ spentMicroUsd: 0 });
  });

  it('is in the preview of a budget that would have refused it', async () => {
    for (const id of [await submit('past'), await submit('past'), await submit('past')])
      await untilIt('past', id, ({ state }) => state.status === 'completed');
    const rule = budgetSchema.parse({ scope: 'agent', per: 'total', softMicroUsd: COST, hardMicroUsd: 2 * COST });
    expect(await preview('past', rule)).toMatchObject({
      tasks: 3,
      spentMicroUsd: 3 * COST,
      refused: 1,
      savedMicroUsd: COST,
      warnings: 1,
    });
    expect(await preview('past', rule, COST + 1)).toMatchObject({ refused: 2 });
    const other = budgetSchema.parse({ scope: 'agent', of: 'another', per: 'total', hardMicroUsd: 0 });
    expect(await preview('past', other)).toMatchObject({ tasks: 3, refused: 0 });
  });

  it('is in the preview of a budget for tasks together with what delegated it, and by key', async () => {
    const root = await run('trees', { keyId: 'key_a' });
    await run('trees', { parentTaskId: await run('trees', { parentTaskId: root }) });
    await run('trees');
    expect(await Promise.all([refusedBy('task'), refusedBy('task', root), refusedBy('key'), refusedBy('key', 'key_b')])).toEqual([
      2, 2, 2, 0,
    ]);
  });

  it('is not released while the budget is used up', async () => {
    await put('still', 0, { atHard: 'pause' });
    const id = await submit('still');
    await untilIt('still', id, ({ state }) => state.hold !== undefined);
    expect(await releaseByBudgets(parts.ledger, parts.budgets, 'still', 100)).toBe(0);
    await parts.budgets.remove('still', 'all');
    expect(await releaseByBudgets(parts.ledger, parts.budgets, 'still', 100)).toBe(1);
    await untilIt('still', id, ({ state }) => state.status === 'completed');
  });
});
