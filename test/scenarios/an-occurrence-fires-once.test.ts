import { afterEach, describe, expect, it } from 'vitest';
import { wait } from '#shared/time/wait.ts';
import { reportFigure } from '../support/fleet-figures.ts';
import type { FleetProcess } from '../support/fleet-process.ts';
import { openFleet, type Fleet } from '../support/fleet-processes.ts';
import { testEnvironment } from '../support/test-environment.ts';
import { waitFor } from '../support/wait-for.ts';

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
  createdAt: number;
}

const CHAOS_MS = testEnvironment.isChaos ? 600_000 : 15_000;
const SCHEDULES = testEnvironment.isChaos ? 1000 : 100;

async function make(body: object): Promise<Schedule> {
  return (await fleet.client.make('/v1/schedules', { agent: 'echo', message: 'tick', tz: 'UTC', ...body })) as Schedule;
}

/** Every run of every schedule. */
async function allRuns(path = '/v1/runs'): Promise<Run[]> {
  const runs: Run[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const { body } = await fleet.client.call('GET', `${path}?limit=200${cursor && `&cursor=${cursor}`}`);
    runs.push(...(body.items as Run[]));
    cursor = body.nextCursor;
  }
  return runs;
}

/** Kills a process at a moment that does not depend on what it does, and starts another in its place, until it is told to stop. */
function killAtRandom(processes: FleetProcess[]): { kills: () => number; stop: () => Promise<void> } {
  const stopping = new AbortController();
  let kills = 0;
  const killing = (async (): Promise<void> => {
    while (await wait(300 + Math.random() * 900, stopping.signal)) {
      const position = Math.floor(Math.random() * processes.length);
      await processes[position]?.kill();
      kills += 1;
      // For a while there is one less; now and then none.
      await wait(Math.random() * 800);
      processes[position] = await fleet.start('scheduler');
    }
  })();
  return {
    kills: () => kills,
    stop: async () => {
      stopping.abort();
      await killing;
    },
  };
}

const periodOf = (position: number): number => (position % 2 === 0 ? 1000 : 2000);
const secondsOf = (everyMs: number): string => `${everyMs / 1000}s`;

describe('while schedulers are killed at random', () => {
  it('every occurrence fires once, or is skipped for a reason that its run tells', async () => {
    fleet = await openFleet({ settings: { scheduler: { missedAfterMs: 60_000 } } });
    await fleet.start('api');
    const schedulers = await Promise.all([fleet.start('scheduler'), fleet.start('scheduler'), fleet.start('scheduler')]);
    await fleet.start('worker', { MUSTER_QUEUES: 'schedules=50,tasks=1,maintenance=1' });
    const schedules = await Promise.all(
      Array.from({ length: SCHEDULES }, async (_, position) => ({
        ...(await make({ every: secondsOf(periodOf(position)), overlap: position % 4 < 2 ? 'skip' : 'allow' })),
        everyMs: periodOf(position),
      })),
    );
    const chaos = killAtRandom(schedulers);
    await wait(CHAOS_MS);
    await chaos.stop();
    // What is due by now has fired once the clock is past it; the rest is still to come.
    const until = Date.now();
    await waitFor(async () => (await overdue(until)) === 0, { deadlineMs: 20_000, everyMs: 200, what: 'what is due to have fired' });
    for (const each of schedulers) await each.kill();

    const runs = Map.groupBy(await allRuns(), ({ scheduleId }) => scheduleId);
    const problems = schedules.flatMap((schedule) => problemsOf(schedule, runs.get(schedule.id) ?? [], until));
    const all = [...runs.values()].flat();
    const skipped = all.filter(({ status }) => status === 'skipped');
    reportFigure(
      `${SCHEDULES} schedules every 1 or 2 s, ${chaos.kills()} schedulers killed in ${CHAOS_MS / 1000} s`,
      `${all.length} occurrences, ${skipped.length} skipped, none missing, none twice`,
    );
    expect(problems).toEqual([]);
    expect(skipped.filter(({ reason }) => reason === null)).toEqual([]);
    expect(chaos.kills()).toBeGreaterThan(3);
    expect(all.length).toBeGreaterThan((SCHEDULES * CHAOS_MS) / 2500);
  });
});

