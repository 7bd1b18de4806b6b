import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tenantLimitsSchema, type TenantLimits } from '#shared/config/settings/limits-settings.ts';
import { type PastTask, pastTask } from '#shared/limits/past-task.ts';
import { simulateLimits } from '#shared/limits/preview-limits.ts';
import { type Caps, simulateCaps } from '#shared/limits/simulate-caps.ts';
import { simulateRates } from '#shared/limits/simulate-rates.ts';
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

const END = 400;

/** Millisecond by millisecond, each time over all tasks: when each starts, or null when it is refused. */
function bruteForce(tasks: readonly PastTask[], caps: Caps): (number | null)[] {
  const starts = new Map<PastTask, number>();
  const refused = new Set<PastTask>();
  const laned = new Set<PastTask>();
  const order = tasks.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const arrivals = order.toSorted((a, b) => a.readyAt - b.readyAt);
  const isRunning = (task: PastTask, now: number): boolean => now < (starts.get(task) ?? Infinity) + task.ranMs && starts.has(task);
  const hasEnded = (task: PastTask, now: number): boolean => starts.has(task) && !isRunning(task, now);
  const fits = (task: PastTask, now: number): boolean => {
    const running = order.filter((each) => isRunning(each, now));
    const ofClass = caps.runningByClass[task.source] ?? Infinity;
    return (
      running.length < (caps.running ?? Infinity) &&
      running.filter(({ source }) => source === task.source).length < ofClass &&
      (!task.isLow || running.filter(({ isLow }) => isLow).length < (caps.runningLow ?? Infinity))
    );
  };
  const inLane = (agent: string, now: number): number => [...laned].filter((each) => each.agent === agent && !hasEnded(each, now)).length;
  const step = (now: number, arrived: readonly PastTask[]): void => {
    for (const task of arrived) {
      const isFirst = arrived.every((each) => each === task || each.agent !== task.agent || laned.has(each));
      const before = arrived.slice(0, arrived.indexOf(task));
      const mayPass = isFirst || before.every((each) => each.agent !== task.agent || laned.has(each));
      if (!laned.has(task) && mayPass && inLane(task.agent, now) < (caps.runningByAgent[task.agent] ?? Infinity)) laned.add(task);
    }
    for (;;) {
      const able = order.filter((task) => laned.has(task) && !starts.has(task) && fits(task, now));
      const best = able.toSorted((a, b) => b.priority - a.priority)[0];
      if (!best) return;
      starts.set(best, now);
    }
  };
  for (let now = 0; now < END; now += 1) {
    const arrived = arrivals.filter((task) => task.readyAt < now && !refused.has(task));
    step(now, arrived);
    for (const task of arrivals.filter(({ readyAt }) => readyAt === now)) {
      const waiting = arrived.filter((each) => !starts.has(each)).length;
      arrived.push(task);
      step(now, arrived);
      if (starts.has(task) || waiting < (caps.waiting ?? Infinity)) continue;
      refused.add(task);
      laned.delete(task);
      arrived.pop();
    }
  }
  return tasks.map((task) => starts.get(task) ?? null);
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
  it('is what a simulation of each millisecond finds', () => {
    fc.assert(
      fc.property(tasksArbitrary, capsArbitrary, (tasks, caps) => {
        const outcomes = simulateCaps(tasks, caps);
        const starts = outcomes.map(({ isRefused, waitedMs }, position) => (isRefused ? null : waitedMs + (tasks[position]?.readyAt ?? 0)));
        expect(starts).toEqual(bruteForce(tasks, caps));
      }),
      { numRuns: 300 },
    );
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
