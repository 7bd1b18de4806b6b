import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { reportFigure, spread } from '../../support/fleet/figures.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import { waitFor } from '../../support/wait-for.ts';

let fleet: Fleet;

/** The default, which is what the promise is about. */
const LEASE_MS = 10_000;

beforeEach(async () => {
  fleet = await openFleet({ settings: { worker: { leaseMs: LEASE_MS, orphanCheckIntervalMs: 1000 } } });
  await fleet.start('api');
});
afterEach(async () => {
  await fleet.stop();
});

describe('the work of a worker that died', () => {
  it('50 running tasks of a worker killed with -9 all run again elsewhere, within about its lease', async () => {
    const slots = { MUSTER_QUEUES: 'tasks=50' };
    const doomed = await fleet.start('worker', slots);
    const submit = (): Promise<string> => fleet.client.submit({ context: { workMs: [120_000, 0] } });
    const ids = await Promise.all(Array.from({ length: 50 }, submit));
    await waitFor(() => fleet.journal().length === ids.length, { deadlineMs: 20_000, what: '50 running tasks' });
    await fleet.start('worker', slots);
    const killedAt = Date.now();
    await doomed.kill();
    // The figure is reported; what fails a run is only work that does not come back.
    const tasks = await fleet.client.ended(ids, 6 * LEASE_MS);
    expect(tasks.map(({ status, attempt }) => [status, attempt])).toEqual(ids.map(() => ['completed', 1]));
    const again = fleet.journal().filter(({ event, pid }) => event === 'start' && pid !== doomed.pid);
    expect(again.map(({ task }) => task).toSorted()).toEqual(ids.toSorted());
    reportFigure(
      `worker killed with 50 running tasks, lease ${LEASE_MS / 1000} s: run again after`,
      spread(again.map(({ at }) => at - killedAt)),
    );
  });
});
