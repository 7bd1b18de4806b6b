import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Parts } from '#shared/lifecycle/open-parts.ts';
import { reportFigure } from '../../support/fleet/figures.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import type { ServiceProcess } from '../../support/fleet/service-process.ts';
import { openTestParts } from '../../support/open-test-parts.ts';
import { testEnvironment } from '../../support/test-environment.ts';
import { waitFor } from '../../support/wait-for.ts';

const DEADLINE_MS = 40_000;
const ENDED_MS = 60_000;
const ONE_SLOT = { MUSTER_QUEUES: 'tasks=1,maintenance=1' };

let fleet: Fleet;
let parts: Parts;
beforeEach(async () => {
  const settings = { worker: { heartbeatIntervalMs: 1000, deadHeartbeatThreshold: 2 }, fleet: { snapshotMs: 300 } };
  fleet = await openFleet({ settings });
  await fleet.start('api');
  parts = await openTestParts({ redisUrl: fleet.redis.url });
});
afterEach(async () => {
  await parts.close();
  await fleet.stop();
});

interface WorkerView {
  id: string;
  pid: number;
  status: string;
}

async function readWorkers(): Promise<WorkerView[]> {
  const { status, body } = await fleet.client.call('GET', '/v1/fleet');
  expect(status).toBe(200);
  return body.workers as WorkerView[];
}

async function workerOf({ pid }: ServiceProcess): Promise<WorkerView | undefined> {
  return (await readWorkers()).find((worker) => worker.pid === pid);
}

/** Waits until a worker has this status. Returns its id. */
async function reaches(process: ServiceProcess, status: string): Promise<string> {
  const find = async (): Promise<WorkerView | undefined> => [await workerOf(process)].find((worker) => worker?.status === status);
  return (await waitFor(find, { deadlineMs: DEADLINE_MS, what: `worker ${process.pid} to be ${status}` })).id;
}

/** The events of the fleet that are about a worker or a queue. */
async function eventsOf(subject: string): Promise<(string | undefined)[]> {
  const entries = await parts.redis.xrange(parts.keys.tenant('default').events, '-', '+');
  return entries.filter(([, fields]) => fields[1]?.startsWith('fleet.') && fields[3] === subject).map(([, fields]) => fields[1]);
}

/** The tasks that a process began to run. */
function startedBy(pid: number): string[] {
  return fleet.journal().flatMap((entry) => (entry.pid === pid && entry.event === 'start' ? [entry.task] : []));
}

it('a killed worker is dead within its heartbeats, and a drained one ends its task, takes nothing more and exits with 0', async () => {
  const [killed, drained] = await Promise.all([fleet.start('worker', ONE_SLOT), fleet.start('worker', ONE_SLOT)]);
  const [killedId, drainedId] = [await reaches(killed, 'idle'), await reaches(drained, 'idle')];
  const ids: string[] = [];
  for (const _ of [killed, drained]) ids.push(await fleet.client.submit({ context: { workMs: [4000, 50] } }));
  await Promise.all([reaches(killed, 'busy'), reaches(drained, 'busy')]);

  expect(await fleet.client.call('POST', `/v1/fleet/${drainedId}/drain`)).toMatchObject({ status: 202, body: { status: 'draining' } });
  const isDraining = (): boolean => drained.lines.some(({ event }) => event === 'worker.drain-requested');
  await waitFor(isDraining, { deadlineMs: DEADLINE_MS, what: 'the drain to begin' });
  const later = await fleet.client.submit({ context: { workMs: [10] } });
  const killedAt = performance.now();
  await killed.kill();
  await reaches(killed, 'dead');
  reportFigure('a killed worker shows as dead', `after ${((performance.now() - killedAt) / 1000).toFixed(1)} s`);

  expect(await drained.exited).toEqual({ code: 0, signal: null });
  const [own = '', ...others] = startedBy(drained.pid);
  expect(others).toEqual([]);
  expect(await fleet.client.task(own)).toMatchObject({ status: 'completed', attempt: 1 });
  expect(await workerOf(drained)).toBeUndefined();
  expect(await fleet.client.task(later)).toMatchObject({ status: 'queued' });
  expect((await fleet.client.call('GET', `/v1/tasks/${later}/why`)).body.reasons).toMatchObject([{ gate: 'worker' }]);

  const another = await fleet.start('worker', ONE_SLOT);
  const ended = await fleet.client.ended([...ids, later], ENDED_MS);
  expect(ended.map(({ status }) => status)).toEqual(['completed', 'completed', 'completed']);
  expect(startedBy(another.pid)).toContain(later);
  expect((await eventsOf(killedId)).filter((event) => event === 'fleet.worker.lost')).toHaveLength(1);
  // A loaded machine may delay heartbeats.
  const steps = (await eventsOf(drainedId)).filter((event) => event !== 'fleet.worker.lost');
  expect(steps).toEqual(['fleet.worker.started', 'fleet.worker.draining', 'fleet.worker.stopped']);
});

it.runIf(testEnvironment.isChaos)('a frozen worker is dead until it wakes up, and obeys a drain of the meantime', async () => {
  const [frozen, other] = await Promise.all([fleet.start('worker', ONE_SLOT), fleet.start('worker', ONE_SLOT)]);
  const id = await reaches(frozen, 'idle');
  await frozen.kill('SIGSTOP');
  await reaches(frozen, 'dead');
  // It shows as dead before another process has marked it: it may have had the lease of that chore itself.
  const isLost = async (): Promise<boolean> => (await eventsOf(id)).includes('fleet.worker.lost');
  await waitFor(isLost, { deadlineMs: DEADLINE_MS, what: 'the fleet to miss it' });
  await frozen.kill('SIGCONT');
  await reaches(frozen, 'idle');
  const hasReturned = (): boolean => frozen.lines.some(({ event }) => event === 'worker.returned');
  await waitFor(hasReturned, { deadlineMs: DEADLINE_MS, what: 'the log to say that it returned' });

  await frozen.kill('SIGSTOP');
  await reaches(frozen, 'dead');
  const { status, body } = await fleet.client.call('POST', `/v1/fleet/${id}/drain`);
  expect([status, body.status, typeof body.drainRequestedAt]).toEqual([202, 'dead', 'string']);
  await frozen.kill('SIGCONT');
  expect(await frozen.exited).toEqual({ code: 0, signal: null });
  expect(await workerOf(frozen)).toBeUndefined();
  await reaches(other, 'idle');
});

it('operators are notified once that tasks wait without a worker, and snapshots show what the fleet runs', async () => {
  const id = await fleet.client.submit({ context: { workMs: [3000] } });
  const has = (event: string): Promise<boolean> =>
    waitFor(async () => (await eventsOf('tasks')).includes(event), { deadlineMs: DEADLINE_MS, what: event });
  await has('fleet.needs_attention');
  await fleet.start('worker', ONE_SLOT);
  await has('fleet.recovered');
  const isSeen = async (): Promise<boolean> => {
    const snapshots = (await fleet.client.call('GET', '/v1/fleet')).body.snapshots as { running: number; activeWorkers: number }[];
    return snapshots.some(({ running, activeWorkers }) => running === 1 && activeWorkers === 1);
  };
  await waitFor(isSeen, { deadlineMs: DEADLINE_MS, what: 'a snapshot with the task' });
  await fleet.client.reaches(id, ['completed']);
  expect(await eventsOf('tasks')).toEqual(['fleet.needs_attention', 'fleet.recovered']);
});
