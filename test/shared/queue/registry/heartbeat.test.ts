import { afterEach, describe, expect, it } from 'vitest';
import { NO_BLOCKS } from '#shared/queue/registry/worker-report.ts';
import { listWorkers, readWorker, removeWorker, requestDrain } from '#shared/queue/registry/worker-registry.ts';
import { type Clock, systemClock } from '#shared/time/clock.ts';
import { judgeWorkers } from '#shared/findings/kinds/members.ts';
import { Heartbeat, type ReportingWorker, type WorkerActivity } from '#shared/queue/registry/heartbeat.ts';
import { useEmptyParts } from '../../../support/use-parts.ts';
import { waitFor } from '../../../support/wait-for.ts';

const FIVE_MINUTES_MS = 300_000;
const IDLE: WorkerActivity = { running: 0, suspects: 0, isDraining: false, stopped: [], blocks: NO_BLOCKS };

const parts = await useEmptyParts({ worker: { heartbeatIntervalMs: 100, deadHeartbeatThreshold: 50 } });
const { redis, keys } = parts;
const fleet = { redis, keys, settings: parts.config.settings };

const open: Heartbeat[] = [];
afterEach(async () => {
  for (const heartbeat of open.splice(0)) await heartbeat.stop();
});

interface StartOptions extends Partial<ReportingWorker> {
  skewMs?: number;
  clock?: Clock;
}

function start(
  worker: string,
  { skewMs = 0, clock = { ...systemClock, now: () => Date.now() + skewMs }, ...reporting }: StartOptions = {},
): Heartbeat {
  const heartbeat = new Heartbeat({ fleet, worker, capacity: { queues: ['tasks'], slots: 4 }, clock, log: parts.log });
  open.push(heartbeat);
  heartbeat.start({ activity: () => IDLE, drain: () => undefined, ...reporting });
  return heartbeat;
}

const names = async (): Promise<string[]> => (await listWorkers(fleet)).map(({ id }) => id).toSorted();
const isKnown = (worker: string): Promise<boolean> =>
  waitFor(async () => (await names()).includes(worker), { deadlineMs: 5000, what: `${worker} to be known` });

describe('a worker', () => {
  it('reports who it is, what it serves and does, and what its process uses', async () => {
    const seen = { running: 3, suspects: 1, stopped: [], blocks: { count: 2, lastAt: 5, longestMs: 4000 } };
    start('w', { activity: () => ({ ...seen, isDraining: false }) });
    await isKnown('w');
    const record = await readWorker(fleet, 'w');
    expect(record).toMatchObject({
      ...seen,
      status: 'busy',
      queues: ['tasks'],
      slots: 4,
      pid: process.pid,
    });
    expect(record?.version).toMatch(/^\d+\.\d+\.\d+/);
    expect(Math.abs(Date.now() - (record?.startedAt ?? 0))).toBeLessThan(60_000);
    expect(record?.memoryMb).toBeGreaterThan(10);
    await waitFor(async () => ((await readWorker(fleet, 'w'))?.cpu ?? 0) > 0, { deadlineMs: 5000, what: 'CPU time to be used' });
    expect((await readWorker(fleet, 'w'))?.eventLoopDelayMs).toBeGreaterThanOrEqual(0);
  });

  it('reports what has stood still in it for a while, and not what is over at its next beat', async () => {
    let stopped = ['for a moment'];
    let aheadMs = 0;
    const readings: string[][] = [];
    const clock = { ...systemClock, monotonic: () => performance.now() + aheadMs };
    start('w', {
      clock,
      activity: () => {
        readings.push(stopped);
        return { ...IDLE, stopped };
      },
    });
    const beats = (count: number): Promise<boolean> =>
      waitFor(() => readings.length >= count, { deadlineMs: 5000, what: `${count} beats` });
    await beats(2);
    stopped = [];
    aheadMs += 60_000;
    await beats(readings.length + 2);
    stopped = ['x'.repeat(500)];
    await beats(readings.length + 2);
    expect((await readWorker(fleet, 'w'))?.stopped).toEqual([]);
    aheadMs += 60_000;
    await waitFor(async () => (await readWorker(fleet, 'w'))?.stopped.length === 1, { deadlineMs: 5000, what: 'the report' });
    expect((await readWorker(fleet, 'w'))?.stopped).toEqual(['x'.repeat(200)]);
  });

  it('that stops is not known any more', async () => {
    start('stays');
    const leaving = start('leaves');
    await Promise.all([isKnown('stays'), isKnown('leaves')]);
    await leaving.stop();
    expect(await names()).toEqual(['stays']);
    expect(await removeWorker(fleet, 'leaves')).toBe(false);
  });

  it('obeys a drain that was requested while no message reached it', async () => {
    let drains = 0;
    start('w', { drain: () => (drains += 1) });
    await isKnown('w');
    expect(drains).toBe(0);
    await requestDrain(fleet, 'w');
    await waitFor(() => drains > 0, { deadlineMs: 5000, what: 'the drain' });
  });

  it('whose clock is wrong shows in the report of the doctor', async () => {
    start('ahead', { skewMs: FIVE_MINUTES_MS });
    await isKnown('ahead');
    const { note, findings } = judgeWorkers(await listWorkers(fleet), Date.now());
    expect([note, findings]).toMatchObject(['1 running', [{ code: 'worker.clock', severity: 'warning', subject: 'ahead' }]]);
    expect(findings[0]?.text).toMatch(/300\.\d s ahead of Redis/);
  });
});
