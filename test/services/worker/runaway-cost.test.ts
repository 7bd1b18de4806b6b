import { describe, expect, it } from 'vitest';
import type { AgentFunction } from '#shared/config/define-config.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { retryTask } from '#shared/queue/tickets/change-waiting-task.ts';
import type { TaskState } from '#shared/tasks/task-state.ts';
import { useParts } from '../../support/use-parts.ts';
import { useWorker } from '../../support/use-worker.ts';
import { awaitEnd } from '../../support/agents/await-task.ts';

const TENANT = 'default';
const COST = 600;
const MAX_COST = 1000;

const MAX_TOKENS = 100;
const tokens = { model: 'without-a-price', inputTokens: 40, outputTokens: 20 };

const reads: AgentFunction = () => Promise.resolve({ output: 'done', usage: tokens });
/** Goes on until it is stopped. */
const devours: AgentFunction = async (_task, { reportUsage, signal }) => {
  const stopped = new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
  reportUsage(tokens);
  reportUsage(tokens);
  await stopped;
};
const buys: AgentFunction = () => Promise.resolve({ output: 'done', usage: { inputTokens: 1, outputTokens: 1, costMicroUsd: COST } });

const parts = await useParts({
  agents: { buys: { kind: 'function', run: buys }, reads: { kind: 'function', run: reads }, devours: { kind: 'function', run: devours } },
  runaways: { maxCostMicroUsd: MAX_COST, maxTokens: MAX_TOKENS },
});
await useWorker(parts);

const submit = async (parentTaskId?: string, agent = 'buys'): Promise<string> =>
  (await acceptTask(parts, { tenant: TENANT, agent, input: 'x', ...(parentTaskId === undefined ? {} : { parentTaskId }) })).id;

const ended = async (id: string): Promise<TaskState> => (await awaitEnd(parts, id, TENANT)).state;

const noticesOf = async (...fields: string[]): Promise<number> => {
  const entries = await parts.redis.xrange(parts.keys.tenant(TENANT).events, '-', '+');
  return entries.filter(([, found]) => fields.every((field) => found.includes(field))).length;
};
const notices = async (root: string): Promise<number> => await noticesOf('task.runaway', root);

describe('a task that with what it leads to costs too much', () => {
  it('is cut: what waits fails without running, no more is accepted, and a retry by a person starts a new count', async () => {
    const root = await submit();
    expect(await ended(root)).toMatchObject({ status: 'completed' });
    expect(await ended(await submit(root))).toMatchObject({ status: 'completed' });
    const late = await submit(root);
    const reason = `Runaway: task ${root} and what it led to cost $0.0012, and may cost $0.0010: buys > buys (1 delegations below task ${root})`;
    expect(await ended(late)).toMatchObject({
      status: 'permanently_failed',
      error: { code: 'RUNAWAY', message: reason, retryable: false },
    });
    await expect(submit(root)).rejects.toMatchObject({ code: 'task.runaway', message: reason });
    expect(await notices(root)).toBe(1);
    expect(await noticesOf('budget.exceeded')).toBe(0);
    expect(await ended(await submit())).toMatchObject({ status: 'completed' });
    expect(await retryTask(parts, TENANT, late)).toMatchObject({ kind: 'reopened' });
    expect(await ended(late)).toMatchObject({ status: 'completed' });
    expect(await ended(await submit(root))).toMatchObject({ status: 'completed' });
  });
});

describe('a task that with what it leads to uses too many tokens', () => {
  it('is cut: what waits fails without running, no more is accepted, and a retry by a person starts a new count', async () => {
    const root = await submit(undefined, 'reads');
    expect(await ended(root)).toMatchObject({ status: 'completed' });
    expect(await ended(await submit(root, 'reads'))).toMatchObject({ status: 'completed' });
    const late = await submit(root, 'reads');
    const reason = `Runaway: task ${root} and what it led to used 120 tokens, and may use 100: reads > reads (1 delegations below task ${root})`;
    expect(await ended(late)).toMatchObject({ status: 'permanently_failed', error: { code: 'RUNAWAY', message: reason } });
    await expect(submit(root, 'reads')).rejects.toMatchObject({ code: 'task.runaway', message: reason });
    expect(await retryTask(parts, TENANT, late)).toMatchObject({ kind: 'reopened' });
    expect(await ended(late)).toMatchObject({ status: 'completed' });
  });

  it('is stopped by the report that uses up the last of them', async () => {
    const root = await submit(undefined, 'devours');
    expect(await ended(root)).toMatchObject({
      status: 'permanently_failed',
      error: { code: 'RUNAWAY', message: expect.stringContaining('used 120 tokens') as string },
      spent: 1,
    });
  });
});
