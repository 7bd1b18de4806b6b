import { spawn } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { reportFigure, spread } from '../../support/fleet/figures.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import { endWithParent } from '../../support/runner/end-with-parent.ts';
import { waitFor } from '../../support/wait-for.ts';

let fleet: Fleet;

/** The default, which is what the promise is about. */
const LEASE_MS = 10_000;
/** As many as the shipped slots of a worker. */
const TASKS = 28;
/** Processes that keep the machine busy. */
const BUSY = 8;

beforeEach(async () => {
  fleet = await openFleet({ settings: { worker: { leaseMs: LEASE_MS, orphanCheckIntervalMs: 1000 } } });
  await fleet.start('api');
});
afterEach(async () => {
  await fleet.stop();
});

function keepBusy(): void {
  const spinning = Array.from({ length: BUSY }, () => spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }));
  for (const each of spinning) endWithParent(each);
  onTestFinished(() => spinning.forEach((each) => each.kill('SIGKILL')));
}

describe('the work of a worker that died', () => {
  it(`${TASKS} running tasks of a worker killed with -9 on a busy machine all run again elsewhere, in a process that was ready for them`, async () => {
    const slots = { MUSTER_QUEUES: `tasks=${TASKS}` };
    const doomed = await fleet.start('worker', slots);
    const submit = (): Promise<string> => fleet.client.submit({ context: { workMs: [120_000, 0] } });
    const ids = await Promise.all(Array.from({ length: TASKS }, submit));
    await waitFor(() => fleet.journal().length === ids.length, { deadlineMs: 20_000, what: 'all tasks to run' });
    const other = await fleet.start('worker', slots);
    const readLine = (): number | undefined => other.lines.find(({ event }) => event === 'isolated.ready')?.['pid'] as number | undefined;
    const ready = await waitFor(readLine, { deadlineMs: 30_000, what: 'a process for what may be lost' });
    keepBusy();
    const killedAt = Date.now();
    await doomed.kill();
    // The figure is reported; what fails a run is only work that does not come back, or waits for a process to start.
    const tasks = await fleet.client.ended(ids, 6 * LEASE_MS);
    expect(tasks.map(({ status, attempt }) => [status, attempt])).toEqual(ids.map(() => ['completed', 1]));
    const again = fleet.journal().filter(({ event, pid }) => event === 'start' && pid !== doomed.pid);
    expect(again.map(({ task }) => task).toSorted()).toEqual(ids.toSorted());
    expect([...new Set(again.map(({ pid }) => pid))]).toEqual([ready]);
    reportFigure(
      `worker killed with ${TASKS} running tasks beside ${BUSY} busy processes, lease ${LEASE_MS / 1000} s: run again after`,
      spread(again.map(({ at }) => at - killedAt)),
    );
  });
});
