import { afterEach, beforeEach, expect, it } from 'vitest';
import type { ServiceProcess } from '../../support/fleet/service-process.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import { waitFor } from '../../support/wait-for.ts';

let fleet: Fleet;
beforeEach(async () => {
  fleet = await openFleet({ settings: { metrics: { flushMs: 100 }, worker: { heartbeatIntervalMs: 500, leaseMs: 1000 } } });
});
afterEach(async () => {
  await fleet.stop();
});

type Sums = Record<string, number>;

/** The counters of the fleet at one API, summed over queue, band and source. */
async function sumsAt(api: ServiceProcess): Promise<Sums> {
  const text = await (await fetch(`${api.url}/metrics`)).text();
  const sums: Sums = {};
  for (const [, name = '', all = '', value] of text.matchAll(/^(muster_(?:tasks|attempts|retries|task_wait)_\w+)\{([^}]*)\} (\S+)$/gm)) {
    const labels = all.replaceAll(/(?:queue|band|source)="\w+",?/g, '').replace(/,$/, '');
    if (/_bucket|_sum|waiting|parked/.test(name)) continue;
    sums[`${name}{${labels}}`] = (sums[`${name}{${labels}}`] ?? 0) + Number(value);
  }
  return sums;
}

/** The same by the records of all tasks. */
async function sumsOfRecords(ids: readonly string[]): Promise<Sums> {
  const sums: Sums = { 'muster_tasks_accepted_total{}': ids.length, 'muster_task_wait_seconds_count{}': 0 };
  const add = (name: string): void => void (sums[name] = (sums[name] ?? 0) + 1);
  for (const id of ids) {
    const task = await fleet.client.task(id);
    add(`muster_tasks_total{outcome="${task.status}"}`);
    const attempts = await fleet.client.attempts(id);
    if (attempts.length > 0) add('muster_task_wait_seconds_count{}');
    for (const [place, { status, error }] of attempts.entries()) {
      add(`muster_attempts_total{result="${status}",code="${error?.code ?? ''}"}`);
      if (status === 'failed' && place < attempts.length - 1) add('muster_retries_total{}');
    }
  }
  return sums;
}

it('two APIs show the same sums, which are those of the records, after a worker was killed at its work', async () => {
  const apis = [await fleet.start('api'), await fleet.start('api')];
  const [doomed] = await Promise.all([fleet.start('worker'), fleet.start('worker')]);
  const execution = { maxAttempts: 3, retryDelayMs: 10 };
  const submit = async (context: Record<string, unknown>): Promise<string> => await fleet.client.submit({ context, execution });
  const quick = await Promise.all([
    ...Array.from({ length: 30 }, () => submit({ workMs: [5] })),
    ...Array.from({ length: 10 }, () => submit({ failRuns: 1 })),
    ...Array.from({ length: 5 }, () => submit({ failRuns: 3 })),
  ]);
  await fleet.client.ended(quick, 60_000);
  const cancelled = await fleet.client.submit({ scheduledFor: new Date(Date.now() + 3_600_000).toISOString() });
  await fleet.client.call('POST', `/v1/tasks/${cancelled}/cancel`);
  const isSummed = async (ids: readonly string[]): Promise<boolean> => {
    const records = await sumsOfRecords(ids);
    expect(await Promise.all(apis.map(sumsAt))).toEqual(apis.map(() => records));
    return true;
  };
  await waitFor(() => isSummed([...quick, cancelled]), { deadlineMs: 20_000, everyMs: 200, what: 'the sums of the records' });

  // Both workers have added what they counted before the kill: it would lose what was counted since.
  const slow = await Promise.all(Array.from({ length: 4 }, () => submit({ workMs: [60_000, 5] })));
  await Promise.all(slow.map((id) => fleet.client.reaches(id, ['running'])));
  const isCounted = async (): Promise<boolean> =>
    (await Promise.all(apis.map(sumsAt))).every((sums) => sums['muster_task_wait_seconds_count{}'] === quick.length + slow.length);
  await waitFor(isCounted, { deadlineMs: 20_000, everyMs: 100, what: 'the starts to be counted' });
  await doomed.kill();
  const lostIds = new Set(fleet.journal().flatMap(({ pid, task }) => (pid === doomed.pid && slow.includes(task) ? [task] : [])));
  expect(lostIds.size).toBeGreaterThan(0);
  await fleet.client.ended([...lostIds], 60_000);
  const held = slow.filter((id) => !lostIds.has(id));
  await Promise.all(held.map((id) => fleet.client.call('POST', `/v1/tasks/${id}/cancel`)));
  await fleet.client.ended(held, 60_000);
  await waitFor(() => isSummed([...quick, cancelled, ...slow]), { deadlineMs: 20_000, everyMs: 200, what: 'the sums of all records' });

  // Both read what waits and runs again once a second.
  const figuresNow = async (): Promise<Record<string, number>[]> =>
    await Promise.all(apis.map(async ({ url }) => (await fleet.client.call('GET', '/v1/metrics', { url })).body as Record<string, number>));
  const areRight = async (): Promise<boolean> => {
    const figures = await figuresNow();
    expect(figures[0]).toEqual(figures[1]);
    expect(figures[0]).toMatchObject({ queue_depth_total: 0, used_daemon_capacity: 0 });
    return true;
  };
  await waitFor(areRight, { deadlineMs: 10_000, everyMs: 200, what: 'the figures of a fleet at rest' });
});
