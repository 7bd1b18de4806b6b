import { afterAll, expect, it } from 'vitest';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import type { AcceptRequest } from '#shared/queue/accept/request.ts';
import { findUnservedQueues, type QueueNotice } from '#shared/queue/registry/unserved-queues.ts';
import { applyClosedQueues, isHeldForWorker } from '#shared/queue/tickets/closed-queues.ts';
import { explainWait } from '#shared/queue/why/explain-wait.ts';
import { createWorkerService } from '../../../../services/worker/create-worker-service.ts';
import { awaitEnd } from '../../../support/agents/await-task.ts';
import { closeAfterTests } from '../../../support/close-after-tests.ts';
import { openTestParts } from '../../../support/open-test-parts.ts';
import { useRedis } from '../../../support/redis/use-redis.ts';
import { waitFor } from '../../../support/wait-for.ts';

const TENANT = 'capped';
const { url: redisUrl } = await useRedis();
const settings = {
  agents: { echo: { kind: 'echo' as const } },
  limits: { tenants: { [TENANT]: { running: 2 } } },
  worker: { heartbeatIntervalMs: 200 },
};
/** What starts is of normal priority, which has the queue `tasks`; that of low priority has the queue `background`. */
const parts = closeAfterTests(await openTestParts({ redisUrl, settings, env: { MUSTER_QUEUES: 'tasks=4' } }));
const later = closeAfterTests(await openTestParts({ redisUrl, settings, env: { MUSTER_QUEUES: 'background=1' } }));
const worker = createWorkerService(parts);
await worker.start();
afterAll(() => worker.stop(1000));

async function submit(request: Partial<AcceptRequest> = {}): Promise<string> {
  return (await acceptTask(parts, { tenant: TENANT, agent: 'echo', input: 'x', ...request })).id;
}

async function notices(): Promise<QueueNotice[]> {
  return await findUnservedQueues({ ...parts, isHeld: (queue) => isHeldForWorker(parts, queue) });
}

await parts.tenants.create(TENANT, { name: TENANT, disabled: false, limits: null, createdAt: 1 });

it('tasks of a queue that no worker serves leave their places to others, and go on when one does', async () => {
  const low = [await submit({ priority: 'low' }), await submit({ priority: 'low' }), await submit({ priority: 'low' })];
  const others = [await submit(), await submit()];
  const isHeld = async (): Promise<boolean> => (await applyClosedQueues(parts, [TENANT])).held > 0;
  await waitFor(isHeld, { deadlineMs: 20_000, what: 'tasks of the unserved queue to be held' });
  for (const id of others) expect((await awaitEnd(parts, id, TENANT)).state.status).toBe('completed');
  await applyClosedQueues(parts, [TENANT]);
  for (const id of low) {
    const task = await readTask(parts.ledger, TENANT, id);
    if (!task) throw new Error(`There is no task ${id}`);
    expect(task.state).toMatchObject({ status: 'queued', gate: 'worker', attempt: 0 });
    const { reasons } = await explainWait(parts, { ...task, attempts: [] });
    expect(reasons).toMatchObject([{ gate: 'worker', detail: 'no worker serves the queue "background"' }]);
  }
  // Operators are still notified of it: it is no recovery that its tickets have gone.
  expect(await notices()).toEqual([]);
  expect(Object.keys(await parts.redis.hgetall(parts.keys.fleet.unservedQueues)).toSorted()).toEqual(['background', 'background notified']);

  const other = createWorkerService(later);
  await other.start();
  try {
    const isReleased = async (): Promise<boolean> => (await applyClosedQueues(parts, [TENANT])).released > 0;
    await waitFor(isReleased, { deadlineMs: 20_000, what: 'the held tasks to go on' });
    for (const id of low) expect((await awaitEnd(parts, id, TENANT)).state).toMatchObject({ status: 'completed', attempt: 1 });
  } finally {
    await other.stop(1000);
  }
});
