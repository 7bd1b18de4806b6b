import { afterEach, describe, expect, it } from 'vitest';
import { beat, forgetWorker, knownWorkers } from '#shared/queue/worker-registry.ts';
import { systemClock } from '#shared/time/clock.ts';
import { checkWorkers } from '../../../../services/local/doctor/check-redis.ts';
import { Heartbeat } from '../../../../services/worker/upkeep/heartbeat.ts';
import { useParts } from '../../../support/use-parts.ts';
import { waitFor } from '../../../support/wait-for.ts';

const DEAD_MS = 400;
const FIVE_MINUTES_MS = 300_000;

const parts = await useParts({ worker: { heartbeatIntervalMs: 200, deadHeartbeatThreshold: 2 } });
const { redis, keys } = parts;
const settings = parts.config.settings;

const open: Heartbeat[] = [];
afterEach(async () => {
  for (const heartbeat of open.splice(0)) await heartbeat.stop();
});

function start(worker: string, lost: string[], skewMs = 0): Heartbeat {
  const clock = { ...systemClock, now: () => Date.now() + skewMs };
  const onLost = (name: string): number => lost.push(name);
  const heartbeat = new Heartbeat({ redis, keys, settings, worker, onLost, clock, log: parts.log });
  open.push(heartbeat);
  heartbeat.start();
  return heartbeat;
}

const names = async (): Promise<string[]> => (await knownWorkers(redis, keys, 10)).map(({ name }) => name).toSorted();

describe('a worker', () => {
  it('that ran nothing is reported as lost, once, after so many missed heartbeats', async () => {
    await beat(redis, keys, 'killed', { host: 'h', pid: 1, skewMs: 0 });
    const [lost, from] = [[] as string[], performance.now()];
    start('one', lost);
    start('two', lost);
    await waitFor(() => lost.length > 0, { deadlineMs: 5000, what: 'the loss to be reported' });
    expect(performance.now() - from).toBeGreaterThan(DEAD_MS - 100);
    expect(lost).toEqual(['killed']);
    expect(await names()).toEqual(['one', 'two']);
  });

  it('that stops is not reported as lost', async () => {
    const lost: string[] = [];
    start('stays', lost);
    const leaving = start('leaves', lost);
    await waitFor(async () => (await names()).length === 2, { deadlineMs: 5000, what: 'both to be known' });
    await leaving.stop();
    expect(await names()).toEqual(['stays']);
    expect(await forgetWorker(redis, keys, 'leaves')).toBe(false);
  });

  it('whose clock is wrong shows in the report of the doctor', async () => {
    start('ahead', [], FIVE_MINUTES_MS);
    await waitFor(async () => (await names()).includes('ahead'), { deadlineMs: 5000, what: 'it to be known' });
    const checks = await checkWorkers(redis, keys);
    expect(checks).toMatchObject([
      { name: 'Workers', state: 'ok' },
      { name: 'Clock of ahead', state: 'warn' },
    ]);
    expect(checks[1]?.detail).toMatch(/300\.\d s ahead of Redis/);
  });
});
