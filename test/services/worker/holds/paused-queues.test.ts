import { describe, expect, it } from 'vitest';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import type { AcceptRequest } from '#shared/queue/accept/request.ts';
import { countByQueue } from '#shared/queue/load/count-by-queue.ts';
import { readLoad } from '#shared/queue/load/read-load.ts';
import { applyClosedQueues } from '#shared/queue/tickets/closed-queues.ts';
import { reprioritizeTask } from '#shared/queue/tickets/change-waiting-task.ts';
import { explainWait } from '#shared/queue/why/explain-wait.ts';
import type { TaskState } from '#shared/tasks/task-state.ts';
import { awaitEnd } from '../../../support/agents/await-task.ts';
import { useEmptyParts } from '../../../support/use-parts.ts';
import { useWorker } from '../../../support/use-worker.ts';

const CAPPED = 'capped';
const parts = await useEmptyParts({
  agents: { echo: { kind: 'echo' }, narrow: { kind: 'echo', maxRunning: 1 } },
  limits: { tenants: { [CAPPED]: { running: 2 } } },
});
await useWorker(parts);

/** What starts is of low priority, which has the queue `background`. */
async function submit(request: Partial<AcceptRequest> = {}): Promise<string> {
  return (await acceptTask(parts, { tenant: CAPPED, agent: 'echo', input: 'x', ...request })).id;
}
const submitLow = async (request: Partial<AcceptRequest> = {}): Promise<string> => await submit({ priority: 'low', ...request });

async function switchBackground(action: 'pause' | 'resume'): Promise<void> {
  await parts.queues.get(0, 'background')[action]();
}

async function stateOf(id: string, tenant = CAPPED): Promise<TaskState> {
  const task = await readTask(parts.ledger, tenant, id);
  if (!task) throw new Error(`There is no task ${id}`);
  return task.state;
}

async function reasonsOf(id: string, tenant = CAPPED): Promise<unknown> {
  const task = await readTask(parts.ledger, tenant, id);
  if (!task) throw new Error(`There is no task ${id}`);
  const { reasons, gates } = await explainWait(parts, { ...task, attempts: [] });
  expect(gates.filter(({ gate }) => gate === 'paused')).toHaveLength(1);
  return reasons.map(({ gate, detail }) => [gate, detail]);
}

describe('tasks of a paused queue', () => {
  it('leave their places under the caps to others, spend no attempt, and go on when it is resumed', async () => {
    await switchBackground('pause');
    const low = [await submitLow(), await submitLow(), await submitLow()];
    const others = [await submit(), await submit()];
    await applyClosedQueues(parts, [CAPPED]);
    for (const id of others) expect((await awaitEnd(parts, id, CAPPED)).state.status).toBe('completed');
    await applyClosedQueues(parts, [CAPPED]);
    for (const id of low) {
      expect(await stateOf(id)).toMatchObject({ status: 'queued', gate: 'paused', attempt: 0 });
      expect(await reasonsOf(id)).toEqual([['paused', 'queue "background" is paused']]);
    }
    expect(countByQueue(await readLoad(parts, CAPPED)).get('background')).toMatchObject({ waiting: 3, held: 3, forSlot: 0 });
    await switchBackground('resume');
    expect(await applyClosedQueues(parts, [CAPPED])).toMatchObject({ released: 3 });
    for (const id of low) expect((await awaitEnd(parts, id, CAPPED)).state).toMatchObject({ status: 'completed', attempt: 1 });
  });

  it('leave lanes that they share, and keep that of their session', async () => {
    await switchBackground('pause');
    const tenant = 'default';
    const low = await submitLow({ tenant, agent: 'narrow', session: 's' });
    const next = await submit({ tenant, agent: 'narrow' });
    const later = await submit({ tenant, session: 's' });
    expect((await stateOf(next, tenant)).gate).toBe('lane');
    await applyClosedQueues(parts, [tenant]);
    expect((await awaitEnd(parts, next, tenant)).state.status).toBe('completed');
    expect(await stateOf(low, tenant)).toMatchObject({ gate: 'paused' });
    expect((await stateOf(later, tenant)).status).toBe('pending');
    await switchBackground('resume');
    await applyClosedQueues(parts, [tenant]);
    const ends = [await awaitEnd(parts, low, tenant), await awaitEnd(parts, later, tenant)];
    expect(ends.map(({ state }) => state.status)).toEqual(['completed', 'completed']);
    expect(ends[0]?.state.completedAt).toBeLessThanOrEqual(ends[1]?.state.startedAt ?? 0);
  });

  it('stay as they are where they take nothing from others', async () => {
    await switchBackground('pause');
    const id = await submitLow({ tenant: 'default' });
    expect(await applyClosedQueues(parts, ['default'])).toEqual({ held: 0, released: 0 });
    expect(await stateOf(id, 'default')).toMatchObject({ granted: true });
  });

  it('go on in another queue to which a higher priority takes them', async () => {
    await switchBackground('pause');
    const id = await submitLow();
    await applyClosedQueues(parts, [CAPPED]);
    expect(await stateOf(id)).toMatchObject({ gate: 'paused' });
    await reprioritizeTask(parts, CAPPED, id, { priority: 'normal' });
    expect((await awaitEnd(parts, id, CAPPED)).state).toMatchObject({ status: 'completed', queue: 'tasks' });
  });
});
