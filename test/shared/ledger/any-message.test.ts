import { type Arbitrary, array, boolean, constant, constantFrom, integer, nat, oneof, option, record } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { QUEUE_MODES } from '#shared/config/sources.ts';
import type { Task } from '#shared/tasks/task.ts';
import { isTerminal } from '#shared/tasks/transitions.ts';
import { ledgerProblems } from './support/ledger-problems.ts';
import { FleetModel, type Action, type Offer } from './support/fleet-model.ts';
import { limitsOf, TENANT, type TestLedger } from './support/test-ledger.ts';
import { playScenarios } from './support/play-scenarios.ts';
import { useLedger } from './support/use-ledger.ts';

const SEED = Date.now() % 2_147_483_647;
const BUDGET_MS = 8000;

const collect = { debounceMs: 1, longestWaitMs: 3, cap: 2 } as const;
const tests = await Promise.all([
  useLedger({ routing: { queue: { collect, carryInterrupted: true } }, sessions: { maxWaiting: 6 } }),
  useLedger({ routing: { queue: { collect: { ...collect, overflow: 'new' } } }, sessions: { maxWaiting: 4 } }),
  useLedger({ routing: { queue: { collect: { ...collect, overflow: 'old' } } }, limits: { maxConcurrent: 3 } }),
]);

const pick = nat(50);
const offer: Arbitrary<Action> = record<{ kind: 'offer' } & Offer>({
  kind: constant('offer' as const),
  // The last of these is no lane; the one before it has two places.
  lane: constantFrom(0, 0, 0, 0, 1, 2, 3),
  // Each of them, and more of those that go into others, or nobody would ever meet anybody.
  mode: constantFrom(null, ...QUEUE_MODES, 'steer', 'steer', 'queue', 'collect', 'collect'),
  agent: constantFrom('a', 'a', 'a', 'b'),
  user: constantFrom('x', 'x', 'x', null),
  takesInput: constantFrom(true, true, false),
  number: option(nat(20), { nil: null }),
  yields: boolean(),
  maxAttempts: integer({ min: 1, max: 3 }),
});
const settle: Arbitrary<Action> = record({
  kind: constant('settle' as const),
  pick,
  verdict: constantFrom('completed', 'cancelled', 'failed', 'timeout', 'interrupted', 'held'),
  delay: constantFrom('none', 'now', 'later'),
  dies: boolean(),
});
const take: Arbitrary<Action> = record({
  kind: constant('take' as const),
  how: constantFrom('steered', 'merged'),
  max: integer({ min: 1, max: 3 }),
});
const action: Arbitrary<Action> = oneof(
  { weight: 12, arbitrary: offer },
  { weight: 4, arbitrary: record({ kind: constantFrom('claim', 'deliver'), pick }) },
  { weight: 6, arbitrary: record({ kind: constant('start' as const), pick }) },
  { weight: 4, arbitrary: settle },
  { weight: 6, arbitrary: take },
  { weight: 5, arbitrary: record({ kind: constantFrom('input', 'sweep', 'lose', 'expire', 'cancel', 'reopen', 'due'), pick }) },
);
const limits = option(record({ running: option(integer({ min: 1, max: 3 })), waiting: option(integer({ min: 3, max: 8 })) }));
/** Deeds that happen one after the other, each step of up to three at the same time in two processes. */
const scenario = record({
  which: nat(2),
  limits,
  steps: array(array(action, { minLength: 1, maxLength: 3 }), { minLength: 5, maxLength: 60 }),
});

interface Scenario {
  which: number;
  limits: { running: number | null; waiting: number | null } | null;
  steps: Action[][];
}

async function play({ which, limits: wish, steps }: Scenario): Promise<void> {
  const test = tests[which] as TestLedger;
  await test.reset();
  if (wish) test.limits = limitsOf(wish);
  const fleet = new FleetModel(test);
  for (const step of steps) {
    await Promise.all(step.map((each, n) => fleet.do(each, n % 2 ? test.rival : test.ledger)));
    expect(await ledgerProblems(test), `after ${JSON.stringify(step)}`).toEqual([]);
  }
  await fleet.drain();
  expect(await ledgerProblems(test), 'at the end').toEqual([]);
  const tasks = await Promise.all(fleet.accepted.map((id) => test.read(id)));
  expect(tasks.every(({ state }) => isTerminal(state.status) && state.outcome !== undefined)).toBe(true);
  expect(await test.redis.keys(test.keys.tenant(TENANT).laneHeld('*').replace(':held', ':*'))).toEqual([]);
  expect(await test.redis.exists(test.keys.tenant(TENANT).live)).toBe(0);
  // A task that was opened again is listed again, later than it was made.
  expect(fleet.reopened === 0 ? overtakings(tasks) : []).toEqual([]);
}

/** Tasks of a lane of one place that started before one of their kind that had arrived before them. */
function overtakings(tasks: Task[]): string[] {
  const ran = tasks.filter(({ state }) => state.laneLimit === 1 && state.order === undefined && state.token > 0 && !state.yields);
  return ran.flatMap((one) =>
    ran
      .filter(({ state }) => state.lane === one.state.lane && state.createdAt > one.state.createdAt && startOf(state) < startOf(one.state))
      .map(({ body }) => `${body.id} started before ${one.body.id}`),
  );
}

function startOf({ log }: Task['state']): number {
  return Number(/running@(\d+)/.exec(log)?.[1] ?? 0);
}

describe('whatever messages do to each other, in whatever order', () => {
  it(
    `leaves each with one outcome, the ledger consistent, and nothing in the lanes (seed ${SEED})`,
    async () => {
      await expect(playScenarios(scenario, play, { seed: SEED, budgetMs: BUDGET_MS })).resolves.toBeUndefined();
    },
    BUDGET_MS * 15,
  );
});
