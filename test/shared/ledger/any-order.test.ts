import { type Arbitrary, array, boolean, constant, constantFrom, integer, nat, oneof, option, record } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isTerminal } from '#shared/tasks/transitions.ts';
import { ledgerProblems } from './support/ledger-problems.ts';
import { FleetModel, type Action } from './support/fleet-model.ts';
import { limitsOf } from './support/test-ledger.ts';
import { playScenarios } from './support/play-scenarios.ts';
import { useLedger } from './support/use-ledger.ts';

const SEED = Date.now() % 2_147_483_647;
const BUDGET_MS = 6000;
const ENDS = new Set(['task.completed', 'task.cancelled', 'task.permanently_failed', 'task.stale']);

const test = await useLedger();

const pick = nat(50);
const letter = constantFrom('u', 'w', 'd');

const action: Arbitrary<Action> = oneof(
  {
    weight: 6,
    arbitrary: record({
      kind: constant('accept' as const),
      // The last of these is no lane.
      lane: nat(4),
      // One bit for each lane that tasks share; most tasks share none.
      shared: oneof({ weight: 2, arbitrary: constant(0) }, { weight: 3, arbitrary: nat(7) }),
      priority: constantFrom(1, 5, 10),
      letter,
      later: boolean(),
      sla: boolean(),
      maxAttempts: integer({ min: 1, max: 3 }),
    }),
  },
  { weight: 8, arbitrary: record({ kind: constant('claim' as const), pick }) },
  { weight: 6, arbitrary: record({ kind: constantFrom('deliver' as const), pick }) },
  {
    weight: 6,
    arbitrary: record({
      kind: constant('settle' as const),
      pick,
      verdict: constantFrom('completed', 'cancelled', 'failed', 'timeout', 'interrupted', 'held'),
      delay: constantFrom('none', 'now', 'later'),
      dies: boolean(),
    }),
  },
  { weight: 6, arbitrary: record({ kind: constantFrom('sweep', 'lose', 'expire', 'cancel', 'reopen', 'due'), pick }) },
  { weight: 3, arbitrary: record({ kind: constant('preempt' as const), pick }) },
  { weight: 3, arbitrary: record({ kind: constant('release' as const), pick }) },
  { weight: 2, arbitrary: record({ kind: constant('reprioritize' as const), pick, priority: constantFrom(1, 5, 10) }) },
);

const limits = option(
  record({
    running: option(integer({ min: 1, max: 4 })),
    runningLow: option(integer({ min: 1, max: 2 })),
    waiting: option(integer({ min: 3, max: 12 })),
    webhook: option(integer({ min: 1, max: 2 })),
  }),
);

/** Deeds that happen one after the other, each step of up to three at the same time in two processes. */
const scenario = record({ limits, steps: array(array(action, { minLength: 1, maxLength: 3 }), { minLength: 5, maxLength: 60 }) });

async function play({
  limits: wish,
  steps,
}: {
  limits: { running: number | null; runningLow: number | null; waiting: number | null; webhook: number | null } | null;
  steps: Action[][];
}): Promise<void> {
  await test.reset();
  if (wish) {
    const { webhook, ...rest } = wish;
    test.limits = limitsOf({ ...rest, runningByClass: webhook === null ? {} : { webhook } });
  }
  const fleet = new FleetModel(test);
  for (const step of steps) {
    await Promise.all(step.map((each, n) => fleet.do(each, n % 2 ? test.rival : test.ledger)));
    expect(await ledgerProblems(test), `after ${JSON.stringify(step)}`).toEqual([]);
  }
  await fleet.drain();
  expect(await ledgerProblems(test), 'at the end').toEqual([]);
  const ended = await Promise.all(fleet.accepted.map(async (id) => (await test.state(id)).status));
  expect(ended.every(isTerminal)).toBe(true);
  // Each life of a task ends once: as often as it was opened.
  expect((await ends()).length).toBe(fleet.accepted.length + fleet.reopened);
}

async function ends(): Promise<string[]> {
  const entries = await test.redis.xrange(test.keys.tenant('acme').events, '-', '+');
  return entries.flatMap(([, [, event = '', , tasks = '']]) => (ENDS.has(event) ? tasks.split(',') : []));
}

describe('whatever happens to tasks, in whatever order', () => {
  it(
    `keeps the ledger consistent after every step, and each task ends once (seed ${SEED})`,
    async () => {
      await expect(playScenarios(scenario, play, { seed: SEED, budgetMs: BUDGET_MS })).resolves.toBeUndefined();
    },
    BUDGET_MS * 15,
  );
});
