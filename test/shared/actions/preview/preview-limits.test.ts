import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tenantLimitsSchema, type TenantLimits } from '#shared/config/settings/limits-settings.ts';
import { type PastTask, pastTask } from '#shared/actions/preview/past-task.ts';
import { simulateLimits } from '#shared/actions/preview/preview-limits.ts';
import { type Caps, type CapsOutcome, simulateCaps } from '#shared/actions/preview/simulate-caps.ts';
import { simulateRates } from '#shared/actions/preview/simulate-rates.ts';
import type { TaskState } from '#shared/tasks/task-state.ts';

const limitsOf = (limits: Partial<TenantLimits>): TenantLimits =>
  tenantLimitsSchema.parse({ running: null, waiting: null, runningByClass: {}, runningLow: null, rates: {}, ...limits });
const aTask = (id: string, task: Partial<PastTask> = {}): PastTask => ({
  id,
  acceptedAt: task.readyAt ?? 0,
  readyAt: 0,
  ranMs: 10,
  source: 'user',
  agent: 'echo',
  priority: 5,
  isLow: task.priority === 1,
  ...task,
});

/** What is wrong with these outcomes: a cap that is exceeded, a wait without a full cap, or a refusal without as many that wait. */
function problemsOf(tasks: readonly PastTask[], caps: Caps, outcomes: readonly CapsOutcome[]): string[] {
  const all = tasks.map((task, at) => {
    const { waitedMs = 0, isRefused = true } = outcomes[at] ?? {};
    return { ...task, isRefused, startsAt: task.readyAt + waitedMs };
  });
  const runs = all.filter(({ isRefused }) => !isRefused);
  const isFullFor = (task: PastTask, now: number, more: number): boolean => {
    const running = runs.filter(({ startsAt, ranMs }) => startsAt <= now && now < startsAt + ranMs);
    const bounds: [max: number | null | undefined, which: (each: PastTask) => boolean][] = [
      [caps.running, () => true],
      [caps.runningByClass[task.source], ({ source }) => source === task.source],
      [caps.runningByAgent[task.agent], ({ agent }) => agent === task.agent],
      [task.isLow ? caps.runningLow : null, ({ isLow }) => isLow],
    ];
    return bounds.some(([max, which]) => running.filter((each) => which(each)).length + more > (max ?? Infinity));
  };
  const times = [...new Set(runs.flatMap(({ startsAt, ranMs, readyAt }) => [startsAt, startsAt + ranMs, readyAt]))];
  return [
    ...runs.flatMap((task) => (isFullFor(task, task.startsAt, 0) ? [`${task.id} started above a cap`] : [])),
    ...runs.flatMap((task) =>
      times
        .filter((now) => task.readyAt <= now && now < task.startsAt && !isFullFor(task, now, 1))
        .map((now) => `${task.id} waited at ${now} although it had room`),
    ),
    ...all
      .filter(({ isRefused }) => isRefused)
      .filter(
        ({ readyAt }) => runs.filter((each) => each.readyAt <= readyAt && each.startsAt >= readyAt).length < (caps.waiting ?? Infinity),
      )
      .map(({ id }) => `${id} was refused although fewer waited`),
  ];
}

const capsArbitrary = fc.record({
  running: fc.option(fc.integer({ min: 1, max: 4 })),
  waiting: fc.option(fc.integer({ min: 0, max: 3 })),
  runningLow: fc.option(fc.integer({ min: 1, max: 2 })),
  runningByClass: fc.record({ user: fc.integer({ min: 1, max: 3 }) }, { requiredKeys: [] }),
  runningByAgent: fc.record({ echo: fc.integer({ min: 1, max: 2 }) }, { requiredKeys: [] }),
});
const tasksArbitrary = fc
  .array(
    fc.record({
      readyAt: fc.integer({ min: 0, max: 20 }),
      ranMs: fc.integer({ min: 1, max: 12 }),
      source: fc.constantFrom('user' as const, 'webhook' as const),
      agent: fc.constantFrom('echo', 'other'),
      priority: fc.constantFrom(1, 5, 8),
    }),
    { maxLength: 14 },
  )
  .map((tasks) => tasks.map((task, position) => aTask(String(position).padStart(3, '0'), task)));

describe('what caps would have done', () => {
  it('is a start as soon as all of them have room, and a refusal only while as many wait', () => {
    fc.assert(
      fc.property(tasksArbitrary, capsArbitrary, (tasks, caps) => {
        expect(problemsOf(tasks, caps, simulateCaps(tasks, caps))).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it('lets the better one of those that wait at a cap go first, also in the lane of one agent', () => {
    const tasks = [aTask('1'), aTask('2', { priority: 1 }), aTask('3', { agent: 'other' }), aTask('4', { priority: 8 })];
    const waits = simulateCaps(tasks, limitsOf({ running: 1, runningByAgent: { echo: 2 } })).map(({ waitedMs }) => waitedMs);
    expect(waits).toEqual([0, 30, 20, 10]);
  });

  it('names the limits that each task waited for', () => {
    const tasks = [aTask('1'), aTask('2', { readyAt: 1 }), aTask('3', { readyAt: 2, agent: 'other' })];
    expect(simulateLimits(tasks, limitsOf({ running: 1, runningByAgent: { echo: 1 } }))).toEqual({
      tasks: 3,
      wouldHaveWaited: 2,
      wouldHaveBeenRefused: 0,
      longestMs: 18,
      byLimit: [
        { limit: 'running', waited: 1, refused: 0, longestMs: 18 },
        { limit: 'runningByAgent.echo', waited: 1, refused: 0, longestMs: 9 },
      ],
    });
    expect(simulateLimits(tasks, limitsOf({}))).toMatchObject({ wouldHaveWaited: 0, byLimit: [] });
  });
});

describe('what rates would have refused', () => {
  const rate = { perMinute: 60, perHour: 1000, burst: 2 };

  it('is what comes after the burst sooner than its rate, with the time until the next is admitted', () => {
    const tasks = [0, 0, 0, 500, 1000].map((readyAt, position) => aTask(String(position), { readyAt }));
    expect(simulateRates(tasks, { user: rate })).toEqual([
      null,
      null,
      { limit: 'rates.user', retryAfterMs: 1000 },
      { limit: 'rates.user', retryAfterMs: 500 },
      null,
    ]);
  });

  it('counts neither other classes nor what was refused, and comes before the caps', () => {
    const tasks = [aTask('1'), aTask('2'), aTask('3'), aTask('4', { source: 'webhook' })];
    expect(simulateLimits(tasks, limitsOf({ rates: { user: rate }, running: 2 }))).toMatchObject({
      wouldHaveWaited: 1,
      wouldHaveBeenRefused: 1,
      byLimit: [
        { limit: 'rates.user', refused: 1, longestMs: 1000 },
        { limit: 'running', waited: 1 },
      ],
    });
  });
});

it('takes how long a task ran from its timeline, in all of its attempts', () => {
  const log = 'pending@5;queued@10;running@20;failed@30 NETWORK_ERROR;queued@90;running@100';
  const state = { createdAt: 5, queuedAt: 10, source: 'chat', agent: 'echo', priority: 5, log } as TaskState;
  expect(pastTask('1', state, 150)).toMatchObject({ acceptedAt: 5, readyAt: 10, ranMs: 60, source: 'user' });
  expect(pastTask('1', { ...state, log: 'pending@5;cancelled@9' }, 150)).toBeNull();
});