/** Schedules whose next occurrence is before an instant. */
async function overdue(until: number): Promise<number> {
  let count = 0;
  let cursor: string | null = '';
  while (cursor !== null) {
    const { body } = await fleet.client.call('GET', `/v1/schedules?limit=200${cursor && `&cursor=${cursor}`}`);
    count += (body.items as { nextFireAt: string | null }[]).filter(({ nextFireAt }) => Date.parse(nextFireAt ?? '') <= until).length;
    cursor = body.nextCursor;
  }
  return count;
}

/** Occurrences that are missing or there twice. */
function problemsOf({ id, everyMs, createdAt }: Schedule, runs: readonly Run[], until: number): string[] {
  const found = runs.map(({ occurrence }) => Date.parse(occurrence));
  const expected: number[] = [];
  for (let at = Date.parse(createdAt) + everyMs; at <= until; at += everyMs) expected.push(at);
  return [
    ...expected.filter((at) => !found.includes(at)).map((at) => `${id} missed ${new Date(at).toISOString()}`),
    ...found.filter((at, position) => found.indexOf(at) !== position).map((at) => `${id} fired twice at ${new Date(at).toISOString()}`),
  ];
}

describe('after all schedulers were away', () => {
  it('each schedule does what its `missed` says', async () => {
    fleet = await openFleet({ settings: { scheduler: { missedAfterMs: 1000 } } });
    await fleet.start('api');
    await fleet.start('worker', { MUSTER_QUEUES: 'schedules=10,tasks=1,maintenance=1' });
    const first = await fleet.start('scheduler');
    const policies = { skip: 'skip', once: 'once', all: 'all(3)' } as const;
    const made = await Promise.all(
      Object.entries(policies).map(async ([name, missed]) => [name, await make({ every: '2s', missed })] as const),
    );
    const late = await make({ at: new Date(Date.now() + 3000).toISOString(), missed: 'once', maxLateness: '2s' });
    const single = await make({ at: new Date(Date.now() + 3000).toISOString(), missed: 'once' });
    await waitFor(async () => (await allRuns()).length >= 3, { deadlineMs: 20_000, what: 'the first runs' });
    await first.kill();
    const killedAt = Date.now();
    // Five or six occurrences of each are missed.
    await wait(12_000);
    const startedAt = Date.now();
    const second = await fleet.start('scheduler');
    await waitFor(async () => (await overdue(startedAt)) === 0, { deadlineMs: 20_000, what: 'what was missed to be seen to' });
    await waitFor(async () => (await allRuns()).every(({ status }) => !['pending', 'running'].includes(status)), {
      deadlineMs: 20_000,
      everyMs: 100,
      what: 'the runs to end',
    });
    await second.kill();
    const runs = await allRuns();
    /** Of the occurrences that were missed: which ran, and what is told of the others. */
    const missedOf = (id: string): { ran: number; told: string[] } => {
      const between = runs.filter((run) => {
        const at = Date.parse(run.occurrence);
        return run.scheduleId === id && at > killedAt && at < startedAt - 1000;
      });
      return {
        ran: between.filter(({ status }) => status === 'succeeded').length,
        told: between.filter(({ status }) => status === 'skipped').map(({ reason }) => reason ?? ''),
      };
    };
    const seen = Object.fromEntries(made.map(([name, { id }]) => [name, missedOf(id)]));
    reportFigure('all schedulers away for 12 s', JSON.stringify(seen));
    expect(seen['skip']).toMatchObject({ ran: 0, told: [expect.stringMatching(/were missed: the schedule skips/)] });
    expect(seen['once']?.ran).toBeLessThanOrEqual(1);
    expect(seen['once']?.told.length).toBe(1);
    expect(seen['all']).toMatchObject({ ran: 3, told: [expect.stringMatching(/were missed: the schedule catches up only the newest/)] });
    expect(missedOf(single.id)).toEqual({ ran: 1, told: [] });
    expect(missedOf(late.id)).toEqual({ ran: 0, told: [expect.stringMatching(/later than maxLateness/)] });
    const states = await Promise.all(
      [single, late].map(async ({ id }) => (await fleet.client.call('GET', `/v1/schedules/${id}`)).body.status),
    );
    expect(states).toEqual(['completed', 'failed']);
  });
});
