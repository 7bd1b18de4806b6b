import { afterEach, describe, expect, it } from 'vitest';
import type { AgentFunction } from '#shared/config/define-config.ts';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import type { AcceptRequest } from '#shared/queue/accept/request.ts';
import { explainWait } from '#shared/queue/why/explain-wait.ts';
import { taskRecord } from '#shared/tasks/task-record.ts';
import type { Task } from '#shared/tasks/task.ts';
import { applyAllLimits } from '../../../services/worker/chores/worker-chores.ts';
import { useParts } from '../../support/use-parts.ts';
import { useWorker } from '../../support/use-worker.ts';
import { waitFor } from '../../support/wait-for.ts';

const TENANT = 'default';
const running = new Map<string, () => void>();

/** Runs until the test finishes it, or it is aborted. */
const held: AgentFunction = (task, { signal }) =>
  new Promise((resolve, reject) => {
    running.set(task.id, () => resolve('done'));
    signal.addEventListener('abort', () => reject(signal.reason as Error));
  });

const parts = await useParts({
  agents: { held: { kind: 'function', run: held }, single: { kind: 'function', run: held, maxRunning: 1 } },
  limits: { tenants: { [TENANT]: { running: 1, runningByClass: {} } } },
});
await useWorker(parts);

const accept = async (request: Partial<AcceptRequest>): Promise<string> =>
  (await acceptTask(parts, { tenant: TENANT, agent: 'held', input: 'x', ...request })).id;

const read = async (id: string): Promise<Task> => (await readTask(parts.ledger, TENANT, id)) as Task;

async function runs(id: string): Promise<void> {
  await waitFor(() => running.has(id), { deadlineMs: 15_000, what: `the start of ${id}` });
}

/** Lets what runs end, and awaits that. */
async function finish(id: string): Promise<void> {
  running.get(id)?.();
  running.delete(id);
  await waitFor(async () => (await read(id)).state.status === 'completed', { deadlineMs: 15_000, what: `the end of ${id}` });
}

afterEach(() => running.clear());

describe('a critical task at the cap of its tenant', () => {
  it('runs at once in place of a low one, which starts again at the price of no attempt', async () => {
    const low = await accept({ priority: 'low' });
    await runs(low);
    running.delete(low);
    const critical = await accept({ priority: 'critical' });
    await runs(critical);
    expect(taskRecord(await read(low))).toMatchObject({ status: 'queued', preemptedBy: critical, attempt: 1 });
    const { reasons } = await explainWait(parts, await read(low));
    expect(reasons).toMatchObject([{ gate: 'cap' }]);
    await finish(critical);
    await runs(low);
    await finish(low);
    expect((await read(low)).attempts.map(({ number, status }) => [number, status])).toEqual([
      [1, 'interrupted'],
      [1, 'success'],
    ]);
  });

  it('is found by the chore when whoever accepted it died before it made room', async () => {
    const low = await accept({ priority: 'low' });
    await runs(low);
    running.delete(low);
    const { settings } = parts.ledger;
    const limits = { ...settings.limits, preemption: { ...settings.limits.preemption, enabled: false } };
    const died = { ...parts, ledger: { ...parts.ledger, settings: { ...settings, limits } } };
    const { id: critical } = await acceptTask(died, { tenant: TENANT, agent: 'held', input: 'x', priority: 'critical' });
    await applyAllLimits(parts);
    await runs(critical);
    expect((await read(low)).state.preemptedBy).toBe(critical);
    await finish(critical);
    await runs(low);
    await finish(low);
  });
});

it('a critical task that the cap of its agent stops runs at once in place of a low one, of a tenant without caps too', async () => {
  const request = { tenant: 'free', agent: 'single', input: 'x' };
  const submit = async (priority: 'low' | 'critical'): Promise<string> => (await acceptTask(parts, { ...request, priority })).id;
  const recordOf = async (id: string): Promise<ReturnType<typeof taskRecord>> =>
    taskRecord((await readTask(parts.ledger, 'free', id)) as Task);
  const low = await submit('low');
  await runs(low);
  running.delete(low);
  const critical = await submit('critical');
  await runs(critical);
  expect(await recordOf(low)).toMatchObject({ status: 'queued', preemptedBy: critical, attempt: 1 });
  const { reasons } = await explainWait(parts, (await readTask(parts.ledger, 'free', low)) as Task);
  expect(reasons).toMatchObject([{ gate: 'lane', taskId: critical }]);
  running.get(critical)?.();
  await runs(low);
  running.get(low)?.();
  await waitFor(async () => (await recordOf(low)).status === 'completed', { deadlineMs: 15_000, what: 'the end of the low task' });
});
