import { afterEach, describe, expect, it } from 'vitest';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import type { Parts } from '#shared/lifecycle/open-parts.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { listWorkers, requestDrain, type WorkerRecord } from '#shared/queue/registry/worker-registry.ts';
import type { WorkerService } from '../../../services/worker/worker-service.ts';
import { createWorkerService } from '../../../services/worker/create-worker-service.ts';
import { useEmptyParts } from '../../support/use-parts.ts';
import { waitFor } from '../../support/wait-for.ts';

const parts = await useEmptyParts({ worker: { heartbeatIntervalMs: 100, deadHeartbeatThreshold: 100 } });
const fleet = { redis: parts.redis, keys: parts.keys, settings: parts.config.settings };
const running: Pick<WorkerService, 'stop'>[] = [];

afterEach(async () => {
  for (const worker of running.splice(0)) await worker.stop(1000);
});

/** Starts a worker. Returns its id. */
async function start(changes: Partial<Parts> = {}): Promise<string> {
  const worker = createWorkerService({ ...parts, ...changes });
  await worker.start();
  running.push(worker);
  return (await recordIs(() => true, 'the first heartbeat')).id;
}

async function submit(paceMs: number): Promise<string> {
  return (await acceptTask(parts, { tenant: 'default', agent: 'echo', input: 'a b', context: { paceMs } })).id;
}

const hasStatus = (id: string, status: string): Promise<boolean> =>
  waitFor(async () => (await readTask(parts.ledger, 'default', id))?.state.status === status, { deadlineMs: 10_000, what: status });

const recordIs = (fits: (record: WorkerRecord) => boolean, what: string): Promise<WorkerRecord> =>
  waitFor(async () => (await listWorkers(fleet)).find(fits), { deadlineMs: 10_000, what });

describe('a worker whose drain is requested', () => {
  it('lets its task end, takes no other, and reports once that it has done its work', async () => {
    let finished = 0;
    const worker = await start({ finish: () => (finished += 1) });
    const task = await submit(1500);
    await hasStatus(task, 'running');
    await recordIs(({ running: count }) => count === 1, 'the attempt in the record');
    await requestDrain(fleet, worker);
    await recordIs(({ status, drainRequestedAt }) => status === 'draining' && drainRequestedAt !== null, 'the drain');
    expect(finished).toBe(0);
    const later = await submit(0);
    await hasStatus(task, 'completed');
    await waitFor(() => finished > 0, { deadlineMs: 5000, what: 'the end of its work' });
    expect((await readTask(parts.ledger, 'default', later))?.state.status).toBe('queued');
    // Each heartbeat finds the request again.
    const { lastBeatAt } = await recordIs(() => true, 'its record');
    await recordIs((record) => record.lastBeatAt > lastBeatAt, 'another heartbeat');
    expect(finished).toBe(1);
  });

  it('stays and takes nothing where other services go on in its process', async () => {
    const worker = await start();
    await requestDrain(fleet, worker);
    await recordIs(({ status }) => status === 'draining', 'the drain');
    const task = await submit(0);
    const { lastBeatAt } = await recordIs(() => true, 'its record');
    await recordIs((record) => record.lastBeatAt > lastBeatAt && record.status === 'draining', 'another heartbeat');
    expect((await readTask(parts.ledger, 'default', task))?.state.status).toBe('queued');
  });
});
