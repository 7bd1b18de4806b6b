import { describe, expect, it } from 'vitest';
import { claimTask } from '#shared/ledger/claim/claim-task.ts';
import { listPressed, updatePressure } from '#shared/ledger/tenants/depth.ts';
import { listTasks } from '#shared/ledger/search/list-tasks.ts';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import { createLog } from '#shared/log/create-log.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { cancelTree } from '#shared/queue/tickets/cancel-tree.ts';
import { watchPressure } from '../../../services/worker/chores/watch-pressure.ts';
import { createWorkerService } from '../../../services/worker/create-worker-service.ts';
import { waitFor } from '../../support/wait-for.ts';
import { useParts } from '../../support/use-parts.ts';

const parts = await useParts({
  worker: { leaseMs: 500, orphanCheckIntervalMs: 100 },
  limits: { backpressure: { warningDepth: 5, criticalDepth: 500 } },
});

async function notified(group: string): Promise<[event: string | undefined, what: string | undefined][]> {
  const entries = await parts.redis.xrange(parts.keys.tenant('default').events, '-', '+');
  return entries.filter(([, fields]) => fields[1]?.startsWith(group)).map(([, fields]) => [fields[1], fields[3]]);
}

describe('operators', () => {
  it('are notified of workers that start, drain and stop, and once of one that is lost with several tasks', async () => {
    for (const input of ['one', 'two']) {
      const { id } = await acceptTask(parts, { tenant: 'default', agent: 'echo', input });
      await claimTask(parts.ledger, { tenant: 'default', id, lane: null }, 'gone-1');
    }
    const worker = createWorkerService(parts);
    await worker.start();
    const leases = parts.keys.shard(0).leases;
    await waitFor(async () => (await notified('fleet.worker.lost')).length > 0 && (await parts.redis.zcard(leases)) === 0, {
      deadlineMs: 8000,
      what: 'both tasks to be taken back',
    });
    await worker.stop(1000);
    const events = await notified('fleet.');
    const own = events.find(([event]) => event === 'fleet.worker.started')?.[1];
    expect(events.filter(([, name]) => name === own).map(([event]) => event)).toEqual([
      'fleet.worker.started',
      'fleet.worker.draining',
      'fleet.worker.stopped',
    ]);
    expect(events.filter(([, name]) => name !== own)).toEqual([['fleet.worker.lost', 'gone-1']]);
  });
});

/** What a worker logs from its start to its stop, between which this is done. */
async function stopped(before: () => Promise<void>): Promise<string> {
  // The worker would run what earlier tests left behind.
  for (const { body } of (await listTasks(parts.ledger, 'default', {}, { limit: 100 })).items)
    await cancelTree(parts.ledger, 'default', body.id, 'test');
  let written = '';
  const log = createLog({ level: 'info', service: 'test', destination: { write: (line) => (written += line) } });
  const worker = createWorkerService({ ...parts, log });
  await worker.start();
  await before();
  await worker.stop(1000);
  return written;
}

describe('the log of a worker that stops', () => {
  it('logs for what it waits and how long, and what it handed back', async () => {
    const written = await stopped(async () => {
      const { id } = await acceptTask(parts, { tenant: 'default', agent: 'echo', input: 'a b', context: { paceMs: 60_000 } });
      const isRunning = async (): Promise<boolean> => (await readTask(parts.ledger, 'default', id))?.state.status === 'running';
      await waitFor(isRunning, { deadlineMs: 5000, what: 'the task to run' });
    });
    expect(written).toMatch(/waits up to [01] s for 1 task to end/);
    expect(written).toContain('handed back 1 task that had not ended');
  });

  it('logs no hand-back where nothing was handed back', async () => {
    const written = await stopped(() => Promise.resolve());
    expect(written).toContain('the worker has stopped');
    expect(written).not.toMatch(/waits up to|handed back/);
  });
});

describe('pressure', () => {
  it('is noticed by those who accept, and its end by a chore when nobody sends any more', async () => {
    const { live } = parts.keys.tenant('default');
    for (let count = 0; count < 8; count += 1) await acceptTask(parts, { tenant: 'default', agent: 'echo', input: 'x' });
    await waitFor(async () => (await notified('backpressure')).length > 0, { deadlineMs: 5000, what: 'the warning' });
    await watchPressure(parts);
    expect(await listPressed(parts.ledger, 0)).toEqual(['default']);
    await parts.redis.del(live);
    await watchPressure(parts);
    expect((await notified('backpressure')).map(([event]) => event)).toEqual(['backpressure.warning', 'backpressure.cleared']);
    expect(await updatePressure(parts.ledger, 'default')).toMatchObject({ level: 'none' });
  });
});
