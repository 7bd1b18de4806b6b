import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reportFigure, spread } from '../../support/fleet/figures.ts';
import type { ServiceProcess } from '../../support/fleet/service-process.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import { waitFor } from '../../support/wait-for.ts';

let fleet: Fleet;
let worker: ServiceProcess;

const GRACE_MS = 1000;
const LONG = { workMs: [120_000] };

beforeAll(async () => {
  // A lease that a cancel must not wait for.
  fleet = await openFleet({ settings: { worker: { leaseMs: 20_000, cancelGraceMs: GRACE_MS } } });
  await fleet.start('api');
  worker = await fleet.start('worker', { MUSTER_QUEUES: 'tasks=10' });
});
afterAll(async () => {
  await fleet.stop();
});

const cancel = async (id: string): Promise<{ status: number; task: string }> => {
  const { status, body } = await fleet.client.call('POST', `/v1/tasks/${id}/cancel`);
  return { status, task: body.status };
};

const runsOf = (id: string): string[] =>
  fleet
    .journal()
    .filter(({ task }) => task === id)
    .map(({ event }) => event);

async function running(context: object = LONG): Promise<string> {
  const id = await fleet.client.submit({ context: context as Record<string, number[]> });
  await waitFor(() => runsOf(id).includes('start'), { deadlineMs: 20_000, what: 'the run' });
  return id;
}

describe('a cancel through the API', () => {
  it('ends at once a task that waits in its session, and the one after it moves up', async () => {
    const holder = await fleet.client.submit({ session: 'line', context: LONG });
    const waits = await fleet.client.submit({ session: 'line' });
    const last = await fleet.client.submit({ session: 'line' });
    await fleet.client.reaches(holder, ['running']);
    expect((await cancel(waits)).status).toBe(200);
    await cancel(holder);
    const [a, b, c] = await fleet.client.ended([holder, waits, last], 10_000);
    expect([a?.status, b?.status, c?.status]).toEqual(['cancelled', 'cancelled', 'completed']);
    expect(runsOf(waits)).toEqual([]);
  });

  it('ends at once a task that is not due, or that waits for its next attempt', async () => {
    const delayed = await fleet.client.submit({ scheduledFor: new Date(Date.now() + 1000).toISOString() });
    const retrying = await fleet.client.submit({ context: { failRuns: 1 }, execution: { retryDelayMs: 1000 } });
    await fleet.client.reaches(retrying, ['failed']);
    expect([(await cancel(delayed)).status, (await cancel(retrying)).status]).toEqual([200, 200]);
    // One that comes after both are due: by then they would have run.
    const after = await fleet.client.submit({ scheduledFor: new Date(Date.now() + 1500).toISOString() });
    await fleet.client.ended([after], 10_000);
    expect([runsOf(delayed), runsOf(retrying)]).toEqual([[], ['start', 'fail']]);
    expect((await fleet.client.task(delayed)).outcome).toMatchObject({ kind: 'cancelled' });
  });

  it('ends at once a task whose ticket waits in its queue', async () => {
    await fleet.client.call('POST', '/v1/queues/tasks/pause');
    const id = await fleet.client.submit();
    expect((await cancel(id)).status).toBe(200);
    await fleet.client.call('POST', '/v1/queues/tasks/resume');
    await fleet.client.ended([await fleet.client.submit()], 10_000);
    expect([(await fleet.client.task(id)).status, runsOf(id)]).toEqual(['cancelled', []]);
  });

  it('aborts the agent of a running task, in whichever process', async () => {
    const id = await running();
    const from = performance.now();
    expect((await cancel(id)).status).toBe(202);
    const [task] = await fleet.client.ended([id], 10_000);
    reportFigure('cancel of a running task: ended after', spread([performance.now() - from]));
    expect(task).toMatchObject({ status: 'cancelled', outcome: { kind: 'cancelled' } });
    expect(runsOf(id)).toEqual(['start', 'abort']);
    expect(await cancel(id)).toMatchObject({ status: 200 });
  });

  it('ends the task of an agent that ignores its abort', async () => {
    const id = await running({ workMs: [5000], ignoresAbort: true });
    await cancel(id);
    expect(await fleet.client.ended([id], 10_000)).toMatchObject([{ status: 'cancelled' }]);
    // It came to its end, later, and nothing came of it.
    await waitFor(() => runsOf(id).includes('end'), { deadlineMs: 20_000, what: 'the end of the agent' });
    expect(await fleet.client.task(id)).toMatchObject({ status: 'cancelled', output: null });
  });

  it('reaches the tasks below it', async () => {
    const parent = await running();
    const child = await fleet.client.submit({ parentTaskId: parent, context: LONG });
    const grandchild = await fleet.client.submit({ parentTaskId: child, scheduledFor: new Date(Date.now() + 3_600_000).toISOString() });
    await fleet.client.reaches(child, ['running']);
    await cancel(parent);
    const tasks = await fleet.client.ended([parent, child, grandchild], 10_000);
    expect(tasks.map(({ status }) => status)).toEqual(['cancelled', 'cancelled', 'cancelled']);
  });

  it('takes the lease from a worker that does not answer, once the grace is over', async () => {
    const id = await running();
    const other = await fleet.start('worker', { MUSTER_QUEUES: 'tasks=1' });
    await worker.kill('SIGSTOP');
    const from = performance.now();
    expect((await cancel(id)).status).toBe(202);
    expect(await fleet.client.ended([id], 10_000)).toMatchObject([{ status: 'cancelled' }]);
    reportFigure(`cancel on a frozen worker, grace ${GRACE_MS / 1000} s: ended after`, spread([performance.now() - from]));
    await worker.kill('SIGCONT');
    await waitFor(() => runsOf(id).includes('abort'), { deadlineMs: 20_000, what: 'the frozen agent to be aborted' });
    expect((await fleet.client.task(id)).status).toBe('cancelled');
    await other.kill();
  });
});
