import { describe, expect, it } from 'vitest';
import { OfferedSlots, slotsFor } from '#shared/queue/registry/offered-slots.ts';
import { beat, type WorkerRecord } from '#shared/queue/registry/worker-registry.ts';
import { workerReportSchema } from '#shared/queue/registry/worker-report.ts';
import { useParts } from '../../../support/use-parts.ts';
import { waitFor } from '../../../support/wait-for.ts';

const REPORT = workerReportSchema.parse({ host: 'h', pid: 1, skewMs: 0, running: 0, slots: 8, queues: ['tasks', 'chat'] });

const parts = await useParts();
const fleet = { redis: parts.redis, keys: parts.keys, settings: parts.config.settings };

function worker(fields: Partial<WorkerRecord>): WorkerRecord {
  return { ...REPORT, id: 'w', status: 'idle', lastBeatAt: 1, drainRequestedAt: null, ...fields };
}

describe('the slots that a fleet offers a queue', () => {
  it('are the pools of all workers that serve it', () => {
    const workers = [worker({}), worker({ slots: 4, status: 'busy' }), worker({ queues: ['webhooks'], slots: 100 })];
    expect([slotsFor(workers, 'tasks'), slotsFor(workers, 'webhooks'), slotsFor(workers, 'critical')]).toEqual([12, 100, 0]);
  });

  it('are not those of dead and draining workers', () => {
    expect(slotsFor([worker({ status: 'dead' }), worker({ status: 'draining' })], 'tasks')).toBe(0);
    expect(slotsFor([], 'tasks')).toBe(0);
  });

  it('are unknown while only a worker of an earlier release may serve it', () => {
    const old = worker({ status: 'alive', queues: [], slots: null });
    expect(slotsFor([old], 'tasks')).toBeNull();
    expect(slotsFor([old, worker({})], 'tasks')).toBe(8);
  });
});

/** How often ranges of the registry were read. */
async function calls(): Promise<number> {
  return Number(/cmdstat_zrevrange:calls=(\d+)/.exec(await parts.redis.info('commandstats'))?.[1]);
}

describe('a process', () => {
  it('reads them from the registry and keeps them for a while, so that thousands of calls cost one reading', async () => {
    await beat(fleet, 'w', REPORT);
    const offered = new OfferedSlots(fleet);
    expect(offered.of('tasks')).toBeNull();
    await waitFor(() => offered.of('tasks') === 8, { deadlineMs: 5000, what: 'the first reading' });
    const before = await calls();
    const [startedAt, answers] = [performance.now(), new Set<number | null>()];
    for (let count = 0; count < 5000; count += 1) answers.add(count % 10 === 0 ? await offered.read('chat') : offered.of('chat'));
    const readings = Math.ceil((performance.now() - startedAt) / 1000) + 1;
    expect([...answers]).toEqual([8]);
    // Two ranges for each reading.
    expect((await calls()) - before).toBeLessThanOrEqual(2 * readings);
  });
});
