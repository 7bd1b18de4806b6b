import { readFileSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { reportFigure } from '../../support/fleet/figures.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import { openTestParts } from '../../support/open-test-parts.ts';
import { firstOf } from '../../support/test-environment.ts';
import { waitFor } from '../../support/wait-for.ts';
import type { RecordedData } from '../fixtures/record-data-of-0-1.ts';

const file = new URL('../fixtures/data-of-0.1.json.br', import.meta.url);
const recorded = JSON.parse(brotliDecompressSync(readFileSync(file)).toString()) as RecordedData;
const { tasks } = recorded;
/** As long as settings may say, because the data grows older. */
const KEEP_MS = 3660 * 24 * 3_600_000;

let fleet: Fleet;
afterEach(async () => {
  await fleet.stop();
});

/** Puts the data into the Redis of a fleet without processes. */
async function restore(): Promise<void> {
  const parts = await openTestParts({ redisUrl: fleet.redis.url });
  const { redis } = parts;
  await redis.flushall();
  for (const [key, ttlMs, dump] of recorded.keys) await redis.restore(key, ttlMs, Buffer.from(dump, 'base64'));
  await parts.close();
}

/** How many states of tasks have the form of 0.1, and how many that of today. */
async function countForms(): Promise<{ before: number; today: number }> {
  const parts = await openTestParts({ redisUrl: fleet.redis.url });
  const { redis, keys } = parts;
  const states = await redis.hvals(keys.tenant('default').states);
  await parts.close();
  const today = states.filter((text) => /^[=~]/.test(text)).length;
  return { before: states.length - today, today };
}

describe('data of release 0.1, whose processes were killed at work', () => {
  it.each(firstOf([3, 30, 90]))(
    'is taken over once and for all, also when the processes that do so are killed behind %i tasks',
    async (done) => {
      fleet = await openFleet({ settings: { tasks: { retentionMs: KEEP_MS } } });
      await restore();
      const before = await countForms();
      expect(before.today).toBe(0);
      const lost = [await fleet.start('worker', { MUSTER_QUEUES: 'tasks=2,chat=1,maintenance=1' }), await fleet.start('api')];
      await waitFor(() => fleet.journal().filter(({ event }) => event === 'end').length >= done, {
        deadlineMs: 40_000,
        what: 'tasks to end',
      });
      await Promise.all(lost.map((each) => each.kill()));
      const half = await countForms();
      // Each state gets the form of today with its next change: the kill came between two of them.
      expect([half.before > 0, half.today > 0]).toEqual([true, true]);

      await Promise.all([fleet.start('api'), fleet.start('worker'), fleet.start('scheduler')]);
      const ended = async (ids: readonly string[]): Promise<string[]> =>
        (await fleet.client.ended(ids, 60_000)).map(({ status }) => status);
      const open = [...tasks.running, ...tasks.session, ...tasks.timed, ...tasks.queued];
      expect(await ended(open)).toEqual(open.map(() => 'completed'));
      expect(await ended([...tasks.completed, ...tasks.failed, ...tasks.cancelled])).toEqual([
        ...tasks.completed.map(() => 'completed'),
        ...tasks.failed.map(() => 'permanently_failed'),
        ...tasks.cancelled.map(() => 'cancelled'),
      ]);
      const journal = fleet.journal();
      const ends = Map.groupBy(
        journal.filter(({ event }) => event === 'end'),
        ({ task }) => task,
      );
      expect([...ends].filter(([, runs]) => runs.length > 1)).toEqual([]);
      const turns = new Set(journal.flatMap(({ event, task }) => (event === 'end' && tasks.session.includes(task) ? [task] : [])));
      expect([...turns]).toEqual(tasks.session);
      const runsOf = async (): Promise<{ status: string }[]> =>
        (await fleet.client.call('GET', `/v1/schedules/${tasks.schedule}/runs`)).body.items as { status: string }[];
      await waitFor(async () => (await runsOf()).some(({ status }) => status === 'succeeded'), { deadlineMs: 30_000, what: 'the run' });
      expect(await runsOf()).toHaveLength(1);
      reportFigure(
        `data of 0.1, killed behind ${done} tasks`,
        `${before.before} tasks, ${half.today} of them in the form of today at the kill`,
      );
    },
  );
});
