import { expect, it } from 'vitest';
import { beat } from '#shared/queue/registry/worker-registry.ts';
import { workerReportSchema } from '#shared/queue/registry/worker-report.ts';
import { readUnserved } from '#shared/queue/registry/unserved-queues.ts';
import { type FleetNotice, watchWorkers } from '#shared/queue/registry/worker-watch.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { useParts } from '../../../support/use-parts.ts';
import { waitFor } from '../../../support/wait-for.ts';

const DEAD_MS = 400;

const parts = await useParts({ worker: { heartbeatIntervalMs: 200, deadHeartbeatThreshold: 2 } });
const { redis, keys, queues, log } = parts;
const fleet = { redis, keys, settings: parts.config.settings };
const isHeld = (): Promise<boolean> => Promise.resolve(false);

it('notifies of a worker that ran nothing, and notes a queue without one, for several watches', async () => {
  const report = workerReportSchema.parse({ host: 'h', pid: 1, skewMs: 0, running: 0, slots: 1, queues: ['tasks'] });
  const from = performance.now();
  await beat(fleet, 'killed', report);
  await acceptTask(parts, { tenant: 'default', agent: 'echo', input: 'x' });
  const notices: FleetNotice[] = [];
  const ports = { ...fleet, queues, isHeld, onNotice: (notice: FleetNotice) => notices.push(notice), log };
  const watch = (): Promise<unknown> => Promise.all([watchWorkers(ports), watchWorkers(ports)]);
  const isLost = async (): Promise<boolean> => {
    await watch();
    return notices.length > 0;
  };
  await waitFor(isLost, { deadlineMs: 5000, what: 'the loss' });
  expect(performance.now() - from).toBeGreaterThan(DEAD_MS - 100);
  const unserved = async (): Promise<string[]> => {
    await watch();
    return (await readUnserved(fleet)).map(({ queue }) => queue);
  };
  await waitFor(async () => (await unserved()).includes('tasks'), { deadlineMs: 5000, what: 'the queue' });
  const hasRecovered = async (): Promise<boolean> => {
    await beat(fleet, 'another', report);
    return (await unserved()).length === 0;
  };
  await waitFor(hasRecovered, { deadlineMs: 5000, what: 'the recovery' });
  expect(notices.filter(({ worker }) => worker === 'killed')).toHaveLength(1);
});
