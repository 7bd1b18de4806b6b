import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { wait } from '#shared/time/wait.ts';
import { reportFigure, spread } from '../../support/fleet/figures.ts';
import type { JournalEntry } from '../../support/fleet/journal.ts';
import type { ServiceProcess } from '../../support/fleet/service-process.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import { startRedisProxy, type RedisProxy } from '../../support/fleet/redis-proxy.ts';
import { testEnvironment } from '../../support/test-environment.ts';
import { waitFor } from '../../support/wait-for.ts';

let fleet: Fleet;
let proxy: RedisProxy | undefined;

beforeEach(async () => {
  fleet = await openFleet();
  await fleet.start('api');
});
afterEach(async () => {
  await fleet.stop();
  await proxy?.close();
  proxy = undefined;
});

const TASKS = 8;
/** How long a worker is cut from Redis: five leases, in full more than BullMQ's own defaults last. */
const CUT_MS = testEnvironment.isChaos ? 45_000 : 7500;
const SLOTS = { MUSTER_QUEUES: 'tasks=8,maintenance=1' };

const entries = (event: JournalEntry['event'], { pid }: ServiceProcess): JournalEntry[] =>
  fleet.journal().filter((entry) => entry.event === event && entry.pid === pid);

/** What happened in other processes than this worker's. */
const elsewhere = (event: JournalEntry['event'], { pid }: ServiceProcess): JournalEntry[] =>
  fleet.journal().filter((entry) => entry.event === event && entry.pid !== pid);

const startsAt = async (worker: ServiceProcess, count: number, deadlineMs = 20_000): Promise<void> => {
  await waitFor(() => entries('start', worker).length >= count, { deadlineMs, what: `${count} runs on one worker` });
};

/** Tasks whose first run takes `firstMs` and whose second is quick, all of them running on this worker. */
async function runningOn(worker: ServiceProcess, firstMs: number): Promise<string[]> {
  const submit = (): Promise<string> => fleet.client.submit({ context: { workMs: [firstMs, 500] } });
  const ids = await Promise.all(Array.from({ length: TASKS }, submit));
  await startsAt(worker, TASKS);
  return ids;
}

/** What a reader of the task's stream gets: the text of each run, numbered from 1. */
async function streamOf(id: string): Promise<{ seq: number; text: string }[]> {
  const { body } = await fleet.client.call('GET', `/v1/tasks/${id}/stream`);
  const events = String(body).matchAll(/^event: output\n(?:id: .*\n)?data: (.*)$/gm);
  return [...events].map(([, data = '{}']) => JSON.parse(data) as { seq: number; text: string });
}

describe('one live attempt', () => {
  it('a worker that was frozen for longer than its lease and wakes up changes nothing', async () => {
    const frozen = await fleet.start('worker', SLOTS);
    // Far from its end when it wakes up, however slowly the other one starts.
    const ids = await runningOn(frozen, 60_000);
    const other = await fleet.start('worker', SLOTS);
    await frozen.kill('SIGSTOP');
    await waitFor(() => elsewhere('start', frozen).length >= TASKS, { deadlineMs: 20_000, what: 'all to run elsewhere' });
    await frozen.kill('SIGCONT');
    const tasks = await fleet.client.ended(ids, 20_000);
    await waitFor(() => entries('abort', frozen).length === TASKS, { deadlineMs: 20_000, what: 'the frozen agents to be aborted' });

    expect(tasks.map(({ status }) => status)).toEqual(ids.map(() => 'completed'));
    expect(entries('end', frozen)).toEqual([]);
    expect(
      elsewhere('end', frozen)
        .map(({ task }) => task)
        .toSorted(),
    ).toEqual(ids.toSorted());
    for (const task of tasks) {
      expect(task.output).toMatch(/^(2\.\d+ )+$/);
      const attempts = await fleet.client.attempts(task.id);
      expect(attempts.map(({ status, error }) => [status, error?.code])).toEqual([
        ['interrupted', 'WORKER_LOST'],
        ['success', undefined],
      ]);
      const stream = await streamOf(task.id);
      // A run that starts again counts its output from 1.
      const second = stream.slice(stream.findLastIndex(({ seq }) => seq === 1)).map(({ text }) => text);
      expect(second.join('')).toBe(task.output);
    }
    expect(frozen.lines.filter(({ event }) => event === 'task.completed')).toEqual([]);
    // It is as good as new.
    await other.kill();
    const [again] = await fleet.client.ended([await fleet.client.submit()], 20_000);
    expect(again?.status).toBe('completed');
  });

  it('a worker cut from Redis for many leases has its tasks run to their end once, elsewhere, and is useful again within seconds', async () => {
    proxy = await startRedisProxy(fleet.redis.port);
    const cut = await fleet.start('worker', { ...SLOTS, REDIS_URL: proxy.url });
    const ids = await runningOn(cut, 60_000);
    const other = await fleet.start('worker', SLOTS);
    const cutAt = Date.now();
    proxy.cut();
    const tasks = await fleet.client.ended(ids, 30_000);
    expect(tasks.map(({ status }) => status)).toEqual(ids.map(() => 'completed'));
    await waitFor(() => entries('abort', cut).length === TASKS, { deadlineMs: 20_000, what: 'the agents of the cut worker to be aborted' });
    reportFigure('worker cut from Redis: its tasks started elsewhere after', spread(elsewhere('start', cut).map(({ at }) => at - cutAt)));
    reportFigure('worker cut from Redis: its own agents aborted after', spread(entries('abort', cut).map(({ at }) => at - cutAt)));

    await wait(cutAt + CUT_MS - Date.now());
    await other.kill();
    proxy.repair();
    const repairedAt = Date.now();
    await fleet.client.ended([await fleet.client.submit()], 30_000);
    reportFigure('worker cut from Redis: useful again after', spread([(entries('start', cut).at(-1)?.at ?? 0) - repairedAt]));

    expect(entries('end', cut)).toHaveLength(1);
    expect(
      elsewhere('end', cut)
        .map(({ task }) => task)
        .toSorted(),
    ).toEqual(ids.toSorted());
    for (const id of ids) expect(await fleet.client.task(id)).toMatchObject({ status: 'completed', attempt: 1 });
  });
});
