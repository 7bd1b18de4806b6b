import { generateText } from 'ai';
import { afterAll, describe, expect, it } from 'vitest';
import type { AgentFunction } from '#shared/config/define-config.ts';
import { budgetSchema } from '#shared/config/settings/budget-settings.ts';
import { readSpending } from '#shared/budgets/read-spending.ts';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { readUsageGroups } from '#shared/usage/read-usage.ts';
import type { Task } from '#shared/tasks/task.ts';
import { isTerminal, type TaskStatus } from '#shared/tasks/transitions.ts';
import { testEnvironment } from '../../../support/test-environment.ts';
import { openTestParts } from '../../../support/open-test-parts.ts';
import { closeAfterTests } from '../../../support/close-after-tests.ts';
import { startFakeHttpEndpoint } from '../../../support/fake-http-endpoint.ts';
import { useRedis } from '../../../support/redis/use-redis.ts';
import { useWorker } from '../../../support/use-worker.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { awaitEndOrHold } from '../../../support/agents/await-task.ts';
import { answerCompletion } from '../../../support/agents/chat-completion.ts';

/** Of one call of the dear model: 100 tokens in and 100 out, a millionth of a dollar each. */
const COST = 200;
const usage = { prompt_tokens: 100, completion_tokens: 100, total_tokens: 200 };

const SLOW = 'take your time';
const endpoint = await startFakeHttpEndpoint((response) => {
  const isSlow = endpoint.requests.at(-1)?.body.includes(SLOW) === true;
  setTimeout(() => answerCompletion(response, usage), isSlow ? 100 : 0);
});
afterAll(() => endpoint.close());

/** Calls the dear model three times. */
const asks: AgentFunction = async ({ input }, { model }) => {
  for (let call = 0; call < 3; call += 1) await generateText({ model: model('dear'), prompt: input, maxOutputTokens: 100 });
  return 'done';
};

/** Calls it once without a bound of its own, at $15 a million tokens of output. */
const asksAtLength: AgentFunction = async ({ input }, { model }) => {
  await generateText({ model: model('long'), prompt: input });
  return 'done';
};

/** Calls it once, which can cost five times what it does. */
const asksOnce: AgentFunction = async ({ input }, { model }) => {
  await generateText({ model: model('dear'), prompt: input, maxOutputTokens: 5 * COST });
  return 'done';
};

const { url } = await useRedis();
const parts = closeAfterTests(
  await openTestParts({
    redisUrl: url,
    env: { OPENAI_BASE_URL: `${endpoint.url}/v1` },
    settings: {
      agents: {
        asks: { kind: 'function', run: asks },
        'asks-once': { kind: 'function', run: asksOnce },
        'at-length': { kind: 'function', run: asksAtLength },
      },
      models: {
        dear: { inputUsdPerMTok: 1, outputUsdPerMTok: 1 },
        cheap: { inputUsdPerMTok: 0.1, outputUsdPerMTok: 0.1 },
        long: { inputUsdPerMTok: 0, outputUsdPerMTok: 15 },
      },
    },
  }),
);
await useWorker(parts);

const run = async (tenant: string, rule: object): Promise<{ task: Task; models: unknown[] }> => {
  const before = endpoint.requests.length;
  await parts.budgets.put(tenant, 'all', budgetSchema.parse({ scope: 'tenant', per: 'total', ...rule }));
  const { id } = await acceptTask(parts, { tenant, agent: 'asks', input: 'x' });
  const task = await awaitEndOrHold(parts, id, tenant);
  return { task, models: endpoint.requests.slice(before).map(({ body }) => (JSON.parse(body) as { model: string }).model) };
};

const spent = async (tenant: string): Promise<object | null> => {
  const [budget] = await parts.budgets.of(tenant);
  return budget === undefined ? null : await readSpending(parts, tenant, budget);
};

const readAll = async (tenant: string, ids: readonly string[]): Promise<string[]> =>
  await Promise.all(ids.map(async (id) => (await readTask(parts.ledger, tenant, id))?.state.status ?? ''));

/** From yesterday, should a day turn meanwhile. */
const today = (): { groupBy: 'model'; since: number; until: number } => {
  const until = Date.now();
  return { groupBy: 'model', since: until - 86_400_000, until };
};

