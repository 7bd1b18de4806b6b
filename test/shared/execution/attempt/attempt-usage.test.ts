import { describe, expect, it, vi } from 'vitest';
import type { AgentFunction } from '#shared/config/define-config.ts';
import { expireLease } from '#shared/execution/leases/expire-lease.ts';
import { cancelTask } from '#shared/ledger/change-task.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { usageDay } from '#shared/tasks/usage.ts';
import type { Task } from '#shared/tasks/task.ts';
import { useParts } from '../../../support/use-parts.ts';
import { useWorker } from '../../../support/use-worker.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { awaitEnd, awaitTask } from '../../../support/agents/await-task.ts';

const step = { model: 'large', inputTokens: 10, outputTokens: 1 };
const untilAborted: AgentFunction = async (_task, { signal }) =>
  await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));

const parts = await useParts({
  models: { large: { inputUsdPerMTok: 1, outputUsdPerMTok: 1 } },
  agents: {
    fails: {
      kind: 'function',
      run: (_task, { reportUsage }) => {
        reportUsage(step);
        reportUsage(step);
        throw new Error('no luck');
      },
    },
    totals: {
      kind: 'function',
      run: async (_task, { reportUsage }) => {
        reportUsage(step);
        return await Promise.resolve({ output: 'done', usage: { ...step, inputTokens: 15 } });
      },
    },
    digs: { kind: 'function', run: () => Promise.resolve({ result: JSON.parse(`${'['.repeat(600)}${']'.repeat(600)}`), usage: step }) },
    lies: { kind: 'function', run: (_task, { reportUsage }) => Promise.resolve(reportUsage({ inputTokens: -1, outputTokens: 0 })) },
    waits: {
      kind: 'function',
      run: async (task, context) => {
        context.reportUsage(step);
        return await untilAborted(task, context);
      },
    },
  },
});
await useWorker(parts);

const submit = async (agent: string): Promise<string> =>
  (await acceptTask(parts, { tenant: 'default', agent, input: 'x', execution: { maxAttempts: 1 } })).id;

const ended = (id: string): Promise<Task> => awaitEnd(parts, id);

/** Until what it reported is with the ledger. */
async function reported(id: string): Promise<Task> {
  const { runningUsage } = parts.keys.tenant('default');
  await waitFor(async () => await parts.redis.hexists(runningUsage, `${id}:1`), { deadlineMs: 10_000, what: 'the report' });
  return await awaitTask(parts, { id }, ({ state }) => state.status === 'running', 'its run');
}

const rowOf = async (agent: string): Promise<string | undefined> =>
  (await parts.redis.hgetall(parts.keys.tenant('default').usageDay(usageDay(Date.now()))))[`${agent}|api|large`];

describe('what an agent reports that it used', () => {
  it('counts when its attempt fails', async () => {
    const { state, attempts } = await ended(await submit('fails'));
    expect(state).toMatchObject({ status: 'permanently_failed', usage: { inputTokens: 20, outputTokens: 2, costMicroUsd: 22 } });
    expect(attempts).toMatchObject([{ status: 'failed', usage: { byModel: { large: { costMicroUsd: 22 } } } }]);
    expect(await rowOf('fails')).toBe('20 2 0 0 22 0 0 0 1');
  });

  it('is replaced by the total of its answer', async () => {
    expect((await ended(await submit('totals'))).state.usage).toMatchObject({ inputTokens: 15, costMicroUsd: 16 });
    expect(await rowOf('totals')).toBe('15 1 0 0 16 0 0 0 1');
  });

  it('counts when its answer cannot be kept', async () => {
    expect((await ended(await submit('digs'))).state).toMatchObject({ error: { code: 'AGENT_ERROR' }, usage: { costMicroUsd: 11 } });
    expect(await rowOf('digs')).toBe('10 1 0 0 11 0 0 0 1');
  });

  it('fails the attempt when it is no usage', async () => {
    expect((await ended(await submit('lies'))).state.error).toMatchObject({
      code: 'AGENT_ERROR',
      message: expect.stringContaining('inputTokens'),
    });
  });

  it('counts when its attempt is cancelled, and once when it was taken back before', async () => {
    const id = await submit('waits');
    const { state } = await reported(id);
    const place = { tenant: 'default', id, lane: state.lane ?? null };
    const attemptEnded = vi.spyOn(parts.ledger.counts, 'attemptEnded');
    expect(await expireLease(parts.ledger, { ...place, token: 1 }, { blame: 'cleared', isGone: true })).toBe('requeued');
    expect(attemptEnded.mock.calls.map(([, , counted]) => counted)).toMatchObject([
      { result: 'interrupted', code: 'WORKER_LOST', usage: { costMicroUsd: 11 } },
    ]);
    expect(await rowOf('waits')).toBe('10 1 0 0 11 0 1 0 1');
    await awaitTask(parts, { id }, (task) => task.state.token === 2 && task.state.status === 'running', 'its second attempt');
    await waitFor(async () => await parts.redis.hexists(parts.keys.tenant('default').runningUsage, `${id}:2`), {
      deadlineMs: 10_000,
      what: 'the report',
    });
    await cancelTask(parts.ledger, place, 'enough');
    const { state: end, attempts } = await ended(id);
    expect(end).toMatchObject({ status: 'cancelled', usage: { inputTokens: 20, costMicroUsd: 22, isEstimated: true } });
    expect(attempts.map(({ usage }) => usage?.isEstimated ?? false)).toEqual([true, false]);
    expect(await rowOf('waits')).toBe('20 2 0 0 22 0 1 0 2');
    expect(await parts.redis.hlen(parts.keys.tenant('default').runningUsage)).toBe(0);
  });
});
