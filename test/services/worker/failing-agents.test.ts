import { describe, expect, it } from 'vitest';
import type { AgentFunction } from '#shared/config/define-config.ts';
import { TaskFailure } from '#shared/errors/task-failure.ts';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import { forgetFailures } from '#shared/ledger/settle/agent-failures.ts';
import { releaseIfResumed } from '#shared/ledger/settle/agent-starts.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { retryTask } from '#shared/queue/tickets/change-waiting-task.ts';
import { explainWait } from '#shared/queue/why/explain-wait.ts';
import type { TaskState } from '#shared/tasks/task-state.ts';
import { useEmptyParts } from '../../support/use-parts.ts';
import { useWorker } from '../../support/use-worker.ts';
import { waitFor } from '../../support/wait-for.ts';
import { awaitEndOrHold } from '../../support/agents/await-task.ts';

const TENANT = 'default';
const MAX_FAILURES = 3;

/** Fails with the code that its input names, as long as it names one. */
let isRepaired = false;
const moody: AgentFunction = ({ input }) => {
  if (input === 'well' || isRepaired) return Promise.resolve('done');
  return Promise.reject(new TaskFailure(input, 'out of order'));
};

const parts = await useEmptyParts({
  agents: { moody: { kind: 'function', run: moody }, other: { kind: 'function', run: moody } },
  runaways: { maxFailures: MAX_FAILURES },
});
await useWorker(parts);

const submit = async (input: string, agent = 'moody'): Promise<string> =>
  (await acceptTask(parts, { tenant: TENANT, agent, input, execution: { maxAttempts: 1 } })).id;

const settled = async (id: string): Promise<TaskState> => (await awaitEndOrHold(parts, id, TENANT)).state;

const run = async (input: string, agent?: string): Promise<TaskState> => await settled(await submit(input, agent));

/** Reads at once what others learn within a second. */
const submitAndForget = async (input: string): Promise<string> => {
  parts.ledger.working.delete(`${TENANT}/moody`);
  return await submit(input);
};

const notices = async (): Promise<unknown[]> => {
  const entries = await parts.redis.xrange(parts.keys.tenant(TENANT).events, '-', '+');
  const held = entries.map(([, fields]) => fields).filter((fields) => fields.includes('agent.held'));
  return held.map((fields) => JSON.parse(fields[fields.indexOf('about') + 1] ?? '') as unknown);
};

describe('an agent that fails again and again', () => {
  it('has its tasks held after so many failures in a row, with one notification, until a person retries one', async () => {
    isRepaired = false;
    const other = await submit('BROKEN', 'other');
    await settled(other);
    let last = '';
    for (let failures = 0; failures < MAX_FAILURES; failures += 1) {
      last = await submit('BROKEN');
      expect(await settled(last)).toMatchObject({ status: 'permanently_failed', error: { code: 'BROKEN' } });
    }
    const held = [await submitAndForget('BROKEN'), await submitAndForget('well')];
    for (const id of held) {
      expect(await settled(id)).toMatchObject({ status: 'queued', gate: 'failures', spent: 0, error: { code: 'RUNAWAY' } });
    }
    expect(await notices()).toEqual([{ agent: 'moody', failures: MAX_FAILURES, code: 'BROKEN', taskId: last }]);
    const waiting = await readTask(parts.ledger, TENANT, held[0] ?? '');
    if (!waiting) throw new Error('The held task is gone');
    const { gates } = await explainWait(parts, waiting);
    expect(gates[0]).toMatchObject({
      gate: 'failures',
      detail: expect.stringContaining(`3 tasks of the agent moody failed in a row, the last one (${last}) with BROKEN`),
      facts: { agent: 'moody', failures: MAX_FAILURES, held: 2 },
    });
    expect(await run('well', 'other')).toMatchObject({ status: 'completed' });
    isRepaired = true;
    expect(await retryTask(parts, TENANT, last)).toMatchObject({ kind: 'reopened' });
    for (const id of [last, ...held]) {
      const ended = await waitFor(
        async () => {
          const state = (await readTask(parts.ledger, TENANT, id))?.state;
          return state?.status === 'completed' ? state : null;
        },
        { deadlineMs: 10_000, what: `${id} to complete` },
      );
      expect(ended.outcome).toEqual({ kind: 'ran' });
    }
    expect(await parts.redis.hget(parts.keys.tenant(TENANT).failing, 'moody')).toBeNull();
  });

  it('counts from 0 after a success, and no failures that are not its own', async () => {
    isRepaired = false;
    for (const input of ['BROKEN', 'BROKEN', 'well', 'BROKEN', 'INVALID_INPUT', 'BUDGET_EXCEEDED', 'BROKEN']) await run(input);
    const stored = JSON.parse((await parts.redis.hget(parts.keys.tenant(TENANT).failing, 'moody')) ?? '{}') as object;
    expect(stored).toMatchObject({ failures: 2, code: 'BROKEN' });
    expect(stored).not.toHaveProperty('heldAt');
    expect(await notices()).toEqual([]);
  });

  it('goes on also with a task that was held while a person resumed it', async () => {
    isRepaired = false;
    for (let failures = 0; failures < MAX_FAILURES; failures += 1) await run('BROKEN');
    const held = await submitAndForget('well');
    const { hold } = await settled(held);
    if (!hold) throw new Error('The task is not held');
    await releaseIfResumed(parts.ledger, TENANT, hold);
    expect(await settled(held)).toMatchObject({ gate: 'failures' });
    expect(await forgetFailures(parts.ledger, { tenant: TENANT, agent: 'moody' })).toBe(true);
    expect(await settled(held)).toMatchObject({ gate: 'failures' });
    await releaseIfResumed(parts.ledger, TENANT, hold);
    await waitFor(async () => (await readTask(parts.ledger, TENANT, held))?.state.status === 'completed', {
      deadlineMs: 10_000,
      what: 'the task to complete',
    });
  });

  it('goes on when a held task is retried', async () => {
    isRepaired = false;
    for (let failures = 0; failures < MAX_FAILURES; failures += 1) await run('BROKEN');
    const held = [await submitAndForget('well'), await submitAndForget('well')];
    for (const id of held) expect(await settled(id)).toMatchObject({ gate: 'failures' });
    await retryTask(parts, TENANT, held[1] ?? '');
    await waitFor(
      async () =>
        (await Promise.all(held.map((id) => readTask(parts.ledger, TENANT, id)))).every((task) => task?.state.status === 'completed'),
      { deadlineMs: 10_000, what: 'both to complete' },
    );
  });
});
