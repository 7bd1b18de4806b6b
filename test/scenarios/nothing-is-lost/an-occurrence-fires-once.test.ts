import { decodeTime } from 'ulid';
import { afterEach, describe, expect, it } from 'vitest';
import { wait } from '#shared/time/wait.ts';
import { reportFigure, spread } from '../../support/fleet/figures.ts';
import type { ServiceProcess } from '../../support/fleet/service-process.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import { testEnvironment } from '../../support/test-environment.ts';
import { waitFor } from '../../support/wait-for.ts';

let fleet: Fleet;

afterEach(async () => {
  await fleet.stop();
});

interface Schedule {
  id: string;
  everyMs: number;
  createdAt: string;
  status: string;
}

interface Run {
  id: string;
  scheduleId: string;
  occurrence: string;
  status: string;
  reason: string | null;
}

/** For how long processes are killed, how often each at least, and how long each lives at most. */
const FULL = { schedules: 1000, periodsMs: [4000, 8000], forMs: 600_000, killsEach: 2, liveMs: 10_000, seenMs: 300_000 } as const;
const SMALL = { schedules: 40, periodsMs: [1000, 2000], forMs: 0, killsEach: 1, liveMs: 600, seenMs: 60_000 } as const;
const SIZE = testEnvironment.isChaos ? FULL : SMALL;
/** While the last occurrences are waited for, older ones are not read; in the end all are. */
const LAST_MS = 30_000;

async function make(body: object): Promise<Schedule> {
  return (await fleet.client.make('/v1/schedules', { agent: 'echo', message: 'tick', tz: 'UTC', ...body })) as Schedule;
}

/** Every run of every schedule that was made since. */
async function allRuns(since = 0): Promise<Run[]> {
  const runs: Run[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const query = `limit=200&since=${new Date(since).toISOString()}${cursor && `&cursor=${cursor}`}`;
    const { body } = await fleet.client.call('GET', `/v1/runs?${query}`);
    runs.push(...(body.items as Run[]));
    cursor = body.nextCursor;
  }
  return runs;
}

/** Kills each process at moments that do not depend on what it or another does, and starts one in its place a little later. */
async function killAtRandom(processes: ServiceProcess[]): Promise<number> {
  const endsAt = Date.now() + SIZE.forMs;
  const kills = await Promise.all(
    processes.map(async (_, position) => {
      let times = 0;
      for (; times < SIZE.killsEach || Date.now() < endsAt; times += 1) {
        await wait(200 + Math.random() * SIZE.liveMs);
        await processes[position]?.kill();
        await wait(Math.random() * 500);
        processes[position] = await fleet.start('scheduler');
      }
      return times;
    }),
  );
  return kills.reduce((sum, each) => sum + each, 0);
}

const periodOf = (position: number): number => SIZE.periodsMs[position % 2 === 0 ? 0 : 1];
const secondsOf = (everyMs: number): string => `${everyMs / 1000}s`;

describe('while schedulers are killed at random', () => {
  it('every occurrence fires once, or is skipped for a reason', async () => {
    fleet = await openFleet({ settings: { scheduler: { missedAfterMs: 60_000 } } });
    await fleet.start('api');
    const schedulers = await Promise.all([fleet.start('scheduler'), fleet.start('scheduler'), fleet.start('scheduler')]);
    await fleet.start('worker', { MUSTER_QUEUES: 'schedules=50,tasks=1,maintenance=1' });
    const schedules = await Promise.all(
      Array.from({ length: SIZE.schedules }, async (_, position) => ({
        ...(await make({ every: secondsOf(periodOf(position)), overlap: position % 4 < 2 ? 'skip' : 'allow' })),
        everyMs: periodOf(position),
      })),
    );
    const kills = await killAtRandom(schedulers);
    const until = Date.now();
    const missingIn = (runs: readonly Run[], since: number): string[] => {
      const found = new Set(runs.map((run) => nameOf(run.scheduleId, Date.parse(run.occurrence))));
      return schedules.flatMap((schedule) => dueNames(schedule, since, until)).filter((name) => !found.has(name));
    };
    const since = until - LAST_MS;
    let left = 0;
    const haveAllFired = async (): Promise<boolean> => {
      left = missingIn(await allRuns(since), since).length;
      return left === 0;
    };
    await waitFor(haveAllFired, { deadlineMs: SIZE.seenMs, everyMs: 500, what: 'all due occurrences to have fired' }).catch(
      (cause: unknown) => {
        throw new Error(`${left} occurrences of the last ${LAST_MS} ms have not fired`, { cause });
      },
    );
    await Promise.all(schedulers.map((each) => each.kill('SIGTERM')));
    await Promise.all(schedulers.map((each) => each.exited));

    const all = await allRuns();
    const missing = missingIn(all, 0);
    const skipped = all.filter(({ status }) => status === 'skipped');
    const byName = Map.groupBy(all, (run) => nameOf(run.scheduleId, Date.parse(run.occurrence)));
    reportFigure(
      `${SIZE.schedules} schedules every ${SIZE.periodsMs.map((ms) => secondsOf(ms)).join(' or ')}, ${kills} schedulers killed`,
      `${all.length} occurrences, ${skipped.length} skipped, fired after ${spread(all.map((run) => decidedAt(run) - Date.parse(run.occurrence)))}`,
    );
    expect(missing).toEqual([]);
    expect([...byName].filter(([, runs]) => runs.length > 1)).toEqual([]);
    expect(skipped.filter(({ reason }) => reason === null)).toEqual([]);
    expect(all.length).toBeGreaterThan(SIZE.schedules);
  });
});