describe('a budget inside of a run', () => {
  it('denies the call that it has no room for, and counts each call that was made once', async () => {
    const { task, models } = await run('denied', { hardMicroUsd: 2 * COST });
    expect(models).toEqual(['dear', 'dear']);
    expect(task.state).toMatchObject({
      status: 'permanently_failed',
      error: { code: 'BUDGET_EXCEEDED' },
      usage: { costMicroUsd: 2 * COST },
    });
    expect(await spent('denied')).toMatchObject({ spentMicroUsd: 2 * COST, reservedMicroUsd: 0 });
  });

  it('holds the task where it pauses', async () => {
    const { task } = await run('paused', { hardMicroUsd: COST, atHard: 'pause' });
    expect(task.state).toMatchObject({ status: 'queued', gate: 'budget', hold: { gate: 'budget' } });
  });

  it('leaves the named model where it downgrades, which may pass the line and counts', async () => {
    const { task, models } = await run('downgraded', { hardMicroUsd: COST, atHard: 'downgrade', downgradeTo: 'cheap' });
    expect(models).toEqual(['dear', 'cheap', 'cheap']);
    expect(task.state).toMatchObject({ status: 'completed', usage: { costMicroUsd: COST + (2 * COST) / 10 } });
    const [attempt] = task.attempts;
    expect(attempt).toMatchObject({
      status: 'success',
      model: 'cheap',
      notes: [expect.stringMatching(/^dear: .*"all".*; cheap was called instead$/)],
    });
    expect(await spent('downgraded')).toMatchObject({ spentMicroUsd: COST + (2 * COST) / 10 });
    const { items } = await readUsageGroups({ ...parts, settings: parts.config.settings }, { ...today(), tenants: ['downgraded'] });
    expect(Object.fromEntries(items.map(({ group, calls }) => [group, calls]))).toEqual({ dear: 1, cheap: 2 });
  });

  it('starts as many of the held tasks as fit whenever a call leaves room, each of them held once', async () => {
    const [tasks, together] = [12, 3];
    const hardMicroUsd = (together + 0.5) * 5 * COST;
    await parts.budgets.put('fitting', 'all', budgetSchema.parse({ scope: 'tenant', per: 'total', atHard: 'pause', hardMicroUsd }));
    const accepted = await Promise.all(
      Array.from({ length: tasks }, () => acceptTask(parts, { tenant: 'fitting', agent: 'asks-once', input: SLOW })),
    );
    const read = async (): Promise<(Task | null)[]> => await Promise.all(accepted.map(({ id }) => readTask(parts.ledger, 'fitting', id)));
    const areDone = async (): Promise<boolean> => (await read()).every((task) => task?.state.status === 'completed');
    await waitFor(areDone, { deadlineMs: 20_000, what: 'all tasks to have had their call' });
    const holds = (await read()).map((task) => task?.state.holds ?? 0);
    expect(holds.reduce((total, count) => total + count, 0)).toBeLessThanOrEqual(tasks);
    expect(await spent('fitting')).toMatchObject({ spentMicroUsd: tasks * COST, reservedMicroUsd: 0, held: 0 });
  });

  it('ends or denies each of many tasks where it denies: none is held once no call goes on that could leave it room', async () => {
    for (let round = 0; round < (testEnvironment.isChaos ? 20 : 1); round += 1) {
      const tenant = `denying-${round}`;
      await parts.budgets.put(tenant, 'all', budgetSchema.parse({ scope: 'tenant', per: 'day', hardMicroUsd: 8 * COST }));
      const wish = { tenant, agent: 'asks-once', input: SLOW } as const;
      const accepted = await Promise.all(Array.from({ length: 60 }, () => acceptTask(parts, wish)));
      const ids = accepted.map(({ id }) => id);
      const areOver = async (): Promise<boolean> => (await readAll(tenant, ids)).every((status) => isTerminal(status as TaskStatus));
      await waitFor(areOver, { deadlineMs: 15_000, what: 'all tasks to have had their call or to be denied' });
      expect(await spent(tenant)).toMatchObject({ reservedMicroUsd: 0, held: 0 });
    }
  }, 300_000);

  it.each(['pause', 'deny'])('has room for many calls whose bound alone would not fit, where it says %s', async (atHard) => {
    const tenant = `small-${atHard}`;
    await parts.budgets.put(tenant, 'all', budgetSchema.parse({ scope: 'tenant', per: 'day', hardMicroUsd: 60_000, atHard }));
    const accepted = await Promise.all(Array.from({ length: 13 }, () => acceptTask(parts, { tenant, agent: 'at-length', input: 'x' })));
    const read = async (): Promise<string[]> =>
      await Promise.all(accepted.map(async ({ id }) => (await readTask(parts.ledger, tenant, id))?.state.status ?? ''));
    await waitFor(async () => (await read()).every((status) => status === 'completed'), { deadlineMs: 20_000, what: 'all to be done' });
    expect(await spent(tenant)).toMatchObject({ spentMicroUsd: 13 * 1500, reservedMicroUsd: 0 });
  });
});
