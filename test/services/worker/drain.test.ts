import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '#shared/config/define-config.ts';
import { readAttempts } from '#shared/ledger/read/read-tasks.ts';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import type { Parts } from '#shared/lifecycle/open-parts.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import type { TaskState } from '#shared/tasks/task-state.ts';
import { listWorkers, requestDrain, type WorkerRecord } from '#shared/queue/registry/worker-registry.ts';
import type { WorkerService } from '../../../services/worker/worker-service.ts';
import { createWorkerService } from '../../../services/worker/create-worker-service.ts';
import { useEmptyParts } from '../../support/use-parts.ts';
import { retryTask } from '#shared/queue/tickets/change-waiting-task.ts';
import { explainWait } from '#shared/queue/why/explain-wait.ts';
import { waitFor } from '../../support/wait-for.ts';

/** Steps that were taken, and what ends the first. */
const taken: string[] = [];
let firstStep = Promise.withResolvers<void>();

const parts = await useEmptyParts({
  agents: {
    echo: { kind: 'echo' },
    writer: defineAgent({
      name: 'writer',
      input: z.string(),
      run: async (_input, { step }) => {
        await step('draft', async () => {
          taken.push('draft');
          await firstStep.promise;
        });
        await step('publish', () => taken.push('publish'));
        return 'done';
      },
    }),
    stubborn: defineAgent({
      name: 'stubborn',
      input: z.string(),
      run: async (_input, { signal }) => {
        await once(signal, 'abort');
        throw signal.reason;
      },
    }),
  },
  worker: { heartbeatIntervalMs: 100, deadHeartbeatThreshold: 100, maxInterruptions: 2 },
});
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

const submitTo = async (agent: string): Promise<string> => (await acceptTask(parts, { tenant: 'default', agent, input: 'x' })).id;
const stateOf = async (id: string) => (await readTask(parts.ledger, 'default', id))?.state;

describe('a worker that ends', () => {
  it('hands a run with steps over at its next one, which another worker takes at once', async () => {
    firstStep = Promise.withResolvers();
    await start();
    const [first] = running;
    const id = await submitTo('writer');
    await waitFor(() => taken.length === 1, { deadlineMs: 10_000, what: 'the first step' });
    const second = createWorkerService(parts);
    await second.start();
    // Without the step it would run for all of this.
    const stopped = first?.stop(3_600_000);
    firstStep.resolve();
    await stopped;
    running.splice(0, 1, second);
    await hasStatus(id, 'completed');
    expect(taken).toEqual(['draft', 'publish']);
    expect(await stateOf(id)).toMatchObject({ attempt: 1, spent: 1 });
    expect(await stateOf(id)).not.toHaveProperty('interruptions');
    const attempts = (await readAttempts(parts.ledger, 'default', id)) ?? [];
    expect(attempts.map(({ number, status }) => `${number} ${status}`)).toEqual(['1 interrupted', '1 success']);
  });

  it('interrupts a run only so often before that is held until a person retries it', async () => {
    const id = await submitTo('stubborn');
    const interrupt = async (): Promise<void> => {
      await start();
      await hasStatus(id, 'running');
      await running.splice(0)[0]?.stop(0);
    };
    const explain = async () => {
      const task = await readTask(parts.ledger, 'default', id);
      return await explainWait(parts, { body: { id, tenant: 'default' }, state: task?.state as TaskState, attempts: [] });
    };
    await interrupt();
    expect(await stateOf(id)).toMatchObject({ status: 'queued', interruptions: 1, spent: 0 });
    expect((await explain()).interruptions).toBe(1);
    await interrupt();
    expect(await stateOf(id)).toMatchObject({ status: 'queued', gate: 'interruptions', spent: 0 });
    const { reasons, gates } = await explain();
    expect(reasons).toMatchObject([{ gate: 'interruptions', detail: expect.stringMatching(/too often in a row/), until: null }]);
    expect(gates[0]?.helps).toMatch(/^Retry it/);
    await retryTask(parts, 'default', id);
    await interrupt();
    expect(await stateOf(id)).toMatchObject({ status: 'queued', interruptions: 1 });
    expect(await stateOf(id)).not.toHaveProperty('gate');
  });
});