/** A run's id holds when it was decided. */
const decidedAt = ({ id }: Run): number => decodeTime(id);

const nameOf = (schedule: string, at: number): string => `${schedule} at ${new Date(at).toISOString()}`;

/** Its occurrences from one instant to another. */
function dueNames({ id, everyMs, createdAt }: Schedule, since: number, until: number): string[] {
  const names: string[] = [];
  for (let at = Date.parse(createdAt) + everyMs; at <= until; at += everyMs) {
    if (at >= since) names.push(nameOf(id, at));
  }
  return names;
}

/** Whether a run stands for missed occurrences that do not run. */
const standsForMissed = ({ status, reason, occurrence }: Run, since: number): boolean =>
  status === 'skipped' && reason?.includes('missed') === true && Date.parse(occurrence) > since;

const AWAY_MS = 9000;
const EVERY_MS = 1000;

describe('after all schedulers were away', () => {
  it('each schedule does what its `missed` says', async () => {
    fleet = await openFleet({ settings: { scheduler: { missedAfterMs: 3000 } } });
    await fleet.start('api');
    await fleet.start('worker', { MUSTER_QUEUES: 'schedules=10,tasks=1,maintenance=1' });
    const first = await fleet.start('scheduler');
    const policies = { skip: 'skip', once: 'once', all: 'all(3)' } as const;
    const made = await Promise.all(
      Object.entries(policies).map(async ([name, missed]) => [name, await make({ every: secondsOf(EVERY_MS), missed })] as const),
    );
    await waitFor(async () => (await allRuns()).length >= 3, { deadlineMs: 20_000, what: 'the first runs' });
    await first.kill();
    const killedAt = Date.now();
    const soon = new Date(killedAt + 2000).toISOString();
    const [late, single] = await Promise.all([make({ at: soon, maxLateness: '2s' }), make({ at: soon })]);
    await wait(AWAY_MS);
    const second = await fleet.start('scheduler');
    const statusOf = async ({ id }: Schedule): Promise<string> => (await fleet.client.call('GET', `/v1/schedules/${id}`)).body.status;
    const isSettled = async (): Promise<boolean> => {
      const seen = await allRuns();
      const withMissed = new Set(seen.filter((run) => standsForMissed(run, killedAt)).map(({ scheduleId }) => scheduleId));
      const hasEnded = seen.every(({ status }) => !['pending', 'running'].includes(status));
      return hasEnded && withMissed.size === made.length + 1 && (await statusOf(single)) !== 'active';
    };
    await waitFor(isSettled, { deadlineMs: SIZE.seenMs, everyMs: 200, what: 'the missed occurrences to be settled' });
    await second.kill('SIGTERM');
    await second.exited;
    const runs = await allRuns();
    const of = (id: string): Run[] => runs.filter(({ scheduleId }) => scheduleId === id);
    const hasRun = (id: string, at: number): boolean =>
      of(id).some(({ occurrence, status }) => status === 'succeeded' && Date.parse(occurrence) === at);
    /** The reason of the skipped run for the missed occurrences, and how many occurrences before and after it ran, up to three. */
    const missedOf = (id: string): { reason: string | null; ranBefore: number; ranAfter: number } => {
      const skipped = of(id).findLast((run) => standsForMissed(run, killedAt));
      const last = Date.parse(skipped?.occurrence ?? '');
      return {
        reason: skipped?.reason ?? null,
        ranBefore: of(id).filter(
          ({ occurrence: at, status }) => status === 'succeeded' && Date.parse(at) > killedAt && Date.parse(at) <= last,
        ).length,
        ranAfter: [1, 2, 3].filter((nth) => hasRun(id, last + nth * EVERY_MS)).length,
      };
    };
    const seen = Object.fromEntries(made.map(([name, { id }]) => [name, missedOf(id)]));
    reportFigure(
      `all schedulers away for ${AWAY_MS / 1000} s`,
      Object.values(seen)
        .map(({ reason }) => reason)
        .join('; '),
    );
    expect(seen['skip']).toMatchObject({ reason: expect.stringMatching(/were missed: the schedule skips/) as string, ranBefore: 0 });
    expect(seen['once']).toMatchObject({
      reason: expect.stringMatching(/were missed: the schedule catches up once/) as string,
      ranBefore: 0,
    });
    expect(seen['once']?.ranAfter).toBeGreaterThan(0);
    expect(seen['all']).toMatchObject({ reason: expect.stringMatching(/catches up only the newest/) as string, ranBefore: 0, ranAfter: 3 });
    expect(of(single.id)).toMatchObject([{ status: 'succeeded' }]);
    expect(of(late.id)).toMatchObject([{ status: 'skipped', reason: expect.stringMatching(/later than maxLateness/) as string }]);
    expect(await Promise.all([single, late].map(statusOf))).toEqual(['completed', 'failed']);
  });
});
