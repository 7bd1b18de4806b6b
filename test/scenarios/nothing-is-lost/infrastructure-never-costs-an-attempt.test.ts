import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startFakeHttpEndpoint } from '../../support/fake-http-endpoint.ts';
import { reportFigure, spread } from '../../support/fleet/figures.ts';
import type { ServiceProcess } from '../../support/fleet/service-process.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import { waitFor } from '../../support/wait-for.ts';

let fleet: Fleet;

const GRACE_MS = 2000;

beforeEach(async () => {
  const settings = { outbound: { allowNetworks: ['127.0.0.0/8'] }, worker: { cancelGraceMs: 300 } };
  fleet = await openFleet({ settings, env: { SHUTDOWN_GRACE_MS: String(GRACE_MS) } });
  await fleet.start('api');
});
afterEach(async () => {
  await fleet.stop();
});

const ONCE = { maxAttempts: 1 };

const started = (count: number): Promise<boolean> =>
  waitFor(() => fleet.journal().filter(({ event }) => event === 'start').length >= count, { deadlineMs: 20_000, what: `${count} runs` });

describe('infrastructure never costs an attempt', () => {
  it('a worker that is stopped hands over the tasks that run longer than its grace, and exits with 0 in time', async () => {
    const slots = { MUSTER_QUEUES: 'tasks=6' };
    const leaving = await fleet.start('worker', slots);
    // Two that end within the grace, three that heed their abort, and one that does not.
    const long = { workMs: [60_000, 0] };
    const contexts = [{ workMs: [500] }, { workMs: [500] }, long, long, long, { ...long, ignoresAbort: true }];
    const ids = await Promise.all(contexts.map((context) => fleet.client.submit({ context, execution: ONCE })));
    await started(ids.length);
    const other = await fleet.start('worker', slots);
    const notifiedAt = Date.now();
    await leaving.kill('SIGTERM');
    expect(await leaving.exited).toEqual({ code: 0, signal: null });
    reportFigure(`SIGTERM with 6 running tasks and a grace of ${GRACE_MS / 1000} s: exit 0 after`, spread([Date.now() - notifiedAt]));

    const tasks = await fleet.client.ended(ids, 20_000);
    expect(tasks.map(({ status, attempt }) => [status, attempt])).toEqual(ids.map(() => ['completed', 1]));
    const attempts = await Promise.all(ids.map((id) => fleet.client.attempts(id)));
    expect(attempts.map((list) => list.map(({ status }) => status))).toEqual([
      ['success'],
      ['success'],
      ...Array.from({ length: 4 }, () => ['interrupted', 'success']),
    ]);
    const ends = fleet.journal().filter(({ event }) => event === 'end');
    expect(ends.filter(({ pid }) => pid === leaving.pid)).toHaveLength(2);
    expect(ends.filter(({ pid }) => pid === other.pid)).toHaveLength(4);
  });

  it("a provider's 429 puts the task back until the time that it names", async () => {
    let calls = 0;
    const provider = await startFakeHttpEndpoint((response) => {
      calls += 1;
      if (calls < 3) response.writeHead(429, { 'retry-after': '1' }).end();
      else response.writeHead(200, { 'content-type': 'application/json' }).end('{"output":"served"}');
    });
    try {
      await fleet.start('worker');
      const made = await fleet.client.call('PUT', '/v1/agents/provider', { body: { kind: 'http', url: provider.url } });
      expect(made.status).toBe(201);
      const id = await fleet.client.submit({ agent: 'provider', execution: ONCE });
      const [task] = await fleet.client.ended([id], 20_000);
      expect(task).toMatchObject({ status: 'completed', attempt: 1, output: 'served' });
      const attempts = await fleet.client.attempts(id);
      // Refusals in a row by one cause leave one record.
      expect(attempts.map(({ number, status }) => [number, status])).toEqual([
        [1, 'interrupted'],
        [1, 'success'],
      ]);
      const [refused, served] = attempts;
      expect(Date.parse(served?.startedAt ?? '') - Date.parse(refused?.endedAt ?? '')).toBeGreaterThanOrEqual(2000);
      expect(calls).toBe(3);
    } finally {
      await provider.close();
    }
  });

  it('a rolling restart of all workers under load completes every task in its first attempt', async () => {
    const workers: ServiceProcess[] = await Promise.all([fleet.start('worker'), fleet.start('worker')]);
    const submit = (_: unknown, position: number): Promise<string> =>
      fleet.client.submit({ context: { workMs: [position % 10 === 0 ? 4000 : 300, 300] }, execution: ONCE });
    const ids = await Promise.all(Array.from({ length: 60 }, submit));
    for (const leaving of workers) {
      await fleet.start('worker');
      await leaving.kill('SIGTERM');
      expect(await leaving.exited).toEqual({ code: 0, signal: null });
    }
    const tasks = await fleet.client.ended(ids, 40_000);
    expect(tasks.map(({ status, attempt }) => [status, attempt])).toEqual(ids.map(() => ['completed', 1]));
    const ends = fleet.journal().filter(({ event }) => event === 'end');
    expect(ends.map(({ task }) => task).toSorted()).toEqual(ids.toSorted());
  });
});
